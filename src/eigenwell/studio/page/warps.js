// What a field of the plane is seen through: walls, things in the way, goals elsewhere. The formulas are those of fields/*.py
// (formulas.js); here they are asked in turn. x enters as a place of the world and leaves as one of the learned world;
// velocities come back.

import {
  affine, aroundBrake, aroundCarry, aroundThrough, aside, gaugeOf, joined, nudged, product, returning, stretchCarry, stretchInverse,
  stretchThrough, withinBrake, withinCarry, withinInverse, withinThrough,
} from "./formulas.js";

const numbers = (list, none) => Float64Array.from(list.flat(2), (c) => c ?? none);

class Warp {
  /** The numbers of DS, and by how much the clock runs. */
  seen = new Float64Array(8);
  clock = [1];

  /** Takes a velocity of the learned world back, in place; returns by how much the clock runs. */
  leave(v) {
    this.carry(v, this.seen, v, this.clock);
    return this.clock[0];
  }

  /** The share of a velocity that is safe, and what takes a state back from the wrong side; false where nothing is to be touched. */
  brake(v, share, back) {
    this.stop?.(v, this.seen, share, back);
    return Boolean(this.stop);
  }
}

/** Coordinates are stretched one by one, by walls that nothing passes or by what keeps a field home; a wall that is not there is null. */
class Stretched extends Warp {
  constructor({ low, high, margin, braking, knee }, formulas) {
    super();
    Object.assign(this, formulas, { low: numbers(low, -Infinity), high: numbers(high, Infinity), margin: numbers(margin) });
    this.last = [braking ?? knee];
  }

  enter(x) { this.through(x, this.low, this.high, this.margin, this.last, x, this.seen); }

  /** The place of the world whose place in the learned one is z, in place. */
  back(z) { this.inverse(z, this.low, this.high, this.margin, this.last, z); }
}

/** Bodies that overlap, gone round as one. */
export class Around extends Warp {
  carry = aroundCarry;
  stop = aroundBrake;

  constructor({ centre, centres, shapes, reach }) {
    super();
    Object.assign(this, { centre, reach: [reach], bodies: shapes.map((shape, m) => [centres[m], shape.flat()]) });
    Object.assign(this, { away: [0, 0], tau: [0], slope: [0, 0], other: [[0], [0, 0]] });
  }

  /** tau at centre + away; its gradient into `slope`. */
  gauge(away) {
    const { tau, slope, bodies, centre, other: [own, its] } = this;
    for (let m = 0; m < bodies.length; m++) {
      const [middle, shape] = bodies[m];
      if (m === 0) gaugeOf(centre, middle, shape, away, tau, slope);
      else {
        gaugeOf(centre, middle, shape, away, own, its);
        joined(tau, slope, own, its, tau, slope);
      }
    }
    return tau[0];
  }

  enter(x) {
    const { away, centre } = this;
    for (let i = 0; i < 2; i++) away[i] = x[i] - centre[i];
    aside(away, away);
    this.gauge(away);
    aroundThrough(away, this.tau, this.slope, centre, this.reach, x, this.seen);
  }

  /** As Around.inverse. */
  back(z) {
    const { centre, reach: [reach] } = this, sigma = this.gauge([z[0] - centre[0], z[1] - centre[1]]);
    if (sigma >= reach || sigma === 0) return;
    const half = (reach + 1) / 2, t = sigma / (half + Math.sqrt(half * half - sigma));
    for (let i = 0; i < 2; i++) z[i] = centre[i] + ((1 + (reach - 1) * t) / sigma) * (z[i] - centre[i]);
  }
}

/** Goals, and places that are passed, elsewhere. */
class Moved extends Warp {
  constructor({ matrix, shift, path, force, length }) {
    super();
    Object.assign(this, { matrix: matrix.flat(), shift, path, force, length, slope: [], to: [0, 0], step: [] });
  }

