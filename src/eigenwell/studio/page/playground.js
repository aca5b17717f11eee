// What a hand does to the world of a learned field: goals carried elsewhere, stones dropped in the way, walls drawn in. The field
// follows at once (worlds.js); nothing is learned again, and what cannot be is refused in words.

// Pixels: of a new stone's radius, the smallest, and how wide its rim is for a hand; walls begin so far inside the picture.
const STONE = 46, SMALLEST = 12, RIM = 9, INSIDE = 26;
const SIDES = [["low", 0], ["low", 1], ["high", 0], ["high", 1]];
// Of the radius: how far new stones are put from one that is there.
const BESIDE = 2.4;

export class Playground extends EventTarget {
  /** Goals elsewhere, by their numbers; stones {c, r}; walls {low, high}, infinite where open, or null. */
  goals = new Map();
  stones = [];
  walls = null;
  /** What arrows move: {kind, ...} as `at` gives it. */
  chosen = null;
  #learned = null;
  /** The last state that fits, and the one before the hand that moves it now; those before and after it. */
  #good = null;
  #rested = null;
  #steps = { back: [], on: [] };

  get isPlain() { return !this.goals.size && !this.stones.length && !this.walls; }

  /** In words: "goal 2 moved, one stone, walls". */
  get words() {
    const n = this.goals.size, stones = this.stones.length;
    const numbers = [...this.goals.keys()].map((q) => q + 1).sort().join(" and ");
    const said = [n && `goal${n > 1 ? "s" : ""} ${numbers} moved`, stones && (stones === 1 ? "one stone" : `${stones} stones`)];
    return [...said, this.walls && "walls"].filter(Boolean).join(", ");
  }

