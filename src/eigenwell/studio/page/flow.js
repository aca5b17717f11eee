// The field behind the strokes: basins and level lines once, particles that drift through it on every frame.

import { colour, rgb } from "./palette.js";

// Seconds of its way that a particle trails behind; four bands of fading are drawn with one stroke each.
const TRAIL = 0.7;
const BANDS = 4;
// Seconds that a motion of the usual length takes to watch, where motions are followed.
const WATCHED = 3;
// World units a second at the typical speed: slow enough to follow with the eye.
const PACE = 0.34;

/** Fills, level lines and borders; drawn again only when field, size, theme or choices change. */
export function paintBackdrop(ctx, view, theme, field, shown, faded) {
  ctx.clearRect(0, 0, view.width, view.height);
  if (!field) return;
  ctx.save();
  if (faded) ctx.globalAlpha = 0.4;
  if (shown.basins && field.basin) {
    const [x, y] = view.toScreen([field.box[0] - field.dx / 2, field.box[3] + field.dy / 2]);
    ctx.imageSmoothingEnabled = true;
    ctx.imageSmoothingQuality = "high";
    ctx.drawImage(basinImage(field, theme), x, y, field.nx * field.dx * view.scale, field.ny * field.dy * view.scale);
    strokeSegments(ctx, view, field.borders(), theme.paper, 4);
    strokeSegments(ctx, view, field.borders(), theme.ink, 1.5, [6, 4]);
    for (const place of field.saddles) paintSaddle(ctx, theme, view.toScreen(place));
  }
  if (shown.potential) {
    for (const { q, level, segments } of field.contours()) {
      ctx.globalAlpha = (faded ? 0.4 : 1) * (0.52 - 0.28 * level);
      strokeSegments(ctx, view, segments, colour(theme, q), 1);
    }
  }
  ctx.restore();
}

