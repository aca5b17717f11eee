// From where particles end at which goal: one question, asked once for every pixel where it matters. Colours, borders and
// whatever else speaks of regions is read from the answers, so that they cannot disagree.

// Pixels between two nodes that are asked first; between nodes that agree, and whose neighbours do, all do.
const NODE = 8;
// Pixels between two points of a border.
const STRIDE = 4;
// Pixels across, at most, of a region that gets no border.
const SPECK = 14;

export class Regions {
  /**
   * fate    (place) -> goal, -1 on a border
   * box     x0, y0, x1, y1 of the world
   * pixel   of the world; the side of what has one colour
   */
  constructor(fate, box, pixel) {
    const nx = Math.max(2, Math.ceil((box[2] - box[0]) / pixel)), ny = Math.max(2, Math.ceil((box[3] - box[1]) / pixel));
    Object.assign(this, { box, pixel, nx, ny, goals: new Int8Array(nx * ny) });
    /** What the pixels cover: the box, and the rest of the last ones. */
    this.extent = [box[0], box[1], box[0] + nx * pixel, box[1] + ny * pixel];
    this.#fill(fate);
  }

  /** The goal of a place; at the edge that of the nearest one inside. */
  at(x, y) {
    const i = Math.min(Math.max(Math.floor((x - this.box[0]) / this.pixel), 0), this.nx - 1);
    const j = Math.min(Math.max(Math.floor((y - this.box[1]) / this.pixel), 0), this.ny - 1);
    return this.goals[j * this.nx + i];
  }

