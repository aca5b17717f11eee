// Particles that drift through the field behind the strokes, on every frame.

import { colour, speedStep } from "./palette.js";

// Nodes that a particle trails behind, and seconds between two; bands of fading are drawn with one stroke each.
const TRAIL = 11, NODE = 0.055;
const BANDS = 4;
// Motions that remember are evaluated one by one.
const MOST_MOTIONS = 420;
// World units a second at the typical speed: slow enough to follow with the eye.
const PACE = 0.34;

/** Particles with trails. Positions are in the world, so that a resize does not disturb them. */
export class Flow {
  /** How fast time runs: 1 as usual, less for slow motion. */
  tempo = 1;
  #field = null;
  #particles = [];
  #velocity = [0, 0, 0];
  #since = 0;

  /** Particles of a field that only grew or was looked at elsewhere go on from where they are. */
  set(field, anew = true) {
    if (anew || !field || !this.#field) this.#particles = [];
    this.#field = field;
    // Whatever they followed before: where they are, they go on as this field would.
    for (const p of this.#particles) {
      if (field.born) {
        const { q, phase } = field.learned.beginning([p.x, p.y]);
        Object.assign(p, { goal: q, q: field.learned.colours[q], phase });
      } else p.q = field.regions.at(p.x, p.y);
    }
  }

  get count() { return this.#particles.length; }

  step(seconds, view, wanted = plenty(view)) {
    const field = this.#field;
    if (!field) return;
    const time = seconds * this.tempo;
    const box = visible(field, view);
    const memory = Boolean(field.born);
    // A node of every trail at even times, whatever the frame rate: cheap, and trails of one length.
    this.#since += time;
    const node = this.#since >= NODE;
    if (node) this.#since %= NODE;
    const most = memory ? Math.min(wanted, MOST_MOTIONS) : wanted;
    while (this.#particles.length < most) this.#particles.push(born({}, field, box, true));
    this.#particles.length = most;
    // On a screen that shows a tenth of the world things move a tenth as fast: to the eye, the same.
    const pace = PACE * Math.min(1, (320 / view.scale) ** 0.75) * time;
    for (const p of this.#particles) {
      p.age += time;
      if (p.dying || p.age > p.life || !this.#advance(p, field, pace, box, memory)) {
        p.dying = true;
        if (node) p.trail.splice(0, 2);
        if (p.trail.length < 4) born(p, field, box, false);
        continue;
      }
      if (node) {
        p.trail.push(p.x, p.y);
        if (p.trail.length > 2 * TRAIL) p.trail.splice(0, 2);
      }
    }
  }

  /** A step through the middle of the step, so that bends stay round at a low frame rate; false where it ends. */
  #advance(p, field, pace, box, memory) {
    const v = this.#velocity;
    const at = (x, y, phase) => (memory ? field.velocity(p.goal, [x, y, phase], v) : field.velocity(x, y, v));
    at(p.x, p.y, p.phase);
    const speed = Math.hypot(v[0], v[1]) || 1e-12;
    p.pace = speedStep(speed / field.typicalSpeed);
    // The root tames fast stretches, so that slow ones can still be seen to move.
    const length = pace * Math.sqrt(speed / field.typicalSpeed);
    if (length < 0.03 * pace) return false;
    const half = length / (2 * speed);
    at(p.x + half * v[0], p.y + half * v[1], p.phase + half * (v[2] || 0));
    const there = Math.hypot(v[0], v[1]) || 1e-12;
    const x = p.x + (length * v[0]) / there, y = p.y + (length * v[1]) / there;
    if (x < box[0] || x > box[2] || y < box[1] || y > box[3]) return false;
    // Between nodes of the grid a particle could slip over a border; a true one never does.
    if (!memory && field.regions.at(x, y) !== p.q) return false;
    p.x = x;
    p.y = y;
    p.phase += (length * (v[2] || 0)) / there;
    return true;
  }

  /** In the colours of the goals, or of how fast it goes. */
  paint(ctx, view, theme, faded, bySpeed = false) {
    ctx.clearRect(0, 0, view.width, view.height);
    const field = this.#field;
    if (!field) return;
    const paths = new Map();
    const near = bySpeed ? 1 : theme.name === "dark" ? 0.9 : 0.8;
    const { scale } = view;
    const [left, top] = [view.middle[0] - view.centre[0] * scale, view.middle[1] + view.centre[1] * scale];
    for (const { trail, x, y, q, pace } of this.#particles) {
      const nodes = trail.length / 2;
      for (let band = 0; band < BANDS; band++) {
        const from = Math.floor((band * nodes) / BANDS);
        const to = Math.min(Math.floor(((band + 1) * nodes) / BANDS), nodes - 1);
        if (to < from) continue;
        const key = (bySpeed ? pace : q) * BANDS + band;
        let path = paths.get(key);
        if (!path) paths.set(key, (path = new Path2D()));
        path.moveTo(left + trail[2 * from] * scale, top - trail[2 * from + 1] * scale);
        for (let i = from + 1; i <= to; i++) path.lineTo(left + trail[2 * i] * scale, top - trail[2 * i + 1] * scale);
        if (band === BANDS - 1) path.lineTo(left + x * scale, top - y * scale);
      }
    }
    // One pixel, and no more: such lines are drawn seven times as fast where there is no graphics card.
    ctx.lineWidth = ctx.getTransform().a > 1 ? 1.3 : 1;
    ctx.lineCap = "butt";
    for (const [key, path] of paths) {
      ctx.globalAlpha = (near * (0.12 + 0.88 * ((key % BANDS) + 1) / BANDS)) * (faded ? 0.35 : 1);
      ctx.strokeStyle = bySpeed ? theme.speeds[Math.floor(key / BANDS)] : colour(theme, Math.floor(key / BANDS));
      ctx.stroke(path);
    }
    ctx.globalAlpha = 1;
  }

  /** For those who want nothing to move. */
  paintStill(ctx, view, theme, faded, bySpeed = false) {
    ctx.clearRect(0, 0, view.width, view.height);
    if (!this.#field) return;
    ctx.globalAlpha = faded ? 0.2 : 0.55;
    ctx.lineWidth = 1.2;
    for (const line of this.#field.streamlines(26 / view.scale, visible(this.#field, view))) {
      const at = line.points.map((p) => view.toScreen(p));
      for (const { tint, from, to } of tints(line, this.#field, theme, bySpeed)) {
        ctx.strokeStyle = ctx.fillStyle = tint;
        ctx.beginPath();
        at.slice(from, to + 1).forEach((p, i) => (i ? ctx.lineTo(...p) : ctx.moveTo(...p)));
        ctx.stroke();
        if (from <= at.length >> 1 && at.length >> 1 <= to) arrow(ctx, at, at.length >> 1, 4);
      }
    }
    ctx.globalAlpha = 1;
  }
}

/** Parts of a streamline with one colour each: that of its goal, or those of its speeds. */
export function tints({ q, points, speeds }, field, theme, bySpeed) {
  if (!bySpeed) return [{ tint: colour(theme, q), from: 0, to: points.length - 1 }];
  const found = [];
  let from = 0;
  const step = (i) => speedStep(speeds[i] / field.typicalSpeed);
  for (let i = 1; i <= points.length; i++) {
    if (i < points.length && step(i) === step(from)) continue;
    found.push({ tint: theme.speeds[step(from)], from, to: Math.min(i, points.length - 1) });
    from = i;
  }
  return found;
}

/** As many as fill the screen without hiding it. */
function plenty(view) { return Math.round(Math.min(Math.max((view.width * view.height) / 700, 220), 2000)); }

function visible(field, view) {
  const a = field.born ? view.box() : field.box, b = view.box();
  return [Math.max(a[0], b[0]), Math.max(a[1], b[1]), Math.min(a[2], b[2]), Math.min(a[3], b[3])];
}

function born(p, field, box, anyAge) {
  if (field.born) {
    const { q, z } = field.born(box);
    Object.assign(p, { goal: q, q: field.learned.colours[q], x: z[0], y: z[1], phase: z[2], life: 1.4 + 1.8 * Math.random() });
  } else {
    let x, y, node;
    // Where nothing was learned a few are enough.
    for (let tries = 0; tries < 2; tries++) {
      x = box[0] + Math.random() * (box[2] - box[0]);
      y = box[1] + Math.random() * (box[3] - box[1]);
      node = field.nearest(x, y);
      if (!field.far[node] || Math.random() < 0.2) break;
    }
    const life = (field.far[node] ? 0.8 : 1.4) + 1.8 * Math.random();
    Object.assign(p, { q: field.regions.at(x, y), x, y, phase: 0, life });
  }
  p.age = anyAge ? Math.random() * p.life : 0;
  p.dying = false;
  p.pace = 2;
  p.trail = [p.x, p.y];
  return p;
}

/** Where a way {t, x} is after some seconds. */
export function placeAt({ t, x }, clock) {
  let low = 0, high = t.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (t[middle] - t[0] <= clock) low = middle;
    else high = middle;
  }
  const s = Math.min(Math.max((clock - t[low] + t[0]) / (t[high] - t[low] || 1), 0), 1);
  return [x[low][0] + s * (x[high][0] - x[low][0]), x[low][1] + s * (x[high][1] - x[low][1])];
}

/** A small triangle at point i of a line on screen, along the line. */
export function arrow(ctx, points, i, size) {
  const [a, b] = [points[Math.max(i - 2, 0)], points[Math.min(i + 2, points.length - 1)]];
  const angle = Math.atan2(b[1] - a[1], b[0] - a[0]);
  const [x, y] = points[i];
  ctx.beginPath();
  for (const [r, turn] of [[size * 1.35, 0], [size, 2.35], [size, -2.35]]) {
    ctx.lineTo(x + r * Math.cos(angle + turn), y + r * Math.sin(angle + turn));
  }
  ctx.closePath();
  ctx.fill();
}
