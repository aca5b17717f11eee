// A learned field as the page draws it and as particles follow it: over a grid that fills the view, or, where strokes cross,
// as motions that remember. All of it is evaluated here (model.js); the server is not asked again.

import { StableField, unpack } from "./model.js";

// Nodes of a grid along its longer side; every fourth is followed to its basin, the others only where those differ.
const LONGER = 92, COARSE = 4;
// Of the data's box: beyond this from every sample nothing was learned (fields.REACH).
const FAR = 0.25;
// What a whole phase counts, in boxes, when a motion looks for its start (fields.LATE).
const LATE = 0.5;
// Share of the particles with memory that begin anywhere; the others begin on the strokes.
const ANYWHERE = 0.6;
// Samples among which the nearest is sought, thinned evenly: strokes are far denser than the distances that matter.
const COMPARED = 400;

/** Null where the server sent something else. `colours`: of each attractor. */
export function learnedOf(numbers, colours = []) {
  try {
    return new Learned(numbers, colours);
  } catch {
    return null;
  }
}

class Learned {
  /** Of a grid, along its longer side. */
  nodes = LONGER;

  constructor({ map, goals, lifted, samples, saddles, separatrices }, colours) {
    this.map = map ? new StableField(map) : null;
    this.goals = (goals ?? []).map((n) => new StableField(n));
    this.lifted = (lifted ?? []).map((n) => new StableField(n));
    if (!this.map && !this.lifted.length) throw new Error("neither a map nor motions");
    Object.assign(this, { saddles: saddles ?? [], separatrices: separatrices ?? [] });
    this.attractors = this.map ? this.map.attractors : this.lifted.map((f) => f.attractors[0].slice(0, 2));
    this.colours = this.attractors.map((_, q) => colours[q] ?? q);
    const x = unpack(samples.x);
    this.x = Array.from({ length: x.length / 2 }, (_, k) => [x[2 * k], x[2 * k + 1]]);
    Object.assign(this, { labels: samples.labels, phases: samples.phases });
    const extent = [0, 1].map((i) => Math.max(...this.x.map((p) => p[i])) - Math.min(...this.x.map((p) => p[i])));
    this.box = extent.map((e) => Math.max(e, 0.02 * Math.max(...extent), 1e-9));
    const every = Math.max(1, Math.floor(this.x.length / COMPARED));
    this.few = this.x.filter((_, k) => k % every === 0).map((p) => p.map((c, i) => c / this.box[i]));
  }

  get hasMemory() { return this.lifted.length > 0; }

  /** What is drawn: the motions, or the field towards goal q, or the map; the latter two over a box of the world. */
  seen(q, box) {
    if (q !== null && this.goals[q]) return this.#grid(this.goals[q], box, q);
    return this.hasMemory ? new Motions(this) : this.#grid(this.map, box, null);
  }

  /** With which goal and phase a motion from here begins: those of the nearest sample, early ones preferred. */
  beginning([x, y]) {
    let best = 0, least = Infinity;
    for (let k = 0; k < this.x.length; k++) {
      const away = ((this.x[k][0] - x) / this.box[0]) ** 2 + ((this.x[k][1] - y) / this.box[1]) ** 2
        + (LATE * (1 - this.phases[k])) ** 2;
      if (away < least) { least = away; best = k; }
    }
    return { q: this.labels[best], phase: this.phases[best] };
  }

  /** The way of a particle that is set down here, as what is shown would take it: {t, x, q, arrived}, q a colour. */
  way(at, goal = null) {
    if (goal !== null && this.goals[goal]) return { ...this.goals[goal].rollOut(at), q: this.colours[goal] };
    if (this.hasMemory) {
      const { q, phase } = this.beginning(at);
      const { t, x, arrived } = this.lifted[q].rollOut([...at, phase]);
      return { t, x: x.map((z) => z.slice(0, 2)), q: this.colours[q], arrived };
    }
    const rolled = this.map.rollOut(at);
    const end = rolled.x.at(-1);
    const away = this.attractors.map((a) => Math.hypot(a[0] - end[0], a[1] - end[1]));
    return { ...rolled, q: this.colours[away.indexOf(Math.min(...away))] };
  }

