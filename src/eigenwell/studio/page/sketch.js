// A flow at once, before anything is learned: from anywhere a motion repeats the strokes to its goal, and what it is off by
// shrinks as they come to their end. It remembers how far along it is, as motions do, and always arrives; it is no smooth field.

import { Learned } from "./field.js";
import { along } from "./magnets.js";
import { World } from "./warps.js";
import { rolled } from "./ways.js";

// Nodes of a stroke, at even shares of its length.
const NODES = 48;
// Of the box: strokes nearer than this count as equally near.
const NEAR = 0.04;
// A second, at most: with which a motion that is off comes back to the end of its strokes.
const BACK = 6;
// Of a stroke's mean speed, at least: a pen that stood still does not hold a motion up.
const SLOWEST = 0.15;

/** The strokes to one goal. A state is (x, y, rho), rho the share of the way that is left. */
class Bundle {
  constructor(strokes, goal, box) {
    this.scale = [...box, 1];
    this.home = goal;
    this.tracks = strokes.map(({ t, x }) => track(t, x, goal));
    this.see([], [goal]);
  }

  see(warps, [place]) {
    this.world = warps.length ? new World({ warps, places: [place] }, [0, 0], [1, 1]) : null;
    this.attractors = [[...place, 0]];
  }

  velocity(z, into) {
    const at = [z[0], z[1]], rho = Math.min(Math.max(z[2], 0), 1);
    this.world?.enter(at);
    const place = (1 - rho) * (NODES - 1), i = Math.min(Math.floor(place), NODES - 2), s = place - i;
    let total = 0, pace = 0, cx = 0, cy = 0, vx = 0, vy = 0;
    for (const { x, y, speed, length } of this.tracks) {
      const px = x[i] + s * (x[i + 1] - x[i]), py = y[i] + s * (y[i + 1] - y[i]);
      const near = ((at[0] - px) / this.scale[0]) ** 2 + ((at[1] - py) / this.scale[1]) ** 2 + NEAR * NEAR;
      const w = 1 / (near * near), rate = (speed[i] + s * (speed[i + 1] - speed[i])) / length;
      total += w;
      pace += w * rate;
      cx += w * px;
      cy += w * py;
      // d/drho of the place, with the sign of going on.
      vx += w * rate * (x[i + 1] - x[i]) * (NODES - 1);
      vy += w * rate * (y[i + 1] - y[i]) * (NODES - 1);
    }
    const rate = pace / total, back = Math.min(rate / Math.max(rho, 1e-6), BACK);
    const u = [vx / total - back * (at[0] - cx / total), vy / total - back * (at[1] - cy / total), -rate];
    if (rho <= 0) u[2] = 0;
    this.world?.leave(u);
    for (let k = 0; k < 3; k++) into[k] = u[k];
    this.world?.slow(into);
    return into;
  }

  rollOut(z) { return rolled(this, z); }
}

/** A stroke at even shares of its length, up to its goal, with its speed there. */
function track(t, x, goal) {
  const end = x.at(-1), n = x.length - 1;
  // The end is brought to the goal, and less so what comes before.
  const line = x.map((p, i) => p.map((c, k) => c + (i / n) ** 3 * (goal[k] - end[k])));
  const way = along(line);
  const length = way[n] || 1e-9, mean = length / Math.max(t[n] - t[0], 0.1);
  const out = { x: [], y: [], speed: [], length };
  for (let k = 0, i = 0; k < NODES; k++) {
    const s = (k / (NODES - 1)) * length;
    while (i < n - 1 && way[i + 1] < s) i++;
    const part = Math.min(Math.max((s - way[i]) / (way[i + 1] - way[i] || 1), 0), 1);
    out.x.push(line[i][0] + part * (line[i + 1][0] - line[i][0]));
    out.y.push(line[i][1] + part * (line[i + 1][1] - line[i][1]));
    // Over some events: clocks are coarse.
    const [a, b] = [Math.max(i - 3, 0), Math.min(i + 4, n)];
    out.speed.push(Math.max((way[b] - way[a]) / Math.max(t[b] - t[a], 1e-3), SLOWEST * mean));
  }
  // To rest at the end: the last eighth slows down.
  out.speed = out.speed.map((v, k) => v * Math.min(1, Math.sqrt((NODES - 1 - k) / (NODES / 8)) + 1e-3));
  return out;
}

/**
 * strokes   [{id, t, x}], no samples of a brush
 * goals     places; goalOf: (stroke) -> number of its goal, or -1; colours of the goals
 */
export function sketched(strokes, goals, goalOf, colours) {
  const lists = goals.map((_, q) => strokes.filter((s) => !s.v && goalOf(s) === q));
  if (!goals.length || lists.some((list) => !list.length)) return null;
  const all = lists.flat().flatMap((s) => s.x);
  const box = [0, 1].map((i) => Math.max(Math.max(...all.map((p) => p[i])) - Math.min(...all.map((p) => p[i])), 1e-3));
  const lifted = goals.map((goal, q) => new Bundle(lists[q], goal, box));
  const x = [], labels = [], phases = [];
  lifted.forEach(({ tracks }, q) => tracks.forEach((one) => one.x.forEach((c, k) => {
    x.push([c, one.y[k]]);
    labels.push(q);
    phases.push(1 - k / (NODES - 1));
  })));
  return new Learned({ map: null, goals: [], lifted, x, labels, phases, saddles: [] }, colours);
}

/** Goals as far as the page itself can tell: ends within reach of each other, and of goals that are known, are one. */
export function grouped(strokes, known, reach) {
  const goals = known.map((place) => ({ place, n: 0 }));
  const labels = new Map();
  for (const { id, x, v } of strokes) {
    if (v) continue;
    const end = x.at(-1);
    const away = (g) => Math.hypot(g.place[0] - end[0], g.place[1] - end[1]);
    let best = [...goals].sort((a, b) => away(a) - away(b))[0];
    if (!best || away(best) > reach) goals.push((best = { place: end, n: 0 }));
    best.n++;
    labels.set(id, best);
  }
  const used = goals.filter((g) => g.n);
  return { goals: used.map((g) => g.place), goalOf: ({ id }) => used.indexOf(labels.get(id)) };
}
