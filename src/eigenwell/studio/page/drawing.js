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

  /** With velocities `v` it is samples from a brush.
   * `bent`: the same stroke with its end at a goal; a step of its own, so that undo gives it back as it was drawn. */
  add(t, x, endedAt, bent = null, v = null) {
    const stroke = Object.freeze({ id: this.#name(), t, x, ...(v && { v }) });
    const before = this.strokes;
    this.#commit([...before, stroke], { what: "drawn", endedAt }, !bent);
    if (bent) this.#commit([...before, Object.freeze({ ...stroke, x: bent })], { what: "drawn", endedAt });
    return stroke;
  }

  remove(ids) {
    const gone = new Set([ids].flat());
    if (this.strokes.some((s) => gone.has(s.id))) this.#commit(this.strokes.filter((s) => !gone.has(s.id)), { what: "deleted" });
  }

  /** New lines for some strokes, {id: x}, in one step. */
  reshape(lines, what = "moved") {
    if (Object.keys(lines).length) {
      this.#commit(this.strokes.map((s) => (lines[s.id] ? Object.freeze({ ...s, x: lines[s.id] }) : s)), { what });
    }
  }

  /** Other times and lines for some strokes, {id: {t, x}}, in one step. */
  redraw(strokes) {
    this.#commit(this.strokes.map((s) => (strokes[s.id] ? Object.freeze({ ...s, ...strokes[s.id] }) : s)), { what: "changed" });
  }

  move(ids, dx, dy) {
    const chosen = [ids].flat().map((id) => this.find(id)).filter(Boolean);
    if (dx || dy) this.reshape(Object.fromEntries(chosen.map((s) => [s.id, s.x.map(([a, b]) => [a + dx, b + dy])])));
  }

  clear() {
    if (this.strokes.length) this.#commit([], { what: "cleared" });
  }

  /** All strokes at once, from a preset or a file; undo brings the old ones back. */
  replace(strokes) {
    this.#commit(strokes.map(({ t, x, v }) => Object.freeze({ id: this.#name(), t, x, ...(v && { v }) })), { what: "loaded" });
  }

  /** What was kept by autosave, with its history: the start of one, not a step in it. */
  restore({ strokes, past = [], future = [] }) {
    const named = new Map();
    const known = (s) => {
      const key = s.id ?? s;
      if (!named.has(key)) named.set(key, new Map());
      const same = named.get(key), line = JSON.stringify(s.x);
      const id = () => same.values().next().value?.id ?? this.#name();
      if (!same.has(line)) same.set(line, Object.freeze({ id: id(), t: s.t, x: s.x, ...(s.v && { v: s.v }) }));
      return same.get(line);
    };
    this.strokes = strokes.map(known);
    this.#past = past.map((list) => list.map(known));
    this.#future = future.map((list) => list.map(known));
    this.#tell({ what: "restored" });
  }

  /** The last steps on either side, for the autosave. */
  history(most) { return { past: this.#past.slice(-most), future: this.#future.slice(-most) }; }

  undo() { this.#step(this.#past, this.#future, "undone"); }

  redo() { this.#step(this.#future, this.#past, "redone"); }

  #step(from, to, what) {
    if (!from.length) return;
    to.push(this.strokes);
    this.strokes = from.pop();
    this.#tell({ what });
  }

  #commit(strokes, detail, told = true) {
    this.#past.push(this.strokes);
    if (this.#past.length > LONGEST_HISTORY) this.#past.shift();
    this.#future = [];
    this.strokes = strokes;
    if (told) this.#tell(detail);
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
      && s.t.every(Number.isFinite) && s.x.every(pair)
      && (!s.v || (Array.isArray(s.v) && s.v.length === s.x.length && s.v.every(pair))),
  );
}

/** Lines of Python with the strokes as arrays, seconds and places, ready for `identify`; samples of a brush have velocities. */
export function toNumpy(strokes) {
  const pairs = (list) => `np.array([${list.map(([a, b]) => `[${a}, ${b}]`).join(", ")}])`;
  const motions = strokes.filter((s) => !s.v), samples = strokes.filter((s) => s.v);
  const lines = ["import numpy as np", "", "import eigenwell as ew", ""];
  if (samples.length) {
    lines.push(`x = ${pairs(strokes.flatMap((s) => (s.v ? s.x : [])))}`, `v = ${pairs(samples.flatMap((s) => s.v))}`);
    return [...lines, "found = ew.identify(x, v)", ""].join("\n");
  }
  lines.push("strokes = [  # seconds, places", ...motions.map(({ t, x }) => `    (np.array([${t.join(", ")}]), ${pairs(x)}),`), "]");
  lines.push("demos = ew.Demonstrations.from_trajectories([x for _, x in strokes], time=[t for t, _ in strokes])");
  return [...lines, "found = ew.identify(demos)", ""].join("\n");
}

export function toCsv(strokes) {
  const rows = ["trajectory,time_s,x,y"];
  strokes.forEach(({ t, x }, k) => t.forEach((time, i) => rows.push(`${k},${time},${x[i][0]},${x[i][1]}`)));
  return rows.join("\n") + "\n";
}