  /** A field that comes into this world; what does not fit it any more is taken out. */
  enter(learned) {
    this.#learned = learned;
    for (const q of this.goals.keys()) if (q >= learned.home.length) this.goals.delete(q);
    const tries = [() => {}, () => this.goals.clear(), () => { this.stones = []; }, () => { this.walls = null; }];
    for (const less of tries) {
      less();
      if (this.#fits()) break;
    }
    this.#keep();
    this.#rested = this.#good;
  }

  /** A hand let go, or a button was pressed: from now on it is a step that can be taken back. */
  rest() {
    if (this.#rested === this.#good) return;
    this.#steps = { back: [...this.#steps.back, this.#rested], on: [] };
    this.#rested = this.#good;
  }

  canStep(way) { return this.#steps[way].length > 0; }

  /** "back" to what a hand found, or "on" again; false where there is no such step. */
  step(way) {
    if (!this.canStep(way)) return false;
    this.#steps[way === "back" ? "on" : "back"].push(this.#rested);
    const { goals, stones, walls } = this.#steps[way].pop();
    Object.assign(this, { goals: new Map(goals), stones, walls, chosen: null });
    this.enter(this.#learned);
    this.#tell();
    return true;
  }

  /** Strokes were drawn: they show goals where they are, not where they were carried. */
  homeGoals() {
    const moved = this.goals.size > 0;
    this.goals.clear();
    if (moved) this.#fits();
    this.#keep();
    this.#rested = this.#good;
    this.#steps = { back: [], on: [] };
    if (moved) this.#tell();
  }

  putBack() {
    Object.assign(this, { goals: new Map(), stones: [], walls: null, chosen: null });
    this.#learned?.enter({});
    this.#keep();
    this.#tell();
  }

  /** A stone where it is in the way: in the middle of the picture or beside what is there; false where there is no room. */
  addStone(view) {
    const r = STONE / view.scale, middle = view.toWorld(view.middle);
    const rooms = [[0, 0], ...Array.from({ length: 24 }, (_, k) => {
      const [out, turn] = [(BESIDE * r * (1 + Math.floor(k / 8))), k * 2.4];
      return [out * Math.cos(turn), out * Math.sin(turn)];
    })];
    for (const [dx, dy] of rooms) {
      const c = [middle[0] + dx, middle[1] + dy], before = this.stones;
      if (before.some((other) => Math.hypot(other.c[0] - c[0], other.c[1] - c[1]) < other.r + r)) continue;
      this.stones = [...before, { c, r }];
      if (this.#fits()) {
        this.chosen = { kind: "stone", k: before.length };
        return this.#changed();
      }
      this.stones = before;
    }
    this.#fits();
    this.#refuse("There is no room for another stone here.");
    return false;
  }

  /** Walls a little inside the picture, to be drawn in; or none. */
  toggleWalls(view) {
    if (this.walls) this.walls = null;
    else {
      const [a, b] = [view.toWorld([INSIDE, view.height - INSIDE - 56]), view.toWorld([view.width - INSIDE, INSIDE + 34])];
      // All goals and stones between them.
      const room = 0.1 * Math.max(...this.#learned.box);
      const places = [...this.#learned.attractors, ...this.stones.flatMap(({ c, r }) => [c.map((v) => v - r), c.map((v) => v + r)])];
      const low = [0, 1].map((i) => Math.min(a[i], ...places.map((p) => p[i] - room)));
      const high = [0, 1].map((i) => Math.max(b[i], ...places.map((p) => p[i] + room)));
      this.walls = { low, high };
      this.chosen = { kind: "wall", side: "high", axis: 0 };
    }
    if (!this.#fits()) this.walls = null;
    this.#changed();
  }

  remove({ kind, k }) {
    if (kind === "stone") this.stones = this.stones.filter((_, i) => i !== k);
    this.chosen = null;
    this.#fits();
    this.#changed();
  }

  /** What a hand takes hold of at a place of the screen, null for nothing. */
  at(view, [px, py], reach) {
    const to = (p) => view.away(p, [px, py]);
    for (let k = this.stones.length - 1; k >= 0; k--) {
      const { c, r } = this.stones[k], away = to(c), size = r * view.scale;
      if (Math.abs(away - size) < Math.min(RIM, size / 3) + 2) return { kind: "rim", k };
      if (away < size) return { kind: "stone", k };
    }
    const goals = this.#learned?.attractors ?? [];
    const near = goals.map(to), q = near.indexOf(Math.min(...near));
    if (near[q] <= reach) return { kind: "goal", q };
    for (const [side, axis] of this.walls ? SIDES : []) {
      const wall = view.toScreen([this.walls[side][0], this.walls[side][1]])[axis];
      if (Math.abs((axis ? py : px) - wall) < reach) return { kind: "wall", side, axis };
    }
    return null;
  }

  /** All that can be taken hold of, for keys. */
  get handles() {
    return [
      ...(this.#learned?.attractors ?? []).map((_, q) => ({ kind: "goal", q })), ...this.stones.map((_, k) => ({ kind: "stone", k })),
      ...(this.walls ? SIDES.map(([side, axis]) => ({ kind: "wall", side, axis })) : []),
    ];
  }

  /** Where a handle is. */
  placeOf({ kind, q, k, side, axis }) {
    if (kind === "goal") return this.#learned.attractors[q];
    if (kind === "wall") return axis ? [0, this.walls[side][1]] : [this.walls[side][0], 0];
    return this.stones[k].c;
  }

  /** A handle to a place of the world; where that cannot be, it stays where it was. True where it has moved. */
  drag({ kind, q, k, side, axis }, place, view) {
    if (kind === "goal") this.goals.set(q, place);
    else if (kind === "stone") this.stones = this.stones.map((s, i) => (i === k ? { ...s, c: place } : s));
    else if (kind === "rim") {
      const r = (c) => Math.max(Math.hypot(place[0] - c[0], place[1] - c[1]), SMALLEST / view.scale);
      this.stones = this.stones.map((s, i) => (i === k ? { ...s, r: r(s.c) } : s));
    } else {
      const moved = [...this.walls[side]];
      moved[axis] = place[axis];
      this.walls = { ...this.walls, [side]: moved };
    }
    if (this.#fits(true)) return this.#changed();
    Object.assign(this, { goals: new Map(this.#good.goals), stones: this.#good.stones, walls: this.#good.walls });
    this.#fits();
    return false;
  }

  /** For `learned.enter`, and for what is taken away. */
  get edits() { return { goals: this.goals, stones: this.stones, ...this.walls }; }

  #fits(aloud = false) {
    try {
      this.#learned?.enter(this.edits);
      return true;
    } catch (error) {
      if (aloud) this.#refuse(error.message);
      return false;
    }
  }

  #keep() { this.#good = { goals: new Map(this.goals), stones: this.stones, walls: this.walls }; }

  #changed() {
    this.#keep();
    this.#tell();
    return true;
  }

  #tell() { this.dispatchEvent(new Event("change")); }

  #refuse(words) { this.dispatchEvent(new CustomEvent("refused", { detail: words })); }

  paint(ctx, view, theme) {
    const dark = theme.name === "dark";
    this.stones.forEach(({ c, r }, k) => {
      const [x, y] = view.toScreen(c), size = r * view.scale;
      const shade = ctx.createRadialGradient(x - 0.35 * size, y - 0.4 * size, 0.1 * size, x, y, size);
      for (const [at, tint] of dark ? [[0, "#7c828b"], [1, "#4a4f57"]] : [[0, "#c9cdd2"], [1, "#8d939b"]]) shade.addColorStop(at, tint);
      ctx.beginPath();
      ctx.arc(x, y, size, 0, 2 * Math.PI);
      ctx.fillStyle = shade;
      ctx.fill();
      ctx.lineWidth = this.chosen?.kind === "stone" && this.chosen.k === k ? 3 : 1.4;
      ctx.strokeStyle = theme.ink;
      ctx.stroke();
    });
    if (!this.walls) return;
    const [x0, y1] = view.toScreen(this.walls.low), [x1, y0] = view.toScreen(this.walls.high);
    ctx.fillStyle = dark ? "rgb(0 0 0 / .45)" : "rgb(40 46 56 / .14)";
    ctx.beginPath();
    ctx.rect(0, 0, view.width, view.height);
    ctx.rect(x0, y0, x1 - x0, y1 - y0);
    ctx.fill("evenodd");
    ctx.lineWidth = 3;
    ctx.strokeStyle = theme.ink;
    ctx.strokeRect(x0, y0, x1 - x0, y1 - y0);
    // A grip in the middle of every side.
    const [mx, my] = [(x0 + x1) / 2, (y0 + y1) / 2];
    for (const [x, y, w, h] of [[x0, my, 6, 26], [x1, my, 6, 26], [mx, y0, 26, 6], [mx, y1, 26, 6]]) {
      ctx.beginPath();
      ctx.roundRect(x - w / 2, y - h / 2, w, h, 3);
      ctx.fillStyle = theme.ink;
      ctx.fill();
    }
  }
}
