// The field on the page: what of it is shown, over which part of the world, and whether it is still on its way: first a sketch
// from the strokes alone, then what is being learned as soon as it follows them as well, then what was learned.

import { element } from "./answer.js";
import { learnedOf } from "./field.js";
import { announce } from "./notify.js";
import { grouped, sketched } from "./sketch.js";
import { REACH } from "./magnets.js";
import { welcome } from "./welcome.js";

const $ = (id) => document.getElementById(id);
// Milliseconds after the last turn of the wheel before the field is computed for what is then in view.
const SETTLED = 90;
// A grid reaches this share of the view beyond its edges, so that a small move shows no gap.
const AROUND = 0.15;
// Pixels of the screen to one of the regions, and share of the nodes of a grid, while a field changes several times a second.
const ROUGH = 4, FEWER = 0.55;
// A field follows strokes whose ways it misses by less than this share of the box on average (fields.fit.GOOD); so many are asked.
const GOOD = 0.05, ASKED = 6;

export class FieldView {
  /** Everything that was learned, and what of it is seen; a small living example while there is nothing. */
  learned = null;
  seen = null;
  rev = 0;
  /** Whether it is on its way; and whether it is no more than a sketch. */
  growing = false;
  sketch = false;
  /** Goal whose field alone is shown, null for all that was learned. */
  goal = null;
  #studio;
  #timer = 0;
  #waiting = null;
  /** What the sketch was made of. */
  #sketched = "";
  /** The last one that was learned to its end. */
  #whole = null;
  #empty = welcome();

  constructor(studio) { this.#studio = studio; }

  /** A field that came; false where it cannot be read. While a hand draws, one that grows waits: its frames come first. */
  show(numbers, rev, growing) {
    const studio = this.#studio;
    if (growing && studio.gestures.pen.busy) {
      this.#waiting = [numbers, rev, growing];
      return true;
    }
    this.#waiting = null;
    const learned = learnedOf(numbers, studio.found?.rev === rev ? studio.found.attractors.map((a) => a.colour) : this.learned?.colours);
    if (!learned) return false;
    // What is seen already follows the strokes: it stays until something else does, too.
    if (growing && this.learned && !follows(learned, studio.drawing.strokes, studio.labels)) return true;
    if (!growing) this.#whole = learned;
    this.#put(learned, rev, growing);
    return true;
  }

  /** A flow at once, from the strokes alone; nothing where they are samples, or are known to be followed already. */
  sketchNow() {
    const { drawing, found, rev, answered, goals, view, isKernel, isLive } = this.#studio;
    if (!isLive || isKernel || !drawing.strokes.length || drawing.strokes.some((s) => s.v)) return false;
    const told = answered === rev && found;
    if (told && !goals.length) return false;
    const rest = drawing.strokes.filter((s) => !found?.rounds?.includes(s.id));
    const numbers = new Map(goals.flatMap(({ ids }, q) => ids.map((id) => [id, q])));
    const guess = told ? { goals: goals.map((a) => a.x), goalOf: ({ id }) => numbers.get(id) ?? -1 }
      : grouped(rest, goals.map((a) => a.x), REACH / view.scale);
    const near = (place) => goals.find((a) => Math.hypot(a.x[0] - place[0], a.x[1] - place[1]) < 1e-9)?.colour;
    let free = Math.max(-1, ...goals.map((a) => a.colour));
    const colours = guess.goals.map((place) => near(place) ?? ++free);
    // The page had guessed it already.
    const places = guess.goals.map((place) => place.map((c) => c.toFixed(3)));
    const key = JSON.stringify([rest.map((s) => [s.id, s.x.at(-1), colours[guess.goalOf(s)]]), places]);
    if (this.sketch && this.#sketched === key) {
      this.rev = rev;
      return true;
    }
    const learned = sketched(rest, guess.goals, guess.goalOf, colours);
    if (!learned) return false;
    this.#sketched = key;
    this.#put(learned, rev, true, true);
    return true;
  }

  #put(learned, rev, growing, sketch = false) {
    const anew = !this.learned;
    Object.assign(this, { learned, rev, growing, sketch });
    if (this.goal !== null && !learned.goals[this.goal]) this.goal = null;
    this.#studio.playground.enter(learned);
    this.#studio.pusher.follow(learned);
    this.#choices();
    if (anew) this.#studio.gestures.flows();
    this.look({ anew, fade: !anew });
    this.#studio.particles.follow();
  }