/** One pixel per node, to be stretched: tinted where the field was learned, paler far from the data. */
export function basinImage(field, theme) {
  const image = new ImageData(field.nx, field.ny);
  const near = field.blurred(field.far.map((f) => (f ? 0 : 1)));
  for (let j = 0; j < field.ny; j++) {
    for (let i = 0; i < field.nx; i++) {
      const k = j * field.nx + i;
      const to = 4 * ((field.ny - 1 - j) * field.nx + i);
      image.data.set(rgb(colour(theme, field.basin[k])), to);
      image.data[to + 3] = 14 + near[k] * (theme.name === "dark" ? 32 : 22);
    }
  }
  const canvas = document.createElement("canvas");
  canvas.width = field.nx;
  canvas.height = field.ny;
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

function strokeSegments(ctx, view, segments, style, width, dash = []) {
  ctx.beginPath();
  let [px, py] = [NaN, NaN];
  for (const [x1, y1, x2, y2] of segments) {
    // One line where segments hang together, so that dashes are even.
    if (x1 !== px || y1 !== py) ctx.moveTo(...view.toScreen([x1, y1]));
    ctx.lineTo(...view.toScreen([x2, y2]));
    [px, py] = [x2, y2];
  }
  ctx.strokeStyle = style;
  ctx.lineWidth = width;
  ctx.setLineDash(dash);
  ctx.stroke();
  ctx.setLineDash([]);
}

/** A hollow diamond: where basins meet. */
function paintSaddle(ctx, theme, [x, y]) {
  ctx.beginPath();
  for (const [a, b] of [[0, -7], [7, 0], [0, 7], [-7, 0]]) ctx.lineTo(x + a, y + b);
  ctx.closePath();
  ctx.fillStyle = theme.paper;
  ctx.fill();
  ctx.lineWidth = 1.8;
  ctx.strokeStyle = theme.ink;
  ctx.stroke();
}

/** Particles with trails. Positions are in the world, so that a resize does not disturb them. */
export class Flow {
  #field = null;
  #particles = [];
  #velocity = [0, 0];
  #pause = 1 / 60;

  set(field) {
    this.#field = field;
    this.#particles = [];
  }

  step(seconds, view) {
    const field = this.#field;
    if (!field) return;
    const box = this.#visible(view);
    const wanted = Math.round(Math.min(Math.max((view.width * view.height) / 900, 220), 900));
    if (field.ways) {
      this.#followWays(seconds, Math.min(wanted, 4 * field.ways.length));
      return;
    }
    while (this.#particles.length < wanted) this.#particles.push(this.#born({}, box, true));
    this.#particles.length = wanted;
    const v = this.#velocity;
    this.#pause += 0.1 * (seconds - this.#pause);
    const longest = Math.min(Math.max(Math.round(TRAIL / this.#pause), 8), 42);
    for (const p of this.#particles) {
      p.age += seconds;
      const [x, y] = p.trail[p.trail.length - 1];
      field.velocity(x, y, v);
      const speed = Math.hypot(v[0], v[1]);
      // The root tames fast stretches, so that slow ones can still be seen to move.
      const length = PACE * seconds * Math.sqrt(speed / field.typicalSpeed);
      // Through the middle of the step, so that bends stay round at a low frame rate.
      field.velocity(x + (length * v[0]) / (2 * speed || 1), y + (length * v[1]) / (2 * speed || 1), v);
      const there = Math.hypot(v[0], v[1]) || 1;
      const nx = x + (length * v[0]) / there, ny = y + (length * v[1]) / there;
      const settled = length < 0.03 * PACE * seconds;
      const outside = nx < box[0] || nx > box[2] || ny < box[1] || ny > box[3];
      // A state keeps its sub-dynamics on its way, and beyond the border the grid has another's velocities.
      if (p.age > p.life || settled || outside || Math.max(field.basin[field.nearest(nx, ny)], 0) !== p.q) {
        p.trail.shift();
        if (p.trail.length < 2) this.#born(p, box, false);
        continue;
      }
      p.trail.push([nx, ny]);
      while (p.trail.length > longest) p.trail.shift();
    }
  }

  /** Particles that remember go along their motions. */
  #followWays(seconds, wanted) {
    const field = this.#field;
    this.#pause += 0.1 * (seconds - this.#pause);
    const longest = Math.min(Math.max(Math.round(TRAIL / this.#pause), 8), 42);
    const rate = field.typicalDuration / WATCHED;
    while (this.#particles.length < wanted) this.#particles.push(setOut({}, field, true));
    this.#particles.length = wanted;
    for (const p of this.#particles) {
      p.clock += rate * seconds;
      p.age += seconds;
      const { t } = p.way;
      if (p.age > p.life || p.clock > t[t.length - 1] - t[0]) {
        p.trail.shift();
        if (p.trail.length < 2) setOut(p, field, false);
        continue;
      }
      p.trail.push(placeAt(p.way, p.clock));
      while (p.trail.length > longest) p.trail.shift();
    }
  }

  paint(ctx, view, theme, faded) {
    ctx.clearRect(0, 0, view.width, view.height);
    const field = this.#field;
    if (!field) return;
    const paths = new Map();
    const near = theme.name === "dark" ? 0.8 : 0.62;
    for (const p of this.#particles) {
      for (let band = 0; band < BANDS; band++) {
        const from = Math.floor((band * p.trail.length) / BANDS);
        const to = Math.min(Math.floor(((band + 1) * p.trail.length) / BANDS), p.trail.length - 1);
        if (to <= from) continue;
        const key = p.q * BANDS + band;
        let path = paths.get(key);
        if (!path) paths.set(key, (path = new Path2D()));
        path.moveTo(...view.toScreen(p.trail[from]));
        for (let i = from + 1; i <= to; i++) path.lineTo(...view.toScreen(p.trail[i]));
      }
    }
    ctx.lineWidth = 1.3;
    ctx.lineCap = "butt";
    for (const [key, path] of paths) {
      ctx.globalAlpha = (near * (0.12 + 0.88 * ((key % BANDS) + 1) / BANDS)) * (faded ? 0.35 : 1);
      ctx.strokeStyle = colour(theme, Math.floor(key / BANDS));
      ctx.stroke(path);
    }
    ctx.globalAlpha = 1;
  }

  /** For those who want nothing to move. */
  paintStill(ctx, view, theme, faded) {
    ctx.clearRect(0, 0, view.width, view.height);
    if (!this.#field) return;
    ctx.globalAlpha = faded ? 0.2 : 0.55;
    ctx.lineWidth = 1.2;
    for (const { q, points } of this.#field.streamlines(26 / view.scale, this.#visible(view))) {
      ctx.strokeStyle = ctx.fillStyle = colour(theme, q);
      const at = points.map((p) => view.toScreen(p));
      ctx.beginPath();
      at.forEach((p, i) => (i ? ctx.lineTo(...p) : ctx.moveTo(...p)));
      ctx.stroke();
      arrow(ctx, at, at.length >> 1, 4);
    }
    ctx.globalAlpha = 1;
  }

  #visible(view) {
    const a = this.#field.box, b = view.box();
    return [Math.max(a[0], b[0]), Math.max(a[1], b[1]), Math.min(a[2], b[2]), Math.min(a[3], b[3])];
  }

  #born(p, box, anyAge) {
    let x, y, node;
    // Where nothing was learned a few are enough.
    for (let tries = 0; tries < 2; tries++) {
      x = box[0] + Math.random() * (box[2] - box[0]);
      y = box[1] + Math.random() * (box[3] - box[1]);
      node = this.#field.nearest(x, y);
      if (!this.#field.far[node] || Math.random() < 0.2) break;
    }
    p.life = (this.#field.far[node] ? 0.8 : 1.4) + 1.8 * Math.random();
    p.age = anyAge ? Math.random() * p.life : 0;
    p.q = Math.max(this.#field.basin[node], 0);
    p.trail = [[x, y]];
    return p;
  }
}

/** A particle on a motion, at its start or, to begin with, anywhere on it. */
function setOut(p, field, anywhere) {
  const way = field.ways[Math.floor(Math.random() * field.ways.length)];
  const duration = way.t[way.t.length - 1] - way.t[0];
  const clock = (anywhere || Math.random() < 0.6 ? Math.random() : 0) * 0.9 * duration;
  return Object.assign(p, { way, q: Math.max(way.q, 0), clock, age: 0, life: 1.4 + 1.8 * Math.random(), trail: [placeAt(way, clock)] });
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