  #fill(fate) {
    const { nx, ny, pixel, box, goals } = this;
    const cx = Math.ceil(nx / NODE), cy = Math.ceil(ny / NODE);
    const place = [0, 0];
    const ask = (i, j) => {
      place[0] = box[0] + (i + 0.5) * pixel;
      place[1] = box[1] + (j + 0.5) * pixel;
      return fate(place);
    };
    const nodes = new Int8Array((cx + 1) * (cy + 1));
    for (let j = 0; j <= cy; j++) for (let i = 0; i <= cx; i++) nodes[j * (cx + 1) + i] = ask(i * NODE, j * NODE);
    // Cells to be asked pixel by pixel: those whose corners differ, then those that a border runs into from there.
    const asked = new Uint8Array(cx * cy), waiting = [];
    const wake = (i, j) => {
      if (i < 0 || j < 0 || i >= cx || j >= cy || asked[j * cx + i]) return;
      asked[j * cx + i] = 1;
      waiting.push([i, j]);
    };
    const corner = (i, j) => nodes[j * (cx + 1) + i];
    for (let j = 0; j < cy; j++) {
      for (let i = 0; i < cx; i++) {
        const q = corner(i, j);
        if (corner(i + 1, j) !== q || corner(i, j + 1) !== q || corner(i + 1, j + 1) !== q) wake(i, j);
        const right = Math.min((i + 1) * NODE, nx);
        for (let b = j * NODE; b < Math.min((j + 1) * NODE, ny); b++) goals.fill(q, b * nx + i * NODE, b * nx + right);
      }
    }
    while (waiting.length) {
      const [i, j] = waiting.pop();
      const [right, top] = [Math.min((i + 1) * NODE, nx) - 1, Math.min((j + 1) * NODE, ny) - 1];
      for (let b = j * NODE; b <= top; b++) {
        for (let a = i * NODE; a <= right; a++) {
          const k = b * nx + a, q = (goals[k] = ask(a, b));
          if (a === i * NODE && i && goals[k - 1] !== q) wake(i - 1, j);
          if (a === right && i < cx - 1 && goals[k + 1] !== q) wake(i + 1, j);
          if (b === j * NODE && j && goals[k - nx] !== q) wake(i, j - 1);
          if (b === top && j < cy - 1 && goals[k + nx] !== q) wake(i, j + 1);
        }
      }
    }
  }

  /** Where one region ends and another begins: lines of the world, each a list of places. */
  borders() {
    return (this.lines ??= chained(this.#crossings()).filter((line) => !this.#isSpeck(line)).map(smooth));
  }

  /** Round a few pixels alone: their colour says it, and dashes around them would be scribble. */
  #isSpeck(line) {
    const [a, z] = [line[0], line.at(-1)], wide = (k) => Math.max(...line.map((p) => p[k])) - Math.min(...line.map((p) => p[k]));
    return a[0] === z[0] && a[1] === z[1] && Math.max(wide(0), wide(1)) < SPECK * this.pixel;
  }

  /** Pieces of borders inside cells of a lattice, each end named by the edge that it lies on: [[name, place], [name, place]]. */
  #crossings() {
    const { nx, ny, goals } = this;
    const lx = Math.floor((nx - 1) / STRIDE), ly = Math.floor((ny - 1) / STRIDE);
    const label = (i, j) => goals[j * STRIDE * nx + i * STRIDE];
    // Between two nodes of the lattice: the first pixel that is no longer the first node's.
    const across = (i, j, upwards) => {
      const q = label(i, j);
      let s = 1;
      while (s < STRIDE && goals[(j * STRIDE + (upwards ? s : 0)) * nx + i * STRIDE + (upwards ? 0 : s)] === q) s++;
      return this.#place(i * STRIDE + (upwards ? 0.5 : s), j * STRIDE + (upwards ? s : 0.5));
    };
    const pieces = [];
    for (let j = 0; j < ly; j++) {
      for (let i = 0; i < lx; i++) {
        const [a, b, c, d] = [label(i, j), label(i + 1, j), label(i + 1, j + 1), label(i, j + 1)];
        const met = [];
        if (a !== b) met.push([`${i},${j}-`, across(i, j, false)]);
        if (b !== c) met.push([`${i + 1},${j}|`, across(i + 1, j, true)]);
        if (d !== c) met.push([`${i},${j + 1}-`, across(i, j + 1, false)]);
        if (a !== d) met.push([`${i},${j}|`, across(i, j, true)]);
        if (met.length === 2) pieces.push(met);
        else if (met.length > 2) {
          // Three regions meet, or two touch: all ends run to the middle.
          const middle = [`${i},${j}+`, this.#place(i * STRIDE + STRIDE / 2, j * STRIDE + STRIDE / 2)];
          for (const end of met) pieces.push([end, middle]);
        }
      }
    }
    return pieces;
  }

  #place(i, j) { return [this.box[0] + i * this.pixel, this.box[1] + j * this.pixel]; }
}

/** Pieces that share an end become one line; a line ends where it leaves the box, and where more than two ends meet. */
function chained(pieces) {
  const at = new Map();
  pieces.forEach((piece, k) => piece.forEach(([name]) => at.set(name, [...(at.get(name) ?? []), k])));
  const used = new Uint8Array(pieces.length);
  const walk = (from, k) => {
    const line = [from[1]];
    let end = from;
    while (k !== undefined) {
      used[k] = 1;
      const here = end[0];
      end = pieces[k][0][0] === here ? pieces[k][1] : pieces[k][0];
      line.push(end[1]);
      const next = at.get(end[0]);
      k = next.length === 2 ? next.find((n) => !used[n]) : undefined;
    }
    return line;
  };
  const lines = [];
  // First from where lines begin, then what is left: closed ones.
  for (const open of [true, false]) {
    pieces.forEach((piece, k) => {
      const from = piece.find(([name]) => !open || at.get(name).length !== 2);
      if (!used[k] && from) lines.push(walk(from, k));
    });
  }
  return lines;
}

/** Each point the mean of itself and its neighbours, twice: pixels are no corners. Ends stay. */
function smooth(line) {
  let now = line;
  for (let pass = 0; pass < 2; pass++) {
    now = now.map((p, i) => (i === 0 || i === now.length - 1 ? p : [0, 1].map((c) => (now[i - 1][c] + 2 * p[c] + now[i + 1][c]) / 4)));
  }
  return now;
}