  /** What came while a hand was drawing. */
  catchUp() { if (this.#waiting) this.show(...this.#waiting); }

  /** The strokes are again those of the last whole field. */
  back(rev) { if (this.#whole) this.#put(this.#whole, rev, false); }

  forget() {
    this.#whole = null;
    Object.assign(this, { learned: null, goal: null, growing: false, sketch: false, rev: 0 });
    this.#waiting = null;
    this.#choices();
    this.look({ anew: true });
  }

  /** The way of a particle from some place, null where there is no field. */
  way(at) { return this.learned?.way(at, this.goal) ?? null; }

  /** The motions as drawn, or the field towards one goal: particles follow what is shown. */
  showGoal(q) {
    this.goal = q;
    this.#choices();
    this.look({ fade: true });
    this.#studio.particles.clear();
    announce(q === null ? "The motions as drawn" : `The flow towards goal ${q + 1}`);
    this.#studio.tell();
  }

  /** The view has moved: compute the field for what is in sight, once it has settled. */
  lookAgain() {
    if (!this.seen) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.look(), SETTLED);
  }

  /** What is seen now. `anew`: of another drawing; `fade`: softly in place of what was seen; `rough`: quickly, under a hand. */
  look({ anew = false, fade = false, rough = false } = {}) {
    clearTimeout(this.#timer);
    const { canvas, drawing } = this.#studio;
    if (!canvas) return;
    const shown = this.learned ?? (drawing.strokes.length ? null : this.#empty);
    if (fade) canvas.fade();
    const quick = rough || (this.growing && !this.sketch);
    this.seen = shown?.seen(this.goal, canvas.view.box(AROUND), (quick ? ROUGH : 1) / canvas.view.scale, rough ? FEWER : 1) ?? null;
    canvas.flow.set(this.seen, anew);
    canvas.repaint("backdrop", "flow", "paper", "scene");
  }

  #choices() {
    const several = this.learned?.goals.length ? this.learned.goals : [];
    const key = `${several.length} ${this.goal}`;
    if ($("goals").dataset.key === key) return;
    $("goals").dataset.key = key;
    const button = (words, q) => {
      const checked = String(this.goal === q);
      const node = element("button", { type: "button", role: "radio", "aria-checked": checked, "data-goal": q ?? "all" }, words);
      node.addEventListener("click", () => this.showGoal(q));
      return node;
    };
    $("goals").replaceChildren(...(several.length ? [button("As drawn", null), ...several.map((_, q) => button(`To ${q + 1}`, q))] : []));
    $("goals").hidden = !several.length;
  }
}

/** Whether ways from where strokes begin end at their goals, and near the strokes all along. */
export function follows(learned, strokes, labels) {
  const asked = strokes.filter((s) => !s.v && Number.isInteger(labels[s.id])).slice(-ASKED);
  const size = Math.max(...learned.box);
  return asked.every(({ id, x }) => {
    const way = learned.way(x[0]);
    if (!way.arrived || way.q !== labels[id]) return false;
    const places = x.filter((_, i) => i % Math.ceil(x.length / 40) === 0);
    const off = places.map((p) => Math.min(...way.x.map((z) => Math.hypot(z[0] - p[0], z[1] - p[1]))));
    return off.reduce((a, b) => a + b, 0) / off.length < GOOD * size;
  });
}
