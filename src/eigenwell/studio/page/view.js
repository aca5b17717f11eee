// Between the world (x right, y up, about [-1, 1] on the shorter side) and the screen (CSS pixels, y down).

// A little air around the unit square, so that a stroke that starts at its edge is not cut.
const HALF = 1.05;
// Pixels at the top and at the bottom that buttons may cover: what is fitted keeps clear of them.
const TOP = 40;
const BOTTOM = 70;

export class View {
  width = 1;
  height = 1;
  scale = 1;
  /** The point of the world that is shown at the point `middle` of the screen. */
  centre = [0, 0];
  middle = [0, 0];

  /** Take the size of the canvas, and zoom out or aside when strokes would lie outside. */
  fit(width, height, strokes) {
    this.width = Math.max(width, 1);
    this.height = Math.max(height, 1);
    this.middle = [this.width / 2, (this.height + TOP - BOTTOM) / 2];
    const free = Math.max(this.height - TOP - BOTTOM, 50);
    this.scale = Math.min(this.width, free) / (2 * HALF);
    this.centre = [0, 0];
    if (this.holds(strokes)) return;
    const [x0, y0, x1, y1] = extent(strokes);
    const side = Math.max(x1 - x0, y1 - y0, 1e-9);
    this.scale = Math.min(this.scale, 0.94 * Math.min(this.width / (x1 - x0 || side), free / (y1 - y0 || side)));
    this.centre = [(x0 + x1) / 2, (y0 + y1) / 2];
  }

  /** Whether all strokes are in sight. */
  holds(strokes) {
    const [x0, y0, x1, y1] = this.box();
    const [a0, b0, a1, b1] = extent(strokes);
    return !strokes.length || (a0 >= x0 && b0 >= y0 && a1 <= x1 && b1 <= y1);
  }

  toScreen([x, y]) {
    return [this.middle[0] + (x - this.centre[0]) * this.scale, this.middle[1] - (y - this.centre[1]) * this.scale];
  }

  toWorld([px, py]) {
    return [this.centre[0] + (px - this.middle[0]) / this.scale, this.centre[1] - (py - this.middle[1]) / this.scale];
  }

  /** The visible part of the world: x0, y0, x1, y1. */
  box() {
    const [x0, y1] = this.toWorld([0, 0]);
    const [x1, y0] = this.toWorld([this.width, this.height]);
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