  far(x, y) {
    const u = x / this.box[0], v = y / this.box[1];
    for (const p of this.few) if ((p[0] - u) ** 2 + (p[1] - v) ** 2 < FAR * FAR) return false;
    return true;
  }

  #grid(one, box, only) {
    const [w, h] = [box[2] - box[0], box[3] - box[1]];
    const [nx, ny] = [w, h].map((side) => Math.max(4, Math.round((this.nodes * side) / Math.max(w, h))));
    const n = nx * ny;
    const [vx, vy, potential] = [new Float64Array(n), new Float64Array(n), new Float64Array(n)];
    const far = new Array(n);
    const at = [0, 0], v = [0, 0];
    for (let k = 0; k < n; k++) {
      at[0] = box[0] + ((k % nx) * w) / (nx - 1);
      at[1] = box[1] + (Math.floor(k / nx) * h) / (ny - 1);
      one.velocity(at, v);
      vx[k] = v[0] || 0;
      vy[k] = v[1] || 0;
      potential[k] = one.potential(at);
      far[k] = this.far(at[0], at[1]);
    }
    const basin = only === null ? basins(one, box, nx, ny).map((q) => (q < 0 ? -1 : this.colours[q]))
      : new Array(n).fill(this.colours[only]);
    const field = new Field(box, nx, ny, vx, vy, potential, basin, far);
    const borders = only === null ? this : { saddles: [], separatrices: [] };
    return Object.assign(field, { saddles: borders.saddles, separatrices: borders.separatrices, exact: one });
  }
}

/** Where each node ends. Between nodes of a coarse grid that agree all do. */
function basins(one, [x0, y0, x1, y1], nx, ny) {
  const found = new Array(nx * ny).fill(0);
  if (one.Q === 1) return found;
  const known = new Map();
  const at = (i, j) => {
    const k = j * nx + i;
    if (!known.has(k)) known.set(k, one.basin([x0 + (i * (x1 - x0)) / (nx - 1), y0 + (j * (y1 - y0)) / (ny - 1)]));
    return known.get(k);
  };
  for (let j = 0; j < ny; j += COARSE) {
    for (let i = 0; i < nx; i += COARSE) {
      const [r, t] = [Math.min(i + COARSE, nx - 1), Math.min(j + COARSE, ny - 1)];
      const q = at(i, j);
      const same = at(r, j) === q && at(i, t) === q && at(r, t) === q;
      for (let b = j; b < Math.min(j + COARSE, ny); b++) {
        for (let a = i; a < Math.min(i + COARSE, nx); a++) found[b * nx + a] = same ? q : at(a, b);
      }
    }
  }
  return found;
}

/** Particles that carry their goal and how far along they are. They have no map: nothing is tinted. */
class Motions {
  saddles = [];
  separatrices = [];
  #ways = null;

  constructor(learned) {
    this.learned = learned;
    const [xs, ys] = [0, 1].map((i) => learned.x.map((p) => p[i]));
    this.box = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
    const v = [0, 0, 0];
    const every = Math.max(1, Math.floor(learned.x.length / 120));
    const speeds = learned.x.filter((_, k) => k % every === 0).map((p, k) => {
      learned.lifted[learned.labels[k * every]].velocity([...p, learned.phases[k * every]], v);
      return Math.hypot(v[0], v[1]);
    }).sort((a, b) => a - b);
    this.typicalSpeed = speeds[speeds.length >> 1] || 1;
  }

  contours() { return []; }
  borders() { return []; }

  /** A state (x, y, phase) and its goal: on a stroke, or as a motion begins at some place in a box that is not far. */
  born([x0, y0, x1, y1]) {
    const { x, labels, phases } = this.learned;
    if (Math.random() < ANYWHERE) {
      for (let tries = 0; tries < 4; tries++) {
        const at = [x0 + Math.random() * (x1 - x0), y0 + Math.random() * (y1 - y0)];
        if (this.learned.far(...at)) continue;
        const { q, phase } = this.learned.beginning(at);
        return { q, z: [...at, phase] };
      }
    }
    const k = Math.floor(Math.random() * x.length);
    return { q: labels[k], z: [...x[k], phases[k]] };
  }

