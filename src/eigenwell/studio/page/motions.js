// Motions that remember, as they are drawn: every particle carries its goal and how far along it is.

// Share of the particles that begin anywhere; the others begin on the strokes.
const ANYWHERE = 0.6;

export class Motions {
  saddles = [];
  #ways = null;

  /** `regions`: where a motion that begins at a place ends. There is no one potential: a motion's depends on how far along it is. */
  constructor(learned, box, regions) {
    Object.assign(this, { learned, box, regions });
    const v = [0, 0, 0];
    const every = Math.max(1, Math.floor(learned.x.length / 120));
    const speeds = learned.x.filter((_, k) => k % every === 0).map((p, k) => {
      learned.lifted[learned.labels[k * every]].velocity([...learned.fromHome(p), learned.phases[k * every]], v);
      return Math.hypot(v[0], v[1]);
    }).sort((a, b) => a - b);
    this.typicalSpeed = speeds[speeds.length >> 1] || 1;
  }

  contours() { return []; }

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
    return { q: labels[k], z: [...this.learned.fromHome(x[k]), phases[k]] };
  }

  velocity(q, z, out) { return this.learned.lifted[q].velocity(z, out); }

  /** The motions from the starts of the strokes: [{q, points, speeds}]. */
  streamlines() {
    const { x, labels, phases, lifted, colours } = this.learned;
    this.#ways ??= x.map((p, k) => [p, labels[k], phases[k]]).filter(([, , phase]) => phase === 1).slice(0, 60)
      .map(([p, q]) => {
        const { t, x: way } = lifted[q].rollOut([...this.learned.fromHome(p), 1]);
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
