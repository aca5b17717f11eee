// A field of the plane over a grid that fills the view: what is drawn of it, and what its many small particles follow.

// How much a node counts that is far from all strokes, where heights are shared out.
const ASIDE = 0.15;

export class Grid {
  /** Values at nx times ny nodes over a box, row by row; `regions` says where each place ends, `saddles` where regions meet. */
  constructor(learned, box, nx, ny, { vx, vy, potential, far, regions, saddles }) {
    Object.assign(this, { learned, box, nx, ny, vx, vy, potential, far, regions, saddles });
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

  /** How high every node lies, 0 to 1: the root of the share of the picture that lies lower. What falls along a way falls in it,
   * too; and a round valley is a funnel, however steep it is. */
  get heights() {
    if (!this.ranked) {
      const order = Array.from(this.potential, (v, k) => [v, k]).sort((a, b) => a[0] - b[0]);
      const counts = (k) => (this.far[k] ? ASIDE : 1), all = order.reduce((sum, [, k]) => sum + counts(k), 0);
      let lower = 0;
      this.ranked = new Float64Array(order.length);
      for (const [, k] of order) {
        this.ranked[k] = Math.sqrt(lower / all);
        lower += counts(k);
      }
    }
    return this.ranked;
  }

  /** Level lines where it was learned, {q, level 0..1, segments}, in the colours of the regions. */
  contours(levels = 9) {
    const height = this.heights.map((h, k) => (this.far[k] ? NaN : h));
    const top = Math.max(...height.filter(Number.isFinite), 0);
    const lines = [];
    for (let l = 1; l <= levels; l++) {
      const parts = new Map();
      for (const segment of marchingSquares(height, this, (top * l) / (levels + 0.5))) {
        const q = this.regions.at((segment[0] + segment[2]) / 2, (segment[1] + segment[3]) / 2);
        if (!parts.has(q)) parts.set(q, []);
        parts.get(q).push(segment);
      }
      for (const [q, segments] of parts) lines.push({ q, level: l / levels, segments });
    }
    return lines;
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
        const q = this.regions.at(x, y);
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
            if (this.regions.at(px, py) !== q) break;
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