  velocity(q, z, out) { return this.learned.lifted[q].velocity(z, out); }

  /** The motions from the starts of the strokes: [{q, points, speeds}]. */
  streamlines() {
    const { x, labels, phases, lifted, colours } = this.learned;
    this.#ways ??= x.map((p, k) => [p, labels[k], phases[k]]).filter(([, , phase]) => phase === 1).slice(0, 60)
      .map(([p, q]) => {
        const { t, x: way } = lifted[q].rollOut([...p, 1]);
        const points = way.map((z) => z.slice(0, 2));
        const speeds = points.map((_, i) => {
          const j = Math.max(i, 1);
          return points.length > 1 ? Math.hypot(points[j][0] - points[j - 1][0], points[j][1] - points[j - 1][1]) / (t[j] - t[j - 1]) : 0;
        });
        return { q: colours[q], points, speeds };
      });
    return this.#ways;
  }
}

class Field {
  constructor(box, nx, ny, vx, vy, potential, basin, far) {
    Object.assign(this, { box, nx, ny, vx, vy, potential, basin, far });
    this.dx = (box[2] - box[0]) / (nx - 1);
    this.dy = (box[3] - box[1]) / (ny - 1);
    const speeds = Array.from(vx, (v, i) => (far[i] ? 0 : Math.hypot(v, vy[i]))).filter((s) => s > 0).sort((a, b) => a - b);
    this.typicalSpeed = speeds[speeds.length >> 1] || 1;
  }

  point(i, j) { return [this.box[0] + i * this.dx, this.box[1] + j * this.dy]; }

  inside(x, y) { return x >= this.box[0] && x <= this.box[2] && y >= this.box[1] && y <= this.box[3]; }

  nearest(x, y) {
    const i = Math.min(Math.max(Math.round((x - this.box[0]) / this.dx), 0), this.nx - 1);
    const j = Math.min(Math.max(Math.round((y - this.box[1]) / this.dy), 0), this.ny - 1);
    return j * this.nx + i;
  }

  /** Bilinear velocity into out[0], out[1]; no array is made, it is called many thousand times a second. */
  velocity(x, y, out) {
    const a = Math.min(Math.max((x - this.box[0]) / this.dx, 0), this.nx - 1.000001);
    const b = Math.min(Math.max((y - this.box[1]) / this.dy, 0), this.ny - 1.000001);
    const i = a | 0, j = b | 0, s = a - i, r = b - j, k = j * this.nx + i;
    const w00 = (1 - s) * (1 - r), w10 = s * (1 - r), w01 = (1 - s) * r, w11 = s * r;
    const { vx, vy, nx } = this;
    out[0] = w00 * vx[k] + w10 * vx[k + 1] + w01 * vx[k + nx] + w11 * vx[k + nx + 1];
    out[1] = w00 * vy[k] + w10 * vy[k + 1] + w01 * vy[k + nx] + w11 * vy[k + nx + 1];
  }

  /** Level lines of the one potential where it was learned, {q, level 0..1, segments}, in the colours of the basins. */
  contours(levels = 9) {
    // sqrt: V is half a squared distance, so that its root makes even rings
    const height = this.potential.map((v, k) => (v >= 0 && !this.far[k] ? Math.sqrt(v) : NaN));
    const known = Array.from(height).filter(Number.isFinite).sort((a, b) => a - b);
    if (!known.length) return [];
    const top = known[Math.floor(0.98 * (known.length - 1))];
    const lines = [];
    for (let l = 1; l <= levels; l++) {
      const parts = new Map();
      for (const segment of marchingSquares(height, this, (top * l) / levels)) {
        const q = this.basin[this.nearest((segment[0] + segment[2]) / 2, (segment[1] + segment[3]) / 2)];
        if (!parts.has(q)) parts.set(q, []);
        parts.get(q).push(segment);
      }
      for (const [q, segments] of parts) lines.push({ q, level: l / levels, segments });
    }
    return lines;
  }

