// Playing with what was learned: the world of the field under a hand, the arm that may be pushed, the particle that strayed.

import { capital, write } from "./answer.js";
import { hint } from "./notify.js";
import { Playground } from "./playground.js";
import { ARMS, pushedWords, Pusher } from "./push.js";

const $ = (id) => document.getElementById(id);
const mark = document.body.dataset;

export class Play {
  ground = new Playground();
  pusher = new Pusher();
  #studio;
  #moving = false;

  constructor(studio) {
    this.#studio = studio;
    this.ground.addEventListener("change", () => studio.tell());
    this.ground.addEventListener("refused", ({ detail }) => hint(detail, 3500));
    this.pusher.addEventListener("drawn", ({ detail }) => this.#pushed(detail));
  }

  /** A goal, a stone or a wall is moving under a hand; or it was let go. */
  worldMoves() {
    if (this.#moving) return;
    // Once a frame, however often the hand is heard.
    this.#moving = true;
    requestAnimationFrame(() => {
      this.#moving = false;
      if (!this.#studio.gestures.pen.busy) return;
      this.#studio.fields.look({ rough: true });
      this.#studio.particles.later();
    });
  }

  worldRests() {
    const studio = this.#studio;
    this.ground.rest();
    studio.fields.look();
    studio.particles.follow();
    studio.tell();
  }

  /** Undo and redo, while playing of what was put in the way. */
  canStep(way) { return this.#studio.tool === "drop" && this.ground.canStep(way); }

  step(way) {
    const { drawing } = this.#studio;
    if (this.canStep(way) && this.ground.step(way)) this.worldRests();
    else if (way === "back") drawing.undo();
    else drawing.redo();
  }

  putBack() {
    this.ground.putBack();
    this.worldRests();
    hint("Everything is back where it was learned.", 3000);
  }

  /** The arm that draws, and may be pushed; or no longer. */
  togglePush() {
    const studio = this.#studio;
    if (this.pusher.busy) {
      this.pusher.stop();
      hint("", 0);
    } else {
      const number = (id) => studio.goals.findIndex((a) => a.ids.includes(id));
      const strokes = studio.drawing.strokes.filter((s) => !s.v).map(({ id, t, x }) => ({ t, x, q: number(id) }));
      const begun = studio.fields.learned && this.pusher.start(studio.fields.learned, strokes);
      if (!begun) hint("Draw a stroke first, then push what draws it.", 4000);
      else {
        studio.particles.clear();
        hint(ARMS, 7000);
      }
    }
    studio.canvas.repaint("paper", "scene");
    studio.tell();
  }

  #pushed({ pen, replay, there }) {
    hint(pushedWords({ pen, replay, there }), 6000);
    mark.pushed = `${pen.toFixed(4)} ${replay.toFixed(4)}`;
  }

  /** The stroke that is followed least, and beside it the particle that should follow it. */
  showWorst() {
    const studio = this.#studio;
    const stroke = studio.drawing.find(studio.leastFollowed);
    if (!stroke) return;
    // What was tested is all of the flow, in the world in which it was learned.
    if (studio.fields.goal !== null) studio.fields.showGoal(null);
    if (!this.ground.isPlain) this.putBack();
    studio.select(stroke.id);
    studio.particles.clear();
    studio.particles.add(stroke.x[0]).stays = true;
    studio.canvas.repaint("paper");
    hint("This is the stroke, and the particle that sets out where it begins.", 6000);
    studio.tell();
  }

  /** What of it is under way, on buttons and in words. */
  tell() {
    const { ground: playground, pusher } = this, { fields } = this.#studio;
    mark.world = playground.words;
    $("world").hidden = playground.isPlain;
    write("world-words", `${capital(playground.words)}. Nothing was learned again.`);
    for (const id of ["rain", "stone", "wall", "push"]) $(id).disabled = !fields.learned;
    $("wall").setAttribute("aria-pressed", String(Boolean(playground.walls)));
    $("push").setAttribute("aria-pressed", String(pusher.busy));
    $("put-back").hidden = playground.isPlain;
  }
}
