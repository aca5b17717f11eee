// What a field of the plane is seen through, as fields/*.py has it: walls, things in the way, goals elsewhere.
// x enters as a place of the world and leaves as one of the learned world; velocities come back.

const BACK = 0.1, SKIN = 1e-6, SLOW = 2, CENTRE = 1e-9, UNION = 4;
const TINY = 1e-300;

/** Gives a velocity the speed that it has in the learned world, in place; returns by how much the clock runs. */
function restored(v, speed) {
  const c = (speed + TINY) / (Math.hypot(v[0], v[1]) + TINY);
  for (let i = 0; i < 2; i++) v[i] *= c;
  return c;
}

const closed = (walls, none) => walls.map((c) => c ?? none);

/** Coordinates are stretched one by one; those without a wall are null. */
class Stretched {
  constructor(n) {
    Object.assign(this, n, { low: closed(n.low, -Infinity), high: closed(n.high, Infinity), slope: [1, 1] });
  }

  /** Which share of a margin is used, of the lower wall or of the upper one (then with -1), and how wide it is. */
  used(x, i) {
    const { margin: [below, above] } = this;
    const under = 1 - (x - this.low[i]) / below[i], over = 1 - (this.high[i] - x) / above[i];
    return under > over ? [under, 1, below[i]] : [over, -1, above[i]];
  }

  leave(v) {
    const speed = Math.hypot(v[0], v[1]);
    for (let i = 0; i < 2; i++) v[i] /= this.slope[i];
    return restored(v, speed);
  }

  brake() { return 1; }
}

/** Walls that nothing passes: before each the world is stretched to infinity. */
class Within extends Stretched {
  under = [1, 1];
  over = [1, 1];
  out = [0, 0];

  enter(x) {
    const { low, high, margin, braking } = this;
    for (let i = 0; i < 2; i++) {
      const [u, sign, m] = this.used(x[i], i), inner = Math.min(Math.max(u, 0), 1 - SKIN);
      this.under[i] = Math.min(Math.max(x[i] - low[i], SKIN * margin[0][i]) / braking, 1);
      this.over[i] = Math.min(Math.max(high[i] - x[i], SKIN * margin[1][i]) / braking, 1);
      this.out[i] = sign * Math.min(Math.max(u + SKIN - 1, 0) / BACK, 1);
      this.slope[i] = 1 / (1 - inner);
      if (u > 0) x[i] += sign * m * (Math.log(1 - inner) + u);
    }
  }

  /** The place of the world whose place in the learned one is z, in place. */
  back(z) {
    for (let i = 0; i < 2; i++) {
      const [w, sign, m] = this.used(z[i], i);
      if (w > 0) z[i] = (sign > 0 ? this.low[i] : this.high[i]) + sign * m * Math.max(Math.exp(-w), SKIN);
    }
  }

  /** The share of a velocity that is safe; what takes a state back from the wrong side is added to `back`. */
  brake(v, speed, back) {
    let slower = 1;
    for (let i = 0; i < 2; i++) {
      slower = Math.min(slower, ((v[i] > 0 ? this.over[i] : this.under[i]) * speed) / (Math.abs(v[i]) + TINY));
      back[i] += speed * this.out[i];
    }
    return slower;
  }
}

/** What keeps a field home: stretched beyond the data, and beyond a knee less and less. */
class Stretch extends Stretched {
  enter(x) {
    const { knee } = this, h = 1 - knee;
    for (let i = 0; i < 2; i++) {
      const [most, sign, m] = this.used(x[i], i), u = Math.max(most, 0), inner = Math.min(u, knee), share = h / (h + u - inner);
      const excess = inner / (1 - inner) - inner + (h ** -2 - 1) * (u - inner) * share;
      this.slope[i] = 1 + ((1 - inner) ** -2 - 1) * share * share;
      if (u > 0) x[i] -= sign * m * excess;
    }
  }

  /** The place of the world whose place in the learned one is z, in place. */
  back(z) {
    const { knee } = this, h = 1 - knee, top = knee / h;
    for (let i = 0; i < 2; i++) {
      const [w, sign, m] = this.used(z[i], i);
      if (!(w > 0)) continue;
      const rest = Math.max(w - top, 0) / h, less = h ** -2 - rest, root = Math.sqrt(less * less + 4 * rest);
      const u = w < top ? w / (1 + w) : knee + h * (less > 0 ? (2 * rest) / (less + root) : 0.5 * (root - less));
      z[i] += sign * m * (w - u);
    }
  }
}

/** Bodies that overlap, gone round as one. */
export class Around {
  constructor({ centre, centres, shapes, reach }) {
    Object.assign(this, { centre, shapes, reach });
    this.offsets = shapes.map((a, m) => {
      const off = [centre[0] - centres[m][0], centre[1] - centres[m][1]];
      return a.map((row) => row[0] * off[0] + row[1] * off[1]);
    });
    this.away = [0, 0];
    this.slope = [0, 0];
  }

