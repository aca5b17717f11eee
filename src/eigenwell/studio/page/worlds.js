// Goals elsewhere, stones and walls become warps (fields/warping.py, around.py, moved.py): nothing is learned again, and what
// cannot be is refused in words. Pure functions; warps.js evaluates what they make.

import { Around } from "./warps.js";

// As in fields/warping.py, around.py and moved.py, where each has its reason.
const MARGIN = 0.1, REACH = 2, THINNEST = 1.02, UNION = 4;
const LENGTH = 0.5, SOFT = 0.05, STRONGEST = 4, STEEPEST = 0.5, BULGES = [0, 0.2, 0.4], MOST_STEPS = 48, NOTHING = 1e-12;

const AXES = [0, 1];
const pair = (f) => AXES.map(f);
const minus = (a, b) => pair((i) => a[i] - b[i]);
const over = (a, b) => pair((i) => a[i] / b[i]);

/**
 * home     where the goals are in the learned world; goals: where they are to be
 * leads    how places follow goals that move (`leadsOf`): in the map, and for each goal alone; box: sides of the data's box
 * stones   [{c, r}]; low, high: walls, infinite where there is none
 * Gives for each of `leads` the warps from the world inwards, as numbers for `World`. Throws an Error with a sentence where it cannot be.
 */
export function arranged({ home, goals, leads, box, stones = [], low = [-Infinity, -Infinity], high = [Infinity, Infinity] }) {
  const wide = pair((i) => MARGIN * (Number.isFinite(high[i] - low[i]) ? high[i] - low[i] : box[i]));
  const outer = bodies(stones, goals, low, high, margins(low, high, goals, wide));
  const braking = Math.max(...pair((i) => Math.min(wide[i], MARGIN * box[i])));
  const walls = [...low, ...high].some(Number.isFinite) ? [{ kind: "within", low, high, margin: outer.margin, braking }] : [];
  const elsewhere = goals.some((g, q) => g[0] !== home[q][0] || g[1] !== home[q][1]);
  const only = (list, q) => (q === null ? list : [list[q]]);
  return leads.map((lead) => [
    ...walls, ...outer.around,
    ...(elsewhere ? [moved(only(home, lead.q), only(goals, lead.q), only(lead.follow, lead.q), lead.middle, box)] : []),
  ]);
}

// --- walls and stones ---

function margins(low, high, goals, wide) {
  const room = [pair((i) => Math.min(...goals.map((g) => g[i] - low[i]))), pair((i) => Math.min(...goals.map((g) => high[i] - g[i])))];
  if (room.flat().some((r) => !(r > 0))) throw new Error("A goal would be on a wall, or beyond it. Leave it some room.");
  return room.map((side) => pair((i) => Math.min(wide[i], side[i])));
}

function bodies(stones, goals, low, high, margin) {
  const groups = pieces(stones).map(star);
  const reach = groups.map((one, i) => {
    const round = new Around({ ...one, reach: REACH }), near = Math.min(...goals.map((g) => round.gauge(minus(g, one.centre))));
    if (near < THINNEST) throw new Error("A stone would lie on a goal, and nothing could get there. Put it beside.");
    const bulge = one.balls.length ** (1 / UNION);
    const side = (sign) => pair((k) => bulge * Math.max(...one.balls.map(({ c, r }) => r + sign * (c[k] - one.centre[k]))));
    const half = [side(-1), side(1)];
    const gap = [pair((k) => one.centre[k] - half[0][k] - low[k]), pair((k) => high[k] - one.centre[k] - half[1][k])];
    if (gap.flat().some((g) => !(g > 0))) throw new Error("A stone would reach a wall, with no way between them.");
    gap.forEach((g, w) => AXES.forEach((k) => { margin[w][k] = Math.min(margin[w][k], g[k] / 2); }));
    const free = Math.min(...gap.flatMap((g, w) => pair((k) => g[k] / 2 / half[w][k])));
    const others = groups.filter((_, j) => j !== i).map((other) => apart(one, other));
    return Math.min(REACH, near, 1 + free, ...others);
  });
  return { around: groups.map(({ centre, centres, shapes }, i) => ({ kind: "around", centre, centres, shapes, reach: reach[i] })), margin };
}

/** Stones that overlap or touch are one piece. */
function pieces(stones) {
  const group = stones.map((_, i) => i);
  stones.forEach((a, i) => stones.slice(0, i).forEach((b, j) => {
    if (Math.hypot(...minus(a.c, b.c)) < THINNEST * (a.r + b.r) && group[i] !== group[j]) {
      const [from, to] = [group[i], group[j]];
      group.forEach((g, k) => { if (g === from) group[k] = to; });
    }
  }));
  return [...new Set(group)].map((g) => stones.filter((_, k) => group[k] === g));
}

