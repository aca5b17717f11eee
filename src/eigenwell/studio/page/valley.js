// The valley: the potential as a surface one can turn. It falls along every way, so whatever is put on it runs downhill.

import { blurred } from "./backdrop.js";
import { colour, rgb } from "./palette.js";
import { BOTTOM, TOP } from "./view.js";

// Every second node of the grid: quads as large as a fingertip are smooth enough, and quick to paint.
const EVERY = 2;
const TALL = 0.42;
// Passes over the grid that soften where its colour fades, away from the strokes.
const SOFT = 3;
const TURN = 0.008; // radians a pixel
const DRIFT = 0.12; // radians a second, until somebody takes hold of it
const FLATTEST = 0.25, STEEPEST = 1.45;

export class Valley {
  azimuth = -0.6;
  tilt = 0.85;
  #canvas;
  #state;
  #grid = null;
  #heights = null;
  /** How near every node is to the strokes, 0 to 1, and the goal where it ends. */
  #near = null;
  #goals = null;
  #held = null;
  #drifting = true;
  #last = 0;

  /** `state` is read when painting: theme, field, strokes, labels, particles, still. */
  constructor(canvas, state) {
    this.#canvas = canvas;
    this.#state = state;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.#held = [event.clientX, event.clientY];
      this.#drifting = false;
    });
    canvas.addEventListener("pointermove", ({ clientX, clientY }) => {
      if (!this.#held) return;
      this.turn(TURN * (clientX - this.#held[0]), TURN * (clientY - this.#held[1]));
      this.#held = [clientX, clientY];
    });
    for (const kind of ["pointerup", "pointercancel"]) canvas.addEventListener(kind, () => { this.#held = null; });
    canvas.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] }[event.key];
      if (!by) return;
      event.preventDefault();
      event.stopPropagation();
      this.#drifting = false;
      this.turn(...by);
    });
  }

  get isOpen() { return !this.#canvas.hidden; }

  turn(across, down) {
    this.azimuth += across;
    this.tilt = Math.min(Math.max(this.tilt + down, FLATTEST), STEEPEST);
  }

  show(open) {
    if (open === this.isOpen) return;
    this.#canvas.hidden = !open;
    this.#drifting = true;
    if (open) requestAnimationFrame((now) => this.#frame(now));
  }

  #frame(now) {
    if (!this.isOpen) return;
    const seconds = Math.min(Math.max((now - this.#last) / 1000, 0), 0.05);
    this.#last = now;
    const s = this.#state();
    if (!s.field?.potential) {
      this.show(false);
      return;
    }
    if (this.#drifting && !s.still) this.azimuth += DRIFT * seconds;
    this.#paint(s);
    requestAnimationFrame((next) => this.#frame(next));
  }

  #paint({ theme, field, strokes, labels, particles, ratio, width, height, colourOf }) {
    const canvas = this.#canvas;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const ctx = canvas.getContext("2d");
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.fillStyle = theme.paper;
    ctx.fillRect(0, 0, width, height);
    if (this.#grid !== field) this.#measure(field);
    const at = this.#projection(field, width, height);
    this.#surface(ctx, theme, field, at);
    const up = (p) => at(p[0], p[1], heightAt(field, this.#heights, p));
    ctx.lineCap = ctx.lineJoin = "round";
    for (const { id, x } of strokes.filter((s) => !s.v)) {
      ctx.beginPath();
      x.forEach((p) => ctx.lineTo(...up(p)));
      for (const [w, style] of [[4, theme.paper], [2, colourOf(labels[id])]]) {
        ctx.lineWidth = w;
        ctx.strokeStyle = style;
        ctx.stroke();
      }
    }
    for (const { at: place, q } of particles) {
      ctx.beginPath();
      ctx.arc(...up(place), 6, 0, 2 * Math.PI);
      ctx.fillStyle = q < 0 ? theme.ink : colour(theme, q);
      ctx.fill();
      ctx.lineWidth = 1.5;
      ctx.strokeStyle = theme.ink;
      ctx.stroke();
    }
  }

  #measure(field) {
    this.#grid = field;
    this.#heights = field.heights;
    this.#near = Float64Array.from(field.far, (far) => (far ? 0 : 1));
    for (let pass = 0; pass < SOFT; pass++) this.#near = blurred(this.#near, field.nx, field.ny);
    this.#goals = Array.from(field.heights, (_, k) => field.regions.at(...field.point(k % field.nx, Math.floor(k / field.nx))));
  }

  #projection({ box }, width, height) {
    const [cx, cy] = [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2];
    const size = Math.hypot(box[2] - box[0], box[3] - box[1]);
    const [c, s] = [Math.cos(this.azimuth), Math.sin(this.azimuth)];
    // All of it in sight, however it is turned: from the farthest corner on high to the nearest, or to a goal in front.
    const deep = Math.cos(this.tilt), back = (size / 2) * deep, tall = TALL * size * Math.sin(this.tilt);
    const above = back + tall, below = Math.max(back - tall, back / 2), room = height - TOP - BOTTOM;
    const scale = Math.min((1.02 * Math.min(width, 1.5 * height)) / size, room / (above + below));
    const ground = TOP + (room + scale * (above - below)) / 2;
    return (x, y, h) => {
      const [u, v] = [c * (x - cx) - s * (y - cy), s * (x - cx) + c * (y - cy)];
      return [width / 2 + scale * u, ground - scale * (v * deep + h * tall)];
    };
  }

  #surface(ctx, theme, field, at) {
    const { nx, ny } = field;
    const tints = this.#goals.map((q) => rgb(colour(theme, q)));
    const heights = this.#heights;
    const [c, s] = [Math.cos(this.azimuth), Math.sin(this.azimuth)];
    const quads = [];
    for (let j = 0; j + EVERY < ny; j += EVERY) {
      for (let i = 0; i + EVERY < nx; i += EVERY) {
        const [x, y] = field.point(i, j);
        quads.push([s * x + c * y, i, j]);
      }
    }
    quads.sort((a, b) => b[0] - a[0]); // from behind
    const corner = (i, j) => at(...field.point(i, j), heights[j * nx + i]);
    const paper = rgb(theme.paper), ink = theme.name === "dark" ? 0.55 : 0.35;
    for (const [, i, j] of quads) {
      const k = j * nx + i, [r, t] = [k + EVERY, k + EVERY * nx];
      // Light from one side: slopes towards it are bright.
      const slope = (heights[r] - heights[k]) * (c + 0.4) + (heights[t] - heights[k]) * (0.4 - s);
      const light = 0.5 + 0.5 * Math.tanh(6 * slope);
      const share = (0.4 + 0.6 * this.#near[k]) * (ink + 0.35 * (1 - light)) * (1 - 0.45 * heights[k]);
      const own = [k, r, t, r + t - k].map((node) => tints[node]); // of its corners: no staircase between two goals
      const tint = paper.map((v, n) => Math.round(v + share * ((own[0][n] + own[1][n] + own[2][n] + own[3][n]) / 4 - v)));
      ctx.beginPath();
      for (const [a, b] of [[i, j], [i + EVERY, j], [i + EVERY, j + EVERY], [i, j + EVERY]]) ctx.lineTo(...corner(a, b));
      ctx.closePath();
      ctx.fillStyle = ctx.strokeStyle = `rgb(${tint.join(" ")})`;
      ctx.fill();
      ctx.lineWidth = 0.7; // closes the seams between neighbours
      ctx.stroke();
    }
  }
}

/** Bilinear height at a place, as far as the grid reaches. */
function heightAt({ box, nx, ny, dx, dy }, heights, [x, y]) {
  const a = Math.min(Math.max((x - box[0]) / dx, 0), nx - 1.001), b = Math.min(Math.max((y - box[1]) / dy, 0), ny - 1.001);
  const i = a | 0, j = b | 0, s = a - i, r = b - j, k = j * nx + i;
  return (1 - s) * (1 - r) * heights[k] + s * (1 - r) * heights[k + 1] + (1 - s) * r * heights[k + nx] + s * r * heights[k + nx + 1];
}
