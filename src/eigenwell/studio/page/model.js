// A stable field in numbers, evaluated as eigenwell does it (fields/stable.py, flows.py): in the plane, and with the phase
// as a third coordinate where motions remember. Nothing here knows of a page: node tests it, and shared pages carry it.

import { World } from "./warps.js";

const BOUND = 2; // largest log-scale of a layer
const BRAKE_POWER = 8;
const TINY = 1e-30;
// sigma and tau of a layer depend on one coordinate alone, so they are looked up: cubics between exact values and slopes.
const HALF = 1.6, NODES = 2048;
const STEP = 2 * HALF / NODES;

/** Doubles from base64. */
export function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new Float64Array(bytes.buffer);
}

export class StableField {
  /** `n`: what studio/numbers.py writes. */
  constructor(n) {
    const d = (this.d = n.dimension);
    Object.assign(this, { centre: n.centre, scale: n.scale, pace: n.pace, window: n.window, brake: n.brake });
    const frequencies = unpack(n.frequencies), weights = unpack(n.weights);
    const F = (this.F = frequencies.length / n.layers), rows = (this.rows = 2 * (d - 1));
    this.layers = [];
    for (let l = 0; l < n.layers; l++) {
      // One coordinate passes, the others move, in turn.
      const moving = Array.from({ length: d - 1 }, (_, i) => (l + 1 + i) % d);
      this.layers.push({
        p: l % d, moving, W: frequencies.subarray(l * F, (l + 1) * F),
        theta: weights.subarray(l * rows * 2 * F, (l + 1) * rows * 2 * F), table: null,
      });
    }
    const { speed } = n;
    this.speed = { W: unpack(speed.frequencies), w: unpack(speed.weights), offset: speed.offset, window: speed.window };
    this.Q = n.attractors.length;
    this.unitGoals = n.attractors;
    /** In the data's units. */
    this.attractors = n.attractors.map((a) => a.map((c, i) => c * n.scale[i] + n.centre[i]));
    this.world = n.world ? new World(n.world, n.centre, n.scale) : null;
    this.world?.places.forEach((place, q) => this.attractors[q].splice(0, 2, ...place));
    const top = Math.max(...n.log_weights);
    this.weights = n.log_weights.map((w) => Math.exp(w - top));
    this.swirls = n.swirls;
    this.turning = n.swirls.some((m) => m.some((row) => row.some((c) => c !== 0)));
    this.softening = n.softening;
    this.out = new Float64Array(2 * rows);
    this.unit = new Float64Array(d);
    this.y = new Float64Array(d);
    this.e = new Float64Array(d);
    this.here = new Float64Array(d);
    this.at = new Float64Array(d);
    this.k = [0, 1, 2, 3].map(() => new Float64Array(d));
    this.a = new Float64Array(this.Q);
    this.r = new Float64Array(this.Q);
    this.u = new Float64Array(d);
    this.trail = this.layers.map(() => ({ scale: new Float64Array(d - 1), shear: new Float64Array(d - 1) }));
    this.goals = n.attractors.map((a) => {
      this.unit.set(a);
      return Array.from(this.forward(this.unit, false));
    });
    const span = (q) => Math.hypot(...this.swirls[q].flat()) / (d > 1 ? Math.SQRT2 : 1);
    this.turn = 1 + Math.max(...this.swirls.map((_, q) => span(q)));
  }

