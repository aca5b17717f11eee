// "Unordered", as one can see it: the samples leave their strokes, lie about in no order, and come back with their labels.

import { colour } from "./palette.js";

// Seconds of the way out and back, and the least that they lie about.
const WAY = 0.8, LIE = 0.6;
// Dots that are drawn; of more samples evenly some.
const MOST = 700;

export class Shuffle {
  #dots = [];
  #clock = 0;
  /** When the way back began, null before. */
  #home = null;
  #before = {};

  get busy() { return this.#dots.length > 0; }

  start(strokes, labels) {
    const all = strokes.flatMap((s) => s.x.map((x, i) => ({ id: s.id, i, x })));
    const every = Math.max(1, Math.ceil(all.length / MOST));
    const place = () => 0.06 + 0.88 * Math.random();
    this.#dots = all.filter((_, k) => k % every === 0).map((dot) => ({ ...dot, away: [place(), place()], late: 0.3 * Math.random() }));
    this.#before = labels;
    this.#clock = 0;
    this.#home = null;
  }

  stop() { this.#dots = []; }

  /** `labels` once the server has answered, null before. True where everything has come back. */
  step(seconds, labels) {
    this.#clock += seconds;
    if (this.#home === null && labels && this.#clock > WAY + LIE) this.#home = this.#clock;
    if (this.#home === null || this.#clock < this.#home + 1.3 * WAY) return false;
    this.stop();
    return true;
  }

  /** How many of all samples have the label they had: [same, all]. */
  same(labels, strokes) { return agreement(this.#before, labels, strokes); }

  paint(ctx, view, theme, labels) {
    for (const { id, i, x, away, late } of this.#dots) {
      const home = view.toScreen(x), there = [away[0] * view.width, away[1] * view.height];
      const out = eased((this.#clock - late) / WAY) - (this.#home === null ? 0 : eased((this.#clock - this.#home - late) / WAY));
      const [px, py] = home.map((c, k) => c + out * (there[k] - c));
      const label = Array.isArray(labels?.[id]) ? labels[id][i] : labels?.[id];
      // Out there nobody knows whose they are.
      ctx.fillStyle = this.#home === null || !Number.isInteger(label) ? theme.faint : colour(theme, label);
      ctx.beginPath();
      ctx.arc(px, py, 2.6, 0, 2 * Math.PI);
      ctx.fill();
    }
  }
}

/** [same, all] samples of some strokes: labels before and after, one for a stroke or one for each of its samples. */
export function agreement(before, after, strokes) {
  const at = (label, i) => (Array.isArray(label) ? label[i] : label);
  let same = 0, all = 0;
  for (const { id, x } of strokes) {
    all += x.length;
    same += x.filter((_, i) => at(before[id], i) === at(after[id], i)).length;
  }
  return [same, all];
}

function eased(s) {
  const u = Math.min(Math.max(s, 0), 1);
  return u * u * (3 - 2 * u);
}