  enter(x) {
    const { matrix, shift, path, force, length, slope, to, step } = this;
    affine(x, matrix, shift, x, slope);
    for (let s = 0; s < path.length; s++) {
      for (let k = 0; k < 4; k++) step[k] = k % 3 ? 0 : 1;
      [to[0], to[1]] = x;
      for (let i = 0; i < path[s].length; i++) nudged(x, path[s][i], force[s][i], length, to, step, to, step);
      [x[0], x[1]] = to;
      product(step, slope, slope);
    }
  }

  /** By Newton's method on the whole of it, from z itself. */
  back(z) {
    const at = [z[0], z[1]], there = [0, 0], off = [0, 0];
    for (let k = 0; k < 60; k++) {
      [there[0], there[1]] = at;
      this.enter(there);
      for (let i = 0; i < 2; i++) off[i] = z[i] - there[i];
      if (Math.hypot(...off) < 1e-10) break;
      this.leave(off);
      // No longer than a landmark's surroundings: beyond them the slope says nothing.
      const short = Math.min(1, (0.3 * Math.min(...this.length)) / Math.hypot(...off));
      for (let i = 0; i < 2; i++) at[i] += short * off[i];
    }
    [z[0], z[1]] = at;
  }

  leave(v) {
    const [a, b, c, d] = this.slope, whole = a * d - b * c, [x, y] = v;
    v[0] = (d * x - b * y) / whole;
    v[1] = (a * y - c * x) / whole;
    return 1;
  }
}

const WALLS = { through: withinThrough, carry: withinCarry, stop: withinBrake, inverse: withinInverse };
const HOME = { through: stretchThrough, carry: stretchCarry, inverse: stretchInverse };
const KINDS = {
  within: (n) => new Stretched(n, WALLS), stretch: (n) => new Stretched(n, HOME), around: (n) => new Around(n), moved: (n) => new Moved(n),
};

export class World {
  /** `n`: what report/numbers.py writes, or worlds.js makes; centre and scale are those of the field. */
  constructor(n, centre, scale) {
    this.warps = n.warps.map((one) => KINDS[one.kind](one));
    this.places = n.places;
    Object.assign(this, { centre, scale, x: [0, 0], share: [1], more: [0, 0] });
  }

  /** Unit coordinates of the world become those of the learned one, in place; a phase passes. */
  enter(unit) {
    const { x, centre, scale } = this;
    for (let i = 0; i < 2; i++) x[i] = unit[i] * scale[i] + centre[i];
    for (const warp of this.warps) warp.enter(x);
    for (let i = 0; i < 2; i++) unit[i] = (x[i] - centre[i]) / scale[i];
  }

  /** Where a place of the learned world is in this one, both in the data's units. */
  inverse([x, y]) {
    const z = [x, y];
    for (let k = this.warps.length - 1; k >= 0; k--) this.warps[k].back(z);
    return z;
  }

  /** c DS^-1 of a velocity in unit coordinates, in place. */
  leave(u) {
    const { x, scale } = this;
    let clock = 1;
    for (let i = 0; i < 2; i++) x[i] = u[i] * scale[i];
    for (let k = this.warps.length - 1; k >= 0; k--) clock *= this.warps[k].leave(x);
    for (let i = 0; i < 2; i++) u[i] = x[i] / scale[i];
    for (let i = 2; i < u.length; i++) u[i] *= clock;
  }

  /** Walls and stones brake a velocity that is no faster than the limit, in the data's units and in place. */
  slow(v) {
    const { share, more } = this, slow = [1], back = [0, 0];
    for (const warp of this.warps) {
      if (!warp.brake(v, share, more)) continue;
      slow[0] = Math.min(slow[0], share[0]);
      for (let i = 0; i < 2; i++) back[i] += more[i];
    }
    returning(v, slow, back, v, slow);
    for (let i = 2; i < v.length; i++) v[i] *= slow[0];
  }
}