  /** sigma, tau and their slopes at p, exactly. */
  #exact({ W, theta }, p, out) {
    const { F, rows } = this;
    const share = 1 / Math.sqrt(F);
    out.fill(0);
    for (let f = 0; f < F; f++) {
      const w = W[f], c = Math.cos(w * p) * share, s = Math.sin(w * p) * share;
      for (let r = 0; r < rows; r++) {
        const a = theta[r * 2 * F + f], b = theta[r * 2 * F + F + f];
        out[r] += a * c + b * s;
        out[rows + r] += w * (b * c - a * s);
      }
    }
  }

  #tabulate(layer) {
    const { rows } = this;
    const table = new Float64Array((NODES + 1) * 2 * rows);
    const { W, theta } = layer;
    const { F } = this;
    const share = 1 / Math.sqrt(F);
    for (let f = 0; f < F; f++) {
      const w = W[f];
      // A rotation by one step; set right now and then, before rounding adds up.
      const c1 = Math.cos(w * STEP), s1 = Math.sin(w * STEP);
      let c = 0, s = 0;
      for (let i = 0; i <= NODES; i++) {
        if (i % 256 === 0) {
          const angle = w * (i * STEP - HALF);
          c = Math.cos(angle) * share;
          s = Math.sin(angle) * share;
        }
        const at = i * 2 * rows;
        for (let r = 0; r < rows; r++) {
          const a = theta[r * 2 * F + f], b = theta[r * 2 * F + F + f];
          table[at + r] += a * c + b * s;
          table[at + rows + r] += w * (b * c - a * s);
        }
        const next = c * c1 - s * s1;
        s = s * c1 + c * s1;
        c = next;
      }
    }
    return table;
  }

  #looked(layer, p, out) {
    if (!(p > -HALF && p < HALF)) {
      this.#exact(layer, p, out);
      return;
    }
    layer.table ??= this.#tabulate(layer);
    const { rows } = this;
    const { table } = layer;
    const place = (p + HALF) / STEP, i = place | 0, t = place - i;
    const low = i * 2 * rows, high = low + 2 * rows;
    const t2 = t * t, t3 = t2 * t;
    const h00 = 2 * t3 - 3 * t2 + 1, h01 = 1 - h00, h10 = (t3 - 2 * t2 + t) * STEP, h11 = (t3 - t2) * STEP;
    const g = (6 * t2 - 6 * t) / STEP, g10 = 3 * t2 - 4 * t + 1, g11 = 3 * t2 - 2 * t;
    for (let r = 0; r < rows; r++) {
      const a = table[low + r], b = table[high + r], da = table[low + rows + r], db = table[high + rows + r];
      out[r] = h00 * a + h01 * b + h10 * da + h11 * db;
      out[rows + r] = g * (a - b) + g10 * da + g11 * db;
    }
  }

  /** psi(x) of unit coordinates; with the factors of its Jacobian in `trail` where they are wanted. */
  forward(x, jacobian) {
    const { y, out, rows } = this;
    const moved = rows / 2;
    const k2 = this.window * this.window, k4 = k2 * k2;
    y.set(x);
    for (let l = 0; l < this.layers.length; l++) {
      const layer = this.layers[l];
      const p = y[layer.p];
      this.#looked(layer, p, out);
      const within = 1 / (1 + k4 * p ** 4);
      const fall = -4 * k4 * within * within * p ** 3;
      for (let r = 0; r < moved; r++) {
        const i = layer.moving[r];
        const q = y[i], tau = out[moved + r];
        const squashed = Math.tanh(out[r] / BOUND);
        const s = within * BOUND * squashed;
        const fade = 1 / Math.sqrt(1 + k2 * q * q);
        const stretch = Math.exp(s * fade), stretched = q * stretch;
        if (jacobian) {
          const slope = within * (1 - squashed * squashed) * out[rows + r] + BOUND * squashed * fall;
          this.trail[l].scale[r] = stretch * (1 - s * fade * (1 - fade * fade));
          this.trail[l].shear[r] = stretched * fade * slope + within * out[rows + moved + r] + tau * fall;
        }
        y[i] = stretched + within * tau;
      }
    }
    return y;
  }

  /** -(I + Omega) e into `into`, at a latent place; |e| and epsilon into `norm` and `soft`. */
  #pull(y, into) {
    const { d, Q, e, a, goals, weights } = this;
    let total = 0, squares = TINY;
    this.soft = 0;
    e.fill(0);
    for (let q = 0; q < Q; q++) {
      const goal = goals[q];
      let r2 = TINY;
      for (let i = 0; i < d; i++) r2 += (y[i] - goal[i]) * (y[i] - goal[i]);
      a[q] = Q === 1 ? 1 : weights[q] / (d > 2 ? r2 * Math.sqrt(r2) : r2);
      total += a[q];
    }
    for (let q = 0; q < Q; q++) {
      const goal = goals[q];
      a[q] /= total;
      this.soft += a[q] * this.softening[q];
      for (let i = 0; i < d; i++) e[i] += a[q] * (y[i] - goal[i]);
    }
    for (let i = 0; i < d; i++) {
      squares += e[i] * e[i];
      into[i] = -e[i];
    }
    if (this.turning) {
      for (let q = 0; q < Q; q++) {
        const swirl = this.swirls[q];
        for (let i = 0; i < d; i++) for (let j = 0; j < d; j++) into[i] -= a[q] * swirl[i][j] * e[j];
      }
    }
    this.norm = Math.sqrt(squares);
  }

  #logSpeed(x) {
    const { W, w, offset, window } = this.speed;
    const { d } = this;
    const F = w.length / 2;
    let sum = 0, mean = 0;
    for (let f = 0; f < F; f++) {
      let angle = 0;
      for (let i = 0; i < d; i++) angle += W[f * d + i] * x[i];
      sum += w[f] * Math.cos(angle) + w[F + f] * Math.sin(angle);
    }
    for (let i = 0; i < d; i++) mean += x[i] * x[i] / d;
    return F ? offset + sum / Math.sqrt(F) / (1 + (window * window * mean) ** 2) : offset;
  }

  #toUnit(x) {
    for (let i = 0; i < this.d; i++) this.unit[i] = (x[i] - this.centre[i]) / this.scale[i];
    this.world?.enter(this.unit);
    return this.unit;
  }

  /** xdot at x, both in the data's units, into `into`. */
  velocity(x, into) {
    const { d, u, layers } = this;
    const unit = this.#toUnit(x);
    const y = this.forward(unit, true);
    this.#pull(y, u);
    const gain = Math.exp(this.#logSpeed(unit)) / (this.norm + this.soft);
    for (let i = 0; i < d; i++) u[i] *= gain;
    for (let l = layers.length - 1; l >= 0; l--) {
      const { p, moving } = layers[l], { scale, shear } = this.trail[l];
      for (let r = 0; r < moving.length; r++) u[moving[r]] = (u[moving[r]] - shear[r] * u[p]) / scale[r];
    }
    this.world?.leave(u);
    let r = TINY;
    for (let i = 0; i < d; i++) r += (this.brake[i] * u[i]) ** 2;
    r = Math.sqrt(r);
    const top = Math.max(r, 1);
    const brake = 1 / (top * (1 + (r / top / top) ** BRAKE_POWER) ** (1 / BRAKE_POWER));
    for (let i = 0; i < d; i++) into[i] = brake * u[i] * this.scale[i] * this.pace;
    return into;
  }

  /** V at x: half the squared mean of the latent distances, geometric in the plane. */
  potential(x) {
    const y = this.forward(this.#toUnit(x), false);
    const total = this.weights.reduce((a, b) => a + b, 0);
    let log = 0;
    for (let q = 0; q < this.Q; q++) {
      let r2 = TINY;
      for (let i = 0; i < this.d; i++) r2 += (y[i] - this.goals[q][i]) ** 2;
      log += (this.weights[q] / total) * 0.5 * Math.log(r2);
    }
    return 0.5 * Math.exp(2 * log);
  }

  /** The attractor in which a state of the plane ends, followed in the latent space; -1 on a border. */
  basin(x) {
    if (this.Q === 1) return 0;
    const { d, Q, goals, weights, a, k, at, r } = this;
    const y = this.here;
    y.set(this.forward(this.#toUnit(x), false));
    const delta = 0.1 / Math.max(1, this.turn - 1);
    for (let step = 0; step < 4000; step++) {
      let near = 0, total = 0, sum = 0;
      for (let q = 0; q < Q; q++) {
        let r2 = TINY;
        for (let i = 0; i < d; i++) r2 += (y[i] - goals[q][i]) * (y[i] - goals[q][i]);
        r[q] = Math.sqrt(r2);
        a[q] = weights[q] / r2;
        total += a[q];
        if (r[q] < r[near]) near = q;
      }
      for (let q = 0; q < Q; q++) if (q !== near) sum += (a[q] / total) * r[q];
      // From here on it is pulled in, whatever the others do.
      if (this.turn * sum < 0.5 * r[near] + 1e-12) return near;
      this.#pull(y, k[0]);
      if (this.norm < 1e-12) return -1;
      for (let stage = 1; stage < 4; stage++) {
        const part = stage < 3 ? 0.5 * delta : delta;
        for (let i = 0; i < d; i++) at[i] = y[i] + part * k[stage - 1][i];
        this.#pull(at, k[stage]);
      }
      for (let i = 0; i < d; i++) y[i] += (delta / 6) * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
    return -1;
  }

  /** The way from x0 to rest: {t, x, arrived}; Runge-Kutta 4, no step longer than a hundredth of the box. */
  rollOut(x0, longest = 60, most = 4000) {
    const { d, scale, k, at } = this;
    const x = Float64Array.from(x0);
    let time = 0;
    const t = [0], way = [Array.from(x0)];
    const size = (v) => Math.hypot(...Array.from(v, (c, i) => c / scale[i]));
    let arrived = false;
    for (let n = 0; n < most && time < longest; n++) {
      this.velocity(x, k[0]);
      const speed = size(k[0]);
      const away = Math.min(...this.attractors.map((a) => size(a.map((c, i) => c - x[i]))));
      if (away < 2e-3 || speed < 1e-9) { arrived = away < 0.02; break; }
      // Shorter near the goal: the last part is a decay, and a long step would jump to and fro across it.
      const dt = Math.min(0.01, 0.2 * away) / Math.max(speed, 1e-6);
      for (let stage = 1; stage < 4; stage++) {
        const part = stage < 3 ? 0.5 * dt : dt;
        for (let i = 0; i < d; i++) at[i] = x[i] + part * k[stage - 1][i];
        this.velocity(at, k[stage]);
      }
      for (let i = 0; i < d; i++) x[i] += (dt / 6) * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
      time += dt;
      t.push(time);
      way.push(Array.from(x));
    }
    return { t, x: way, arrived };
  }
}