  /** Where one basin ends and another begins: the separatrices, as segments. */
  borders() {
    return this.separatrices.flatMap((curve) => curve.slice(1).map((p, i) => [...curve[i], ...p]));
  }

  /** Each node the mean of its neighbourhood, twice: steps of the grid become curves. */
  blurred(values) {
    const { nx, ny } = this;
    let now = values;
    for (let pass = 0; pass < 2; pass++) {
      now = now.map((_, k) => {
        const i = k % nx, j = (k - i) / nx;
        let sum = 0, n = 0;
        for (let b = Math.max(j - 1, 0); b <= Math.min(j + 1, ny - 1); b++) {
          for (let a = Math.max(i - 1, 0); a <= Math.min(i + 1, nx - 1); a++) { sum += now[b * nx + a]; n++; }
        }
        return sum / n;
      });
    }
    return now;
  }

  /** Streamlines that keep their distance: [{q, points, speeds}], for pictures that stand still. */
  streamlines(spacing, from = this.box) {
    const cells = new Map();
    const cell = (x, y) => `${Math.floor(x / spacing)},${Math.floor(y / spacing)}`;
    const found = [];
    const v = [0, 0];
    const half = spacing / 2;
    for (let y = from[1] + half; y < from[3]; y += spacing) {
      for (let x = from[0] + half; x < from[2]; x += spacing) {
        if (cells.has(cell(x, y))) continue;
        const mine = found.length;
        const q = this.basin[this.nearest(x, y)];
        const trace = (sign) => {
          const points = [];
          let px = x, py = y;
          for (let step = 0; step < 160; step++) {
            this.velocity(px, py, v);
            const speed = Math.hypot(v[0], v[1]);
            if (!(speed > 1e-3 * this.typicalSpeed) || !this.inside(px, py)) break;
            px += (sign * v[0] * spacing) / (4 * speed);
            py += (sign * v[1] * spacing) / (4 * speed);
            // Between nodes of the grid a line could slip over a border; a particle never does.
            if (this.basin[this.nearest(px, py)] !== q) break;
            const owner = cells.get(cell(px, py));
            if (owner !== undefined && owner !== mine) break;
            cells.set(cell(px, py), mine);
            points.push([px, py]);
          }
          return points;
        };
        cells.set(cell(x, y), mine);
        const points = [...trace(-1).reverse(), [x, y], ...trace(1)];
        if (points.length > 5) found.push({ q, points, speeds: points.map(([a, b]) => (this.velocity(a, b, v), Math.hypot(v[0], v[1]))) });
      }
    }
    return found;
  }
}

function marchingSquares(h, { nx, ny, box, dx, dy }, level) {
  const segments = [];
  for (let j = 0; j + 1 < ny; j++) {
    for (let i = 0; i + 1 < nx; i++) {
      const k = j * nx + i;
      const a = h[k] - level, b = h[k + 1] - level, c = h[k + nx + 1] - level, d = h[k + nx] - level;
      if (!Number.isFinite(a + b + c + d)) continue;
      const kind = (a > 0) | ((b > 0) << 1) | ((c > 0) << 2) | ((d > 0) << 3);
      if (kind === 0 || kind === 15) continue;
      const x = box[0] + i * dx, y = box[1] + j * dy;
      const bottom = () => [x + (dx * a) / (a - b), y];
      const right = () => [x + dx, y + (dy * b) / (b - c)];
      const top = () => [x + (dx * d) / (d - c), y + dy];
      const left = () => [x, y + (dy * a) / (a - d)];
      const join = (p, q) => segments.push([...p(), ...q()]);
      switch (kind) {
        case 1: case 14: join(left, bottom); break;
        case 2: case 13: join(bottom, right); break;
        case 4: case 11: join(right, top); break;
        case 8: case 7: join(top, left); break;
        case 3: case 12: join(left, right); break;
        case 6: case 9: join(bottom, top); break;
        default: // a saddle: the value in the middle says which corners hang together
          if (a + b + c + d > 0 === (kind === 5)) { join(left, top); join(bottom, right); }
          else { join(left, bottom); join(right, top); }
      }
    }
  }
  return segments;
}
