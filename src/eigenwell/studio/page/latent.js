// The stable system that every field is, behind its change of coordinates (fields/stable.py): a state moves towards the
// inverse-distance mean of the goals. It alone decides where a state ends.

const TINY = 1e-30;
// Fates are looked up where all nodes around agree. The whole plane is a disc, u -> u / (1 + |u|) with u in units of how far the
// goals are apart, with so many nodes across; the outermost part is not looked up.
const SIDE = 288, RIM = 0.98;
const UNKNOWN = -2;
// A state this far from rest after so many steps is on a border.
const LONGEST = 4000;

export class Latent {
  /** `goals` (Q, d) in latent coordinates; the others as studio/numbers.py writes them. */
  constructor(goals, { log_weights, swirls, softening }) {
    const d = (this.d = goals[0].length);
    const top = Math.max(...log_weights);
    Object.assign(this, { goals, swirls, softening, Q: goals.length, weights: log_weights.map((w) => Math.exp(w - top)) });
    this.total = this.weights.reduce((a, b) => a + b, 0);
    this.turning = swirls.some((m) => m.some((row) => row.some((c) => c !== 0)));
    this.turn = 1 + Math.max(...swirls.map((m) => Math.hypot(...m.flat()) / (d > 1 ? Math.SQRT2 : 1)));
    /** Of the last pull: |e|, epsilon. */
    this.norm = this.soft = 0;
    this.a = new Float64Array(this.Q);
    this.e = new Float64Array(d);
    this.y = new Float64Array(d);
    this.at = new Float64Array(d);
    this.k = [0, 1, 2, 3].map(() => new Float64Array(d));
    this.table = null;
  }

  /** -(I + Omega) e into `into`, at a latent place. */
  pull(y, into) {
    const { d, Q, e, a, goals, weights, swirls } = this;
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
        const swirl = swirls[q];
        for (let i = 0; i < d; i++) for (let j = 0; j < d; j++) into[i] -= a[q] * swirl[i][j] * e[j];
      }
    }
    this.norm = Math.sqrt(squares);
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
    const { middle, apart, fates } = (this.table ??= this.#frame());
    const x = (y[0] - middle[0]) / apart, z = (y[1] - middle[1]) / apart, r = Math.hypot(x, z);
    if (r / (1 + r) > RIM) return this.followed(y[0], y[1]);
    const i = Math.floor((x / (1 + r) + 1) * (SIDE / 2)), j = Math.floor((z / (1 + r) + 1) * (SIDE / 2));
    const first = this.#node(fates, i, j);
    for (let b = j - 1; b <= j + 2; b++) {
      for (let a = i - 1; a <= i + 2; a++) if (this.#node(fates, a, b) !== first) return this.followed(y[0], y[1]);
    }
    return first;
  }

  #frame() {
    const [low, high] = [Math.min, Math.max].map((f) => [0, 1].map((i) => f(...this.goals.map((g) => g[i]))));
    const apart = Math.max(high[0] - low[0], high[1] - low[1], 1e-9);
    return { middle: [0, 1].map((i) => (low[i] + high[i]) / 2), apart, fates: new Int8Array((SIDE + 1) ** 2).fill(UNKNOWN) };
  }

  #node(fates, i, j) {
    const k = j * (SIDE + 1) + i;
    if (fates[k] === UNKNOWN) {
      const v = (2 * i) / SIDE - 1, w = (2 * j) / SIDE - 1, { middle, apart } = this.table;
      const out = apart / Math.max(1 - Math.hypot(v, w), 1e-3);
      fates[k] = this.followed(middle[0] + v * out, middle[1] + w * out);
    }
    return fates[k];
  }

  /** The same, followed all the way. */
  followed(y0, y1) {
    const { Q, goals, weights, k, at, y } = this;
    y[0] = y0;
    y[1] = y1;
    const delta = 0.1 / Math.max(1, this.turn - 1);
    for (let step = 0; step < LONGEST; step++) {
      let near = 0, least = Infinity, total = 0, sum = 0;
      for (let q = 0; q < Q; q++) {
        const r2 = TINY + (y[0] - goals[q][0]) ** 2 + (y[1] - goals[q][1]) ** 2;
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
      this.pull(y, k[0]);
      if (this.norm < 1e-12) return -1;
      for (let stage = 1; stage < 4; stage++) {
        const part = stage < 3 ? 0.5 * delta : delta;
        for (let i = 0; i < 2; i++) at[i] = y[i] + part * k[stage - 1][i];
        this.pull(at, k[stage]);
      }
      for (let i = 0; i < 2; i++) y[i] += (delta / 6) * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
    return -1;
  }
}
