// The stable system that every field is, behind its change of coordinates (fields/stable.py): a state moves towards the
// inverse-distance mean of the goals. It alone decides where a state ends.

import { alone2, alone3 } from "./formulas.js";

const TINY = 1e-30;
// Fates are looked up where all nodes around agree, else among finer nodes, and followed only where these differ, too. The whole
// plane is a disc, u -> u / (1 + |u|) with u in units of how far the goals are apart, with so many nodes across; the outermost
// part is not looked up.
const SIDE = 288, FINER = 8, RIM = 0.98;
const UNKNOWN = -2;
// A state this far from rest after so many steps is on a border.
const LONGEST = 4000;

export class Latent {
  /** `goals` (Q, d) in latent coordinates; the others as report/numbers.py writes them. */
  constructor(goals, { log_weights, swirls, softening, window }) {
    const [{ length: d }] = goals, top = Math.max(...log_weights);
    Object.assign(this, { goals, d, window, Q: goals.length, weights: log_weights.map((w) => Math.exp(w - top)) });
    this.total = this.weights.reduce((a, b) => a + b, 0);
    this.turn = 1 + Math.max(...swirls.map((m) => Math.hypot(...m.flat()) / Math.SQRT2));
    /** The one goal as its formula takes it; or several, of the plane. */
    this.one = [goals[0], [softening[0]], [window], swirls[0].flat()];
    this.plane = {
      x: Float64Array.from(goals, (g) => g[0]), y: Float64Array.from(goals, (g) => g[1]), w: Float64Array.from(this.weights),
      turn: Float64Array.from(swirls, (m) => m[1][0]), softening, window, out: new Float64Array(3),
    };
    this.table = null;
  }

  /** -(I + Omega) e / (|e| + epsilon) into `into`, at a latent place. */
  heading(y, into) {
    if (this.Q === 1) {
      const [goal, softening, window, swirl] = this.one;
      (this.d === 2 ? alone2 : alone3)(goal, softening, window, swirl, y, into);
      return;
    }
    const { out } = this.plane, norm = pullInPlane(this.plane, y[0], y[1]);
    for (let i = 0; i < 2; i++) into[i] = out[i] / (norm + out[2]);
  }

  /** V: half the squared mean of the distances, geometric in the plane. */
  height(y) {
    let log = 0;
    for (let q = 0; q < this.Q; q++) {
      const goal = this.goals[q];
      let r2 = TINY;
      for (let i = 0; i < this.d; i++) r2 += (y[i] - goal[i]) * (y[i] - goal[i]);
      log += (this.weights[q] / this.total) * 0.5 * Math.log(r2);
    }
    return 0.5 * Math.exp(2 * log);
  }

  /** The goal in which a latent place of the plane ends; -1 on a border. */
  fate(y) {
    if (this.Q === 1) return 0;
    const { middle, apart, coarse, fine } = (this.table ??= this.#frame());
    const x = (y[0] - middle[0]) / apart, z = (y[1] - middle[1]) / apart, r = Math.hypot(x, z);
    if (r / (1 + r) > RIM) return this.followed(y[0], y[1]);
    const u = (x / (1 + r) + 1) * (SIDE / 2), v = (z / (1 + r) + 1) * (SIDE / 2);
    const i = Math.floor(u), j = Math.floor(v);
    const first = this.#node(coarse, SIDE, i, j);
    let same = true;
    for (let b = j - 1; same && b <= j + 2; b++) for (let a = i - 1; a <= i + 2; a++) same &&= this.#node(coarse, SIDE, a, b) === first;
    if (same) return first;
    const k = Math.floor(u * FINER), l = Math.floor(v * FINER), side = SIDE * FINER, near = this.#node(fine, side, k, l);
    same = this.#node(fine, side, k + 1, l) === near && this.#node(fine, side, k, l + 1) === near;
    return same && this.#node(fine, side, k + 1, l + 1) === near ? near : this.followed(y[0], y[1]);
  }

  #frame() {
    const [low, high] = [Math.min, Math.max].map((f) => [0, 1].map((i) => f(...this.goals.map((g) => g[i]))));
    const apart = Math.max(high[0] - low[0], high[1] - low[1], 1e-9);
    const nodes = (side) => new Int8Array((side + 1) ** 2).fill(UNKNOWN);
    return { middle: [0, 1].map((i) => (low[i] + high[i]) / 2), apart, coarse: nodes(SIDE), fine: nodes(SIDE * FINER) };
  }

  #node(fates, side, i, j) {
    const k = j * (side + 1) + i;
    if (fates[k] === UNKNOWN) {
      const v = (2 * i) / side - 1, w = (2 * j) / side - 1, { middle, apart } = this.table;
      const out = apart / Math.max(1 - Math.hypot(v, w), 1e-3);
      fates[k] = this.followed(middle[0] + v * out, middle[1] + w * out);
    }
    return fates[k];
  }

  /** The same, followed all the way: Runge-Kutta 4, written out for the plane, since most of the time is spent here. */
  followed(y0, y1) {
    const { Q, weights, plane } = this, { x: gx, y: gy, out } = plane;
    const delta = 0.1 / Math.max(1, this.turn - 1);
    let px = y0, py = y1;
    for (let step = 0; step < LONGEST; step++) {
      let near = 0, least = Infinity, total = 0, sum = 0;
      for (let q = 0; q < Q; q++) {
        const r2 = TINY + (px - gx[q]) * (px - gx[q]) + (py - gy[q]) * (py - gy[q]);
        // a_q r_q, before the division by their sum
        const share = weights[q] / r2;
        total += share;
        sum += share * Math.sqrt(r2);
        if (r2 < least) { least = r2; near = q; }
      }
      const r = Math.sqrt(least);
      sum = (sum - weights[near] / r) / total;
      // From here on it is pulled in, whatever the others do.
      if (this.turn * sum < 0.5 * r + 1e-12) return near;
      if (pullInPlane(plane, px, py) < 1e-12) return -1;
      const ax = out[0], ay = out[1];
      pullInPlane(plane, px + 0.5 * delta * ax, py + 0.5 * delta * ay);
      const bx = out[0], by = out[1];
      pullInPlane(plane, px + 0.5 * delta * bx, py + 0.5 * delta * by);
      const cx = out[0], cy = out[1];
      pullInPlane(plane, px + delta * cx, py + delta * cy);
      px += (delta / 6) * (ax + 2 * bx + 2 * cx + out[0]);
      py += (delta / 6) * (ay + 2 * by + 2 * cy + out[1]);
    }
    return -1;
  }
}

/** -(I + Omega) e and epsilon into `out`, and |e|. */
function pullInPlane({ x, y, w, turn, softening, window, out }, px, py) {
  let total = 0, mx = 0, my = 0, spin = 0, soft = 0;
  for (let q = 0; q < w.length; q++) {
    const dx = px - x[q], dy = py - y[q], a = w[q] / (TINY + dx * dx + dy * dy);
    total += a;
    mx += a * dx;
    my += a * dy;
    spin += a * turn[q];
    soft += a * softening[q];
  }
  mx /= total;
  my /= total;
  spin /= total * (1 + (window * window * (mx * mx + my * my)) ** 4);
  out[0] = -mx + spin * my;
  out[1] = -my - spin * mx;
  out[2] = soft / total;
  return Math.sqrt(mx * mx + my * my);
}
