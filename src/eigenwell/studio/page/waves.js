// Scale and shift of a coupling layer: sums of waves of one coordinate (fields/flows.py). They depend on one number alone, so
// they are looked up: cubics between exact values and slopes, finer where they matter and coarser farther out.

const HALF = 1.6, NODES = 2048;
// Nodes of every doubling beyond; steps grow eightfold in error there, and what they are for fades sixteenfold.
const OCTAVE = 512, OCTAVES = 5;

export class Waves {
  /** `rows` sums over the frequencies W, each with two weights for a frequency in theta. */
  constructor(W, theta, rows) {
    Object.assign(this, { W, theta, rows, F: W.length, inner: null, outer: new Array(2 * OCTAVES).fill(null) });
  }

  /** Values at p, then slopes, into `out`. */
  at(p, out) {
    const size = Math.abs(p);
    if (size < HALF) {
      this.inner ??= this.#table(-HALF, (2 * HALF) / NODES, NODES);
      this.#looked(this.inner, p, out);
      return;
    }
    const octave = Math.floor(Math.log2(size / HALF));
    if (!(octave < OCTAVES)) {
      this.#exact(p, out);
      return;
    }
    const low = HALF * 2 ** octave, which = 2 * octave + (p < 0 ? 1 : 0);
    this.outer[which] ??= this.#table(p < 0 ? -2 * low : low, low / OCTAVE, OCTAVE);
    this.#looked(this.outer[which], p, out);
  }

  #exact(p, out) {
    const { W, theta, F, rows } = this;
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

  #table(low, step, nodes) {
    const { W, theta, F, rows } = this;
    const values = new Float64Array((nodes + 1) * 2 * rows);
    const share = 1 / Math.sqrt(F);
    for (let f = 0; f < F; f++) {
      const w = W[f];
      // A rotation by one step; set right now and then, before rounding adds up.
      const c1 = Math.cos(w * step), s1 = Math.sin(w * step);
      let c = 0, s = 0;
      for (let i = 0; i <= nodes; i++) {
        if (i % 256 === 0) {
          c = Math.cos(w * (low + i * step)) * share;
          s = Math.sin(w * (low + i * step)) * share;
        }
        const at = i * 2 * rows;
        for (let r = 0; r < rows; r++) {
          const a = theta[r * 2 * F + f], b = theta[r * 2 * F + F + f];
          values[at + r] += a * c + b * s;
          values[at + rows + r] += w * (b * c - a * s);
        }
        const next = c * c1 - s * s1;
        s = s * c1 + c * s1;
        c = next;
      }
    }
    return { low, step, last: nodes - 1, values };
  }

  #looked({ low, step, last, values }, p, out) {
    const { rows } = this;
    const place = (p - low) / step, i = Math.min(place | 0, last), t = place - i;
    const from = i * 2 * rows, to = from + 2 * rows;
    const t2 = t * t, t3 = t2 * t;
    const h00 = 2 * t3 - 3 * t2 + 1, h01 = 1 - h00, h10 = (t3 - 2 * t2 + t) * step, h11 = (t3 - t2) * step;
    const g = (6 * t2 - 6 * t) / step, g10 = 3 * t2 - 4 * t + 1, g11 = 3 * t2 - 2 * t;
    for (let r = 0; r < rows; r++) {
      const a = values[from + r], b = values[to + r], da = values[from + rows + r], db = values[to + rows + r];
      out[r] = h00 * a + h01 * b + h10 * da + h11 * db;
      out[rows + r] = g * (a - b) + g10 * da + g11 * db;
    }
  }
}
