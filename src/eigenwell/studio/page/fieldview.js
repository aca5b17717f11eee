// The learned field on the page: what of it is shown, over which part of the world, and whether it still grows.

import { element } from "./answer.js";
import { learnedOf } from "./field.js";
import { announce } from "./notify.js";
import { welcome } from "./welcome.js";

const $ = (id) => document.getElementById(id);
// Milliseconds after the last turn of the wheel before the field is computed for what is then in view.
const SETTLED = 90;
// A grid reaches this share of the view beyond its edges, so that a small move shows no gap.
const AROUND = 0.15;
// Pixels of the screen to one of the regions while a field still changes several times a second.
const GROWING = 3;

export class FieldView {
  /** Everything that was learned, and what of it is seen; a small living example while there is nothing. */
  learned = null;
  seen = null;
  rev = 0;
  growing = false;
  /** Goal whose field alone is shown, null for all that was learned. */
  goal = null;
  #studio;
  #timer = 0;
  #waiting = null;
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
    const anew = !this.learned;
    Object.assign(this, { learned, rev, growing });
    if (!growing) this.#whole = learned;
    if (this.goal !== null && !learned.goals[this.goal]) this.goal = null;
    this.#choices();
    this.#look(anew);
    return true;
  }

  /** What came while a hand was drawing. */
  catchUp() { if (this.#waiting) this.show(...this.#waiting); }

  /** The strokes are again those of the last whole field. */
  back(rev) {
    if (!this.#whole) return;
    Object.assign(this, { learned: this.#whole, rev, growing: false });
    this.#choices();
    this.#look(false);
  }

  forget() {
    this.#whole = null;
    Object.assign(this, { learned: null, goal: null, growing: false, rev: 0 });
    this.#waiting = null;
    this.#choices();
    this.#look(true);
  }

  /** The way of a particle from some place, null where there is no field. */
  way(at) { return this.learned?.way(at, this.goal) ?? null; }

  /** The motions as drawn, or the field towards one goal: particles follow what is shown. */
  showGoal(q) {
    this.goal = q;
    this.#choices();
    this.#look(true);
    this.#studio.particles.clear();
    announce(q === null ? "The motions as drawn" : `The flow towards goal ${q + 1}`);
    this.#studio.tell();
  }

  /** The view has moved: compute the field for what is in sight, once it has settled. */
  lookAgain() {
    if (!this.seen) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#look(false), SETTLED);
  }

  #look(anew) {
    clearTimeout(this.#timer);
    const { canvas, drawing } = this.#studio;
    if (!canvas) return;
    const shown = this.learned ?? (drawing.strokes.length ? null : this.#empty);
    const pixel = (this.growing ? GROWING : 1) / canvas.view.scale;
    this.seen = shown?.seen(this.goal, canvas.view.box(AROUND), pixel) ?? null;
    canvas.flow.set(this.seen, anew);
    canvas.repaint("backdrop", "flow", "paper");
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