  /** tau; its gradient into `slope`. */
  gauge([p, q]) {
    const found = this.shapes.map(([[a, b], [c, d]], m) => {
      const [bx, by] = this.offsets[m];
      const x = a * p + b * q, y = c * p + d * q;
      const k = 1 - bx * bx - by * by, along = bx * x + by * y;
      const root = Math.sqrt(along * along + k * (x * x + y * y) + TINY), tau = (along + root) / k;
      const gx = (tau * bx + x) / root, gy = (tau * by + y) / root;
      return [tau, a * gx + c * gy, b * gx + d * gy];
    });
    const least = Math.min(...found.map(([tau]) => tau));
    const sum = found.reduce((total, [tau]) => total + (least / tau) ** UNION, 0);
    const tau = found.length === 1 ? least : least * sum ** (-1 / UNION);
    for (let i = 0; i < 2; i++) {
      this.slope[i] = found.reduce((total, one) => total + (tau / one[0]) ** (UNION + 1) * one[1 + i], 0);
    }
    return tau;
  }

  enter(x) {
    const { away, centre, reach } = this;
    for (let i = 0; i < 2; i++) away[i] = x[i] - centre[i];
    if (away[0] === 0 && away[1] === 0) away[0] = CENTRE;
    const tau = this.gauge(away);
    const outer = Math.max(tau, 1 + SKIN), t = (outer - 1) / (reach - 1);
    this.near = tau < reach;
    this.left = (outer - 1) / (SLOW - 1);
    this.inside = tau / (1 + SKIN);
    if (!this.near) return;
    this.phi = (t * (reach + 1 - t)) / outer;
    const rise = (reach + 1 - 2 * t) / (reach - 1);
    this.bend = (rise - this.phi) / outer / rise;
    for (let i = 0; i < 2; i++) {
      away[i] *= outer / tau;
      x[i] = centre[i] + this.phi * away[i];
    }
  }

  back(z) {
    const { centre, reach } = this, sigma = this.gauge([z[0] - centre[0], z[1] - centre[1]]);
    if (sigma >= reach) return;
    const half = (reach + 1) / 2, t = sigma / (half + Math.sqrt(half * half - sigma));
    for (let i = 0; i < 2; i++) z[i] = centre[i] + ((1 + (reach - 1) * t) / (sigma + TINY)) * (z[i] - centre[i]);
  }

  leave(v) {
    if (!this.near) return 1;
    const { away, slope } = this;
    const speed = Math.hypot(v[0], v[1]);
    const along = this.bend * (slope[0] * v[0] + slope[1] * v[1]);
    for (let i = 0; i < 2; i++) v[i] = (v[i] - along * away[i]) / this.phi;
    return restored(v, speed);
  }

  brake(v, speed, back) {
    const { away, slope } = this;
    const towards = Math.max(-(slope[0] * v[0] + slope[1] * v[1]), 0);
    const out = (speed / Math.hypot(away[0], away[1])) * Math.min(Math.max((1 - this.inside) / BACK, 0), 1);
    for (let i = 0; i < 2; i++) back[i] += out * away[i];
    return Math.min((speed * Math.hypot(slope[0], slope[1]) * this.left) / (towards + TINY), 1);
  }
}

/** Goals, and places that are passed, elsewhere. */
class Moved {
  constructor({ matrix, shift, path, force, length }) {
    Object.assign(this, { matrix, shift, path, force, length });
  }

  enter(x) {
    const { matrix: m, shift, length: [lx, ly] } = this;
    let [a, b, c, d] = m.flat();
    let px = a * x[0] + b * x[1] + shift[0], py = c * x[0] + d * x[1] + shift[1];
    this.path.forEach((marks, s) => {
      let tx = px, ty = py, sa = 1, sb = 0, sc = 0, sd = 1;
      marks.forEach((mark, i) => {
        const [fx, fy] = this.force[s][i];
        const ax = (px - mark[0]) / lx, ay = (py - mark[1]) / ly, k = Math.exp(-0.5 * (ax * ax + ay * ay));
        const gx = (k * ax) / lx, gy = (k * ay) / ly;
        tx += k * fx;
        ty += k * fy;
        sa -= fx * gx;
        sb -= fx * gy;
        sc -= fy * gx;
        sd -= fy * gy;
      });
      [px, py] = [tx, ty];
      [a, b, c, d] = [sa * a + sb * c, sa * b + sb * d, sc * a + sd * c, sc * b + sd * d];
    });
    this.slope = [a, b, c, d];
    x[0] = px;
    x[1] = py;
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

  brake() { return 1; }
}

const KINDS = {
  within: (n) => new Within(n), stretch: (n) => new Stretch(n),
  around: (n) => new Around(n), moved: (n) => new Moved(n),
};

export class World {
  /** `n`: what report/numbers.py writes, or worlds.js makes; centre and scale are those of the field. */
  constructor(n, centre, scale) {
    this.warps = n.warps.map((one) => KINDS[one.kind](one));
    this.places = n.places;
    Object.assign(this, { centre, scale, x: [0, 0] });
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
    const { x } = this, speed = Math.hypot(v[0], v[1]), back = [0, 0];
    let slow = 1;
    for (let i = 0; i < 2; i++) x[i] = v[i];
    for (const warp of this.warps) slow = Math.min(slow, warp.brake(x, speed, back));
    const straight = Math.hypot(back[0], back[1]) / (speed + TINY);
    slow *= Math.max(1 - straight, 0);
    for (let i = 0; i < 2; i++) v[i] = slow * v[i] + back[i] / Math.max(straight, 1);
    for (let i = 2; i < v.length; i++) v[i] *= slow;
  }
}
