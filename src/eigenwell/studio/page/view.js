// Between the world (x right, y up, about [-1, 1] on the shorter side) and the screen (CSS pixels, y down).

// A little air around the unit square, so that a stroke that starts at its edge is not cut.
const HALF = 1.05;
// Pixels at the top and at the bottom that buttons may cover: what is fitted keeps clear of them.
export const TOP = 40;
export const BOTTOM = 70;
// How far one may look in and out, times the fitted view.
const CLOSEST = 40, WIDEST = 1 / 12;

export class View {
  width = 1;
  height = 1;
  scale = 1;
  /** The point of the world that is shown at the point `middle` of the screen. */
  centre = [0, 0];
  middle = [0, 0];
  /** Scale of the fitted view, and whether somebody has moved away from it. */
  fitted = 1;
  moved = false;

  /** Take the size of the canvas, and zoom out or aside when strokes would lie outside. */
  fit(width, height, strokes) {
    this.resize(width, height);
    const free = Math.max(this.height - TOP - BOTTOM, 50);
    this.scale = Math.min(this.width, free) / (2 * HALF);
    this.centre = [0, 0];
    this.moved = false;
    if (!this.holds(strokes)) {
      const [x0, y0, x1, y1] = extent(strokes);
      const side = Math.max(x1 - x0, y1 - y0, 1e-9);
      this.scale = Math.min(this.scale, 0.94 * Math.min(this.width / (x1 - x0 || side), free / (y1 - y0 || side)));
      this.centre = [(x0 + x1) / 2, (y0 + y1) / 2];
    }
    this.fitted = this.scale;
  }

  /** Another size of the canvas: what is in the middle stays there. */
  resize(width, height) {
    this.width = Math.max(width, 1);
    this.height = Math.max(height, 1);
    this.middle = [this.width / 2, (this.height + TOP - BOTTOM) / 2];
  }

  /** Nearer by a factor, with the point of the screen under the pointer in its place. */
  zoom(factor, at = this.middle) {
    const [x, y] = this.toWorld(at);
    this.scale = Math.min(Math.max(this.scale * factor, this.fitted * WIDEST), this.fitted * CLOSEST);
    const [px, py] = this.toScreen([x, y]);
    this.pan(at[0] - px, at[1] - py);
  }

  /** Everything by some pixels. */
  pan(dx, dy) {
    this.centre = [this.centre[0] - dx / this.scale, this.centre[1] + dy / this.scale];
    this.moved = true;
  }

  /** What of it is saved with a drawing, and back. */
  get kept() { return this.moved ? { centre: this.centre, zoom: this.scale / this.fitted } : null; }

  look(kept) {
    const sane = Array.isArray(kept?.centre) && kept.centre.length === 2 && [...kept.centre, kept.zoom].every(Number.isFinite);
    if (!sane || !(kept.zoom > 0)) return;
    this.centre = kept.centre;
    this.scale = Math.min(Math.max(kept.zoom, WIDEST), CLOSEST) * this.fitted;
    this.moved = true;
  }

  /** Whether all strokes are in sight. */
  holds(strokes) {
    const [x0, y0, x1, y1] = this.box();
    const [a0, b0, a1, b1] = extent(strokes);
    return !strokes.length || (a0 >= x0 && b0 >= y0 && a1 <= x1 && b1 <= y1);
  }

  /** Pixels from a place of the world to a point of the screen. */
  away(place, [px, py]) {
    const [x, y] = this.toScreen(place);
    return Math.hypot(x - px, y - py);
  }

  toScreen([x, y]) {
    return [this.middle[0] + (x - this.centre[0]) * this.scale, this.middle[1] - (y - this.centre[1]) * this.scale];
  }

  toWorld([px, py]) {
    return [this.centre[0] + (px - this.middle[0]) / this.scale, this.centre[1] - (py - this.middle[1]) / this.scale];
  }

  /** The visible part of the world: x0, y0, x1, y1; `around` adds a share of it on every side, in whole pixels. */
  box(around = 0) {
    const [w, h] = [Math.round(around * this.width), Math.round(around * this.height)];
    const [x0, y1] = this.toWorld([-w, -h]);
    const [x1, y0] = this.toWorld([this.width + w, this.height + h]);
    return [x0, y0, x1, y1];
  }
}

function extent(strokes) {
  let x0 = Infinity, y0 = Infinity, x1 = -Infinity, y1 = -Infinity;
  for (const { x } of strokes) {
    for (const [a, b] of x) {
      x0 = Math.min(x0, a); x1 = Math.max(x1, a); y0 = Math.min(y0, b); y1 = Math.max(y1, b);
    }
  }
  return [x0, y0, x1, y1];
}

/** Middle and distance of two fingers, by whatever names they have. */
export function between(fingers) {
  const [[ax, ay], [bx, by]] = [...fingers.values()];
  return { x: (ax + bx) / 2, y: (ay + by) / 2, apart: Math.max(Math.hypot(ax - bx, ay - by), 1) };
}