/** A piece about a point that lies in all of its stones. */
function star(stones) {
  const balls = stones.map(({ c, r }) => ({ c, r: stones.length === 1 ? r : r * THINNEST ** 2 }));
  let centre = pair((k) => balls.reduce((sum, { c }) => sum + c[k], 0) / balls.length);
  const depth = () => balls.map(({ c, r }) => Math.hypot(...minus(centre, c)) / r);
  for (let k = 0; k < (balls.length > 1 ? 200 : 0); k++) {
    const deep = depth(), worst = balls[deep.indexOf(Math.max(...deep))].c;
    centre = pair((i) => centre[i] + (worst[i] - centre[i]) / (k + 2));
  }
  if (Math.max(...depth()) >= 1 / THINNEST) throw new Error("Stones in a chain may leave no way. Leave a gap, or one larger stone.");
  return { centre, balls, centres: balls.map(({ c }) => c), shapes: balls.map(({ r }) => [[1 / r, 0], [0, 1 / r]]) };
}

/** By how much both can grow about their centres before they touch. */
function apart(one, other) {
  const alone = one.balls.length === 1 && other.balls.length === 1;
  const size = ({ centre, balls }) => {
    if (alone) return balls[0].r;
    const bulge = balls.length ** (1 / UNION);
    return Math.hypot(...pair((k) => bulge * Math.max(...balls.map(({ c, r }) => r + Math.abs(c[k] - centre[k])))));
  };
  const far = Math.hypot(...minus(one.centre, other.centre)) / (size(one) + size(other));
  if (far < THINNEST) throw new Error("Stones that overlap are too close to others. Leave a gap, or one larger stone.");
  return far;
}

// --- goals elsewhere ---

/** How much of each goal's displacement a place follows, share + slope.(x - middle): in the map, and for each goal alone. */
export function leadsOf(paths, home, box) {
  const few = home.length === 1;
  return (few ? [0] : [null, ...home.keys()]).map((only) => {
    const rows = paths.filter(({ q }) => only === null || q === only).flatMap(({ q, x }) => {
      const steps = x.slice(1).map((p, k) => Math.hypot(...minus(p, x[k]))), whole = Math.max(steps.reduce((a, b) => a + b, 0), NOTHING);
      const way = minus(home[q], x[0]), norm = way[0] ** 2 + way[1] ** 2 + (SOFT * Math.max(...box)) ** 2;
      const phi = (p) => ((p[0] - x[0][0]) * way[0] + (p[1] - x[0][1]) * way[1]) / norm;
      const places = x.map((p, k) => ({ p, q, phi: phi(p), weight: ((steps[k] ?? 0) + (steps[k - 1] ?? 0)) / (2 * whole) }));
      return [...places, { p: x[0], q, phi: 0, weight: 1 }];
    });
    const total = Math.max(rows.reduce((sum, r) => sum + r.weight, 0), 1);
    const mean = (of) => rows.reduce((sum, r) => sum + (r.weight / total) * of(r), 0);
    const middle = only === null ? pair((i) => mean(({ p }) => p[i])) : home[only];
    const near = ({ p }) => over(minus(p, middle), box);
    const spread = pair((i) => pair((j) => mean((r) => near(r)[i] * near(r)[j]) + (i === j ? SOFT ** 2 : 0)));
    const follow = home.map((_, goal) => {
      const phi = (r) => (r.q === goal ? r.phi : 0);
      const share = only === null ? mean(phi) : goal === only ? 1 : 0;
      const right = pair((i) => [mean((r) => near(r)[i] * (phi(r) - share)), 0]);
      return { share, slope: over(solve(spread, right).map(([v]) => v), box) };
    });
    return { q: only, middle, follow };
  });
}

function moved(old, now, follow, middle, box) {
  const inBoxes = (list) => list.map((p) => over(p, box));
  const { matrix: m, shift: e } = affine(now.map((p, k) => minus(p, old[k])), follow, middle, box);
  const begin = now.map((p) => pair((i) => m[i][0] * p[0] + m[i][1] * p[1] + e[i]));
  const left = old.map((p, k) => minus(p, begin[k]));
  const most = Math.max(...left.flatMap((l) => over(l, box).map(Math.abs)));
  for (const bulge of BULGES) {
    const bow = aside(inBoxes(begin), inBoxes(left)).map((d) => pair((i) => bulge * box[i] * d[i]));
    for (let shorter = 0; shorter < 6; shorter++) {
      const length = box.map((b) => LENGTH * 0.7 ** shorter * b);
      // One goal is where it belongs by the affine map alone.
      let steps = old.length > 1 && most > NOTHING ? 1 : 0;
      while (steps <= MOST_STEPS) {
        const { path, force, steepest } = flow(begin, left, bow, length, steps);
        if (steepest <= STEEPEST) return { kind: "moved", matrix: m, shift: e, path, force, length };
        // Landmarks may come nearer to each other on their way: some more than the first step asks for.
        steps = 1 + Math.floor((steps * steepest) / STEEPEST);
      }
    }
  }
  throw new Error("The goals would fold the space between them. Move them less, or apart.");
}

