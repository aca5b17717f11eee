// The strokes and what was done to them. A stroke is never changed, only replaced: history is lists of the same strokes.

const LONGEST_HISTORY = 200;

export class Drawing extends EventTarget {
  strokes = [];
  #past = [];
  #future = [];
  #next = 1;

  get canUndo() { return this.#past.length > 0; }
  get canRedo() { return this.#future.length > 0; }

  find(id) { return this.strokes.find((s) => s.id === id) ?? null; }

  add(t, x, endedAt) {
    const stroke = Object.freeze({ id: this.#name(), t, x });
    this.#commit([...this.strokes, stroke], { what: "drawn", endedAt });
    return stroke;
  }

  remove(id) {
    if (this.find(id)) this.#commit(this.strokes.filter((s) => s.id !== id), { what: "deleted" });
  }

  move(id, dx, dy) {
    const moved = (s) => Object.freeze({ ...s, x: s.x.map(([a, b]) => [a + dx, b + dy]) });
    if (this.find(id) && (dx || dy)) {
      this.#commit(this.strokes.map((s) => (s.id === id ? moved(s) : s)), { what: "moved" });
    }
  }

  clear() {
    if (this.strokes.length) this.#commit([], { what: "cleared" });
  }

  /** All strokes at once, from a preset or a file; undo brings the old ones back. */
  replace(strokes) {
    this.#commit(strokes.map(({ t, x }) => Object.freeze({ id: this.#name(), t, x })), { what: "loaded" });
  }

  /** What was kept by autosave: the start of a history, not a step in it. */
  restore(strokes) {
    this.strokes = strokes.map(({ t, x }) => Object.freeze({ id: this.#name(), t, x }));
    this.#tell({ what: "restored" });
  }

  undo() { this.#step(this.#past, this.#future, "undone"); }

  redo() { this.#step(this.#future, this.#past, "redone"); }

  #step(from, to, what) {
    if (!from.length) return;
    to.push(this.strokes);
    this.strokes = from.pop();
    this.#tell({ what });
  }

  #commit(strokes, detail) {
    this.#past.push(this.strokes);
    if (this.#past.length > LONGEST_HISTORY) this.#past.shift();
    this.#future = [];
    this.strokes = strokes;
    this.#tell(detail);
  }

  #name() { return `s${this.#next++}`; }

  #tell(detail) { this.dispatchEvent(new CustomEvent("change", { detail })); }
}

/** Strokes as they come from storage or a server: what is not whole is left out. */
export function wholeStrokes(given) {
  if (!Array.isArray(given)) return [];
  const pair = (p) => Array.isArray(p) && p.length === 2 && p.every(Number.isFinite);
  return given.filter(
    (s) => s && Array.isArray(s.t) && Array.isArray(s.x) && s.t.length === s.x.length && s.t.length > 1
      && s.t.every(Number.isFinite) && s.x.every(pair),
  );
}

export function toCsv(strokes) {
  const rows = ["trajectory,time_s,x,y"];
  strokes.forEach(({ t, x }, k) => t.forEach((time, i) => rows.push(`${k},${time},${x[i][0]},${x[i][1]}`)));
  return rows.join("\n") + "\n";
}
