// A stable field in numbers, evaluated as eigenwell does it (fields/stable.py, flows.py): in the plane, and with the phase
// as a third coordinate where motions remember. Nothing here knows of a page: node tests it, and shared pages carry it.

import { Latent } from "./latent.js";
import { World } from "./warps.js";
import { Waves } from "./waves.js";
import { rolled } from "./ways.js";

const BOUND = 2; // largest log-scale of a layer
const BRAKE_POWER = 8;
const TINY = 1e-30;
// Where waves have faded to less than this they are left out.
const FADED = 1e-6;

/** Doubles from base64. */
export function unpack(text) {
  const short = text.startsWith("4:");
  const bytes = Uint8Array.from(atob(short ? text.slice(2) : text), (c) => c.charCodeAt(0));
  return short ? Float64Array.from(new Float32Array(bytes.buffer)) : new Float64Array(bytes.buffer);
}

export class StableField {
  /** `n`: what report/numbers.py writes. */
  constructor(n) {
    const d = (this.d = n.dimension);
    Object.assign(this, { centre: n.centre, scale: n.scale, pace: n.pace, window: n.window, brake: n.brake });
    const frequencies = unpack(n.frequencies), weights = unpack(n.weights);
    const F = frequencies.length / n.layers, rows = (this.rows = 2 * (d - 1));
    this.layers = [];
    for (let l = 0; l < n.layers; l++) {
      // One coordinate passes, the others move, in turn.
      const moving = Array.from({ length: d - 1 }, (_, i) => (l + 1 + i) % d);
      const theta = weights.subarray(l * rows * 2 * F, (l + 1) * rows * 2 * F);
      this.layers.push({ p: l % d, moving, waves: new Waves(frequencies.subarray(l * F, (l + 1) * F), theta, rows) });
    }
    const { speed } = n;
    this.speed = { W: unpack(speed.frequencies), w: unpack(speed.weights), offset: speed.offset, window: speed.window };
    this.Q = n.attractors.length;
    this.unitGoals = n.attractors;
    /** In the data's units. */
    this.attractors = n.attractors.map((a) => a.map((c, i) => c * n.scale[i] + n.centre[i]));
    this.own = n.world ?? { warps: [], places: this.attractors.map((a) => a.slice(0, 2)) };
    this.see([], this.own.places);
    this.out = new Float64Array(2 * rows);
    this.unit = new Float64Array(d);
    this.y = new Float64Array(d);
    this.u = new Float64Array(d);
    this.trail = this.layers.map(() => ({ scale: new Float64Array(d - 1), shear: new Float64Array(d - 1) }));
    this.latent = new Latent(n.attractors.map((a) => {
      this.unit.set(a);
      return Array.from(this.forward(this.unit, false));
    }), n);
  }

  /** Through further warps, in which the goals are at `places`; none: as it came. */
  see(warps, places) {
    const all = [...warps, ...this.own.warps];
    this.world = all.length ? new World({ warps: all, places }, this.centre, this.scale) : null;
    places.forEach((place, q) => this.attractors[q].splice(0, 2, ...place));
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
      const within = 1 / (1 + k4 * p * p * p * p);
      if (within < FADED) {
        if (jacobian) {
          this.trail[l].scale.fill(1);
          this.trail[l].shear.fill(0);
        }
        continue;
      }
      layer.waves.at(p, out);
      const fall = -4 * k4 * within * within * p * p * p;
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
    const { d, u, layers, latent } = this;
    const unit = this.#toUnit(x);
    latent.pull(this.forward(unit, true), u);
    const gain = Math.exp(this.#logSpeed(unit)) / (latent.norm + latent.soft);
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
    this.world?.slow(into);
    return into;
  }

  /** V at x. */
  potential(x) { return this.latent.height(this.forward(this.#toUnit(x), false)); }

  /** The attractor in which a state of the plane ends; -1 on a border. */
  basin(x) { return this.Q === 1 ? 0 : this.latent.fate(this.forward(this.#toUnit(x), false)); }

  /** The way from a state to rest: {t, x, arrived}. */
  rollOut(x0) { return rolled(this, x0); }
}