function affine(shifts, follow, middle, box) {
  let bend = pair((i) => pair((j) => follow.reduce((sum, { slope }, k) => sum + shifts[k][i] * slope[j], 0)));
  const drift = pair((i) => follow.reduce((sum, { share }, k) => sum + shifts[k][i] * share, 0));
  const forward = (unit = [1, 1]) => pair((i) => pair((j) => (bend[i][j] * unit[j]) / unit[i] + (i === j ? 1 : 0)));
  for (let k = 0; k < 60; k++) {
    const [[a, b], [c, d]] = forward(box);
    if (a * d - b * c > 0) {
      const inv = inverse(forward(box));
      if (Math.hypot(inv[0][0] - 1, inv[0][1], inv[1][0], inv[1][1] - 1) <= STRONGEST) break;
    }
    bend = bend.map((row) => row.map((v) => 0.9 * v));
  }
  const matrix = inverse(forward()), to = pair((i) => middle[i] + drift[i]);
  return { matrix, shift: pair((i) => middle[i] - matrix[i][0] * to[0] - matrix[i][1] * to[1]) };
}

function inverse([[a, b], [c, d]]) {
  const det = a * d - b * c;
  return [[d / det, -b / det], [-c / det, a / det]];
}

/** For each landmark that moves, a direction across its way, from where it comes nearest to another's. */
function aside(begin, left) {
  return left.map((way, i) => {
    const length = way[0] * way[0] + way[1] * way[1];
    if (!(length > NOTHING) || begin.length < 2) return [0, 0];
    const gaps = begin.map((p, j) => minus(pair((k) => p[k] + left[j][k] / 2), begin[i])).filter((_, j) => j !== i).map((gap) => {
      const along = Math.min(Math.max((gap[0] * way[0] + gap[1] * way[1]) / length, 0), 1);
      return pair((k) => gap[k] - along * way[k]);
    });
    const sizes = gaps.map((gap) => Math.hypot(...gap));
    const off = gaps[sizes.indexOf(Math.min(...sizes))].map((c) => -c);
    off[Math.abs(way[0]) <= Math.abs(way[1]) ? 0 : 1] += 1e-3;
    const along = (off[0] * way[0] + off[1] * way[1]) / length;
    const across = pair((k) => off[k] - along * way[k]), size = Math.hypot(...across);
    return across.map((c) => c / size);
  });
}

function flow(begin, left, bow, [lx, ly], steps) {
  const at = (s) => begin.map((p, k) => pair((i) => p[i] + s * left[k][i] + 4 * s * (1 - s) * bow[k][i]));
  const path = [], force = [];
  let steepest = 0;
  for (let step = 0; step < steps; step++) {
    const here = at(step / steps), next = at((step + 1) / steps);
    const kernel = here.map((p, i) => here.map((q, j) => (
      Math.exp(-0.5 * (((p[0] - q[0]) / lx) ** 2 + ((p[1] - q[1]) / ly) ** 2)) + (i === j ? NOTHING : 0)
    )));
    const push = solve(kernel, next.map((p, k) => minus(p, here[k])));
    steepest = Math.max(steepest, push.reduce((sum, p) => sum + Math.hypot(p[0] / lx, p[1] / ly), 0) * Math.exp(-0.5));
    path.push(here);
    force.push(push);
  }
  return { path, force, steepest };
}

/** The rows of A^-1 B, by elimination with pivots. */
function solve(matrix, right) {
  const a = matrix.map((row, i) => [...row, ...right[i]]), n = a.length;
  for (let c = 0; c < n; c++) {
    let p = c;
    for (let r = c + 1; r < n; r++) if (Math.abs(a[r][c]) > Math.abs(a[p][c])) p = r;
    [a[c], a[p]] = [a[p], a[c]];
    for (let r = 0; r < n; r++) {
      const share = r === c ? 0 : a[r][c] / a[c][c];
      if (share) for (let k = c; k < n + 2; k++) a[r][k] -= share * a[c][k];
    }
  }
  return a.map((row, i) => [row[n] / row[i], row[n + 1] / row[i]]);
}
