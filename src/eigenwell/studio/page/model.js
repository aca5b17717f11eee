// A stable field in numbers, evaluated as eigenwell does it (fields/stable.py, flows.py): in the plane, and with the phase
// as a third coordinate where motions remember. Nothing here knows of a page: node tests it, and shared pages carry it.

import { braked2, braked3, moved2, moved3, pulled2, pulled3, within2, within3 } from "./formulas.js";
import { Latent } from "./latent.js";
import { World } from "./warps.js";
import { Waves } from "./waves.js";
import { rolled } from "./ways.js";

const FORMULAS = {
  2: { braked: braked2, moved: moved2, pulled: pulled2, within: within2 },
  3: { braked: braked3, moved: moved3, pulled: pulled3, within: within3 },
};
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
    Object.assign(this, FORMULAS[d], { centre: n.centre, scale: n.scale, window: [n.window], brake: n.brake });
    this.gain = n.scale.map((side) => side * n.pace);
    const frequencies = unpack(n.frequencies), weights = unpack(n.weights);
    const F = frequencies.length / n.layers, rows = (this.rows = 2 * (d - 1));
    this.layers = [];
    for (let l = 0; l < n.layers; l++) {
      const theta = weights.subarray(l * rows * 2 * F, (l + 1) * rows * 2 * F);
      // One coordinate passes, the others move, in turn.
      const order = Array.from({ length: d }, (_, i) => (l + i) % d);
      const waves = new Waves(frequencies.subarray(l * F, (l + 1) * F), theta, rows);
      this.layers.push({ order, waves, scale: new Float64Array(d - 1), shear: new Float64Array(d - 1) });
    }
    const { speed } = n;
    this.speed = { W: unpack(speed.frequencies), w: unpack(speed.weights), offset: speed.offset, window: [speed.window] };
    this.Q = n.attractors.length;
    this.unitGoals = n.attractors;
    /** In the data's units. */
    this.attractors = n.attractors.map((a) => a.map((c, i) => c * n.scale[i] + n.centre[i]));
    this.own = n.world ?? { warps: [], places: this.attractors.map((a) => a.slice(0, 2)) };
    this.see([], this.own.places);
    this.out = new Float64Array(2 * rows);
    this.slopes = this.out.subarray(rows);
    for (const name of ["unit", "y", "u", "turned"]) this[name] = new Float64Array(d);
    this.number = [0];
    this.latent = new Latent(n.attractors.map((a) => {
      this.unit.set(a);
      return Array.from(this.forward(this.unit));
    }), n);
  }

  /** Through further warps, in which the goals are at `places`; none: as it came. */
  see(warps, places) {
    const all = [...warps, ...this.own.warps];
    this.world = all.length ? new World({ warps: all, places }, this.centre, this.scale) : null;
    places.forEach((place, q) => this.attractors[q].splice(0, 2, ...place));
  }

  /** psi(x) of unit coordinates; each layer keeps the factors of its Jacobian. */
  forward(x) {
    const { d, y, out, slopes, turned, window } = this, k2 = window[0] * window[0];
    y.set(x);
    for (const { order, waves, scale, shear } of this.layers) {
      const p = y[order[0]];
      if (1 + (k2 * p * p) ** 2 > 1 / FADED) {
        scale.fill(1);
        shear.fill(0);
        continue;
      }
      waves.at(p, out);
      for (let i = 0; i < d; i++) turned[i] = y[order[i]];
      this.moved(window, turned, out, slopes, turned, scale, shear);
      for (let i = 0; i < d; i++) y[order[i]] = turned[i];
    }
    return y;
  }

  #logSpeed(x) {
    const { W, w, offset, window } = this.speed;
    const { d } = this;
    const F = w.length / 2;
    let sum = 0;
    for (let f = 0; f < F; f++) {
      let angle = 0;
      for (let i = 0; i < d; i++) angle += W[f * d + i] * x[i];
      sum += w[f] * Math.cos(angle) + w[F + f] * Math.sin(angle);
    }
    this.within(window, x, this.number);
    return F ? offset + (sum / Math.sqrt(F)) * this.number[0] : offset;
  }

  #toUnit(x) {
    for (let i = 0; i < this.d; i++) this.unit[i] = (x[i] - this.centre[i]) / this.scale[i];
    this.world?.enter(this.unit);
    return this.unit;
  }

  /** xdot at x, both in the data's units, into `into`. */
  velocity(x, into) {
    const { d, u, layers, latent, turned } = this;
    const unit = this.#toUnit(x);
    latent.heading(this.forward(unit), u);
    const speed = Math.exp(this.#logSpeed(unit));
    for (let i = 0; i < d; i++) u[i] *= speed;
    for (let l = layers.length - 1; l >= 0; l--) {
      const { order, scale, shear } = layers[l];
      for (let i = 0; i < d; i++) turned[i] = u[order[i]];
      this.pulled(scale, shear, turned, turned);
      for (let i = 0; i < d; i++) u[order[i]] = turned[i];
    }
    this.world?.leave(u);
    this.braked(this.brake, this.gain, u, into, this.number);
    this.world?.slow(into);
    return into;
  }

  /** V at x. */
  potential(x) { return this.latent.height(this.forward(this.#toUnit(x))); }

  /** The attractor in which a state of the plane ends; -1 on a border. */
  basin(x) { return this.Q === 1 ? 0 : this.latent.fate(this.forward(this.#toUnit(x))); }

  /** The way from a state to rest: {t, x, arrived}. */
  rollOut(x0) { return rolled(this, x0); }
}
