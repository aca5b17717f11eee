// What a gesture on the canvas means: a stroke, a move, a particle.

import { Pen } from "./pen.js";
import { strokeAt } from "./scene.js";
import { hint, notify } from "./notify.js";

const paper = document.getElementById("paper");
export const NO_FIELD = "There is no field yet. Learn one, then drop particles into it.";
const HINTS = {
  draw: "", move: "Drag a stroke to move it. Tap to select, Delete to remove.",
  drop: "Tap or click to drop a particle. Drag it off its way, and it comes back.",
};

/** Fingers are wider than arrows. */
const reach = (event) => (event.pointerType === "mouse" ? 9 : 20);

export class Gestures {
  #studio;
  #draft = null;
  #held = null;
  #particle = null;

  constructor(studio) {
    this.#studio = studio;
    this.pen = new Pen(paper, {
      down: (at, event) => this.#down(at, event),
      samples: (list) => this.#samples(list),
      drag: (from, to, far) => this.#drag(from, to, far),
      up: (kind, time, tapped, at) => this.#up(kind, time, tapped, at),
      cancel: () => this.#cancel(),
      cursor: () => studio.canvas?.repaint("paper"),
    });
    paper.addEventListener("pointermove", (event) => this.#hover(event));
  }

  /** What is to be painted of a gesture under way. */
  get seen() { return { draft: this.#draft, held: this.#held, hidden: this.#held?.id, pen: this.pen }; }
  get isDrawing() { return this.#draft !== null; }

  /** False while a gesture is under way, which keeps its tool. */
  use(tool) {
    if (this.pen.busy) return false;
    delete paper.dataset.over;
    hint(tool === "drop" && !this.#studio.field ? "Learn a field first, then drop particles into it." : HINTS[tool], 6000);
    return true;
  }

  #down(at, event) {
    const { tool, particles, drawing, view, field } = this.#studio;
    if (tool === "drop") {
      const particle = particles.near(view, at, reach(event) + 5);
      if (!particle && !field) {
        notify(NO_FIELD);
        return null;
      }
      this.#particle = particle ?? particles.add(view.toWorld(at));
      paper.dataset.over = "held";
      return this.#painted("drag");
    }
    if (tool === "move") {
      this.#studio.select(strokeAt(drawing.strokes, view, at, reach(event)));
      if (!this.#studio.selected) return null;
      paper.dataset.over = "held";
      return "drag";
    }
    this.#draft = [];
    document.getElementById("empty").hidden = true;
    return "draw";
  }

  #samples(list) {
    this.#draft ??= [];
    this.#draft.push(...list);
    this.#painted();
  }

  #drag(from, to, far) {
    const { particles, drawing, view, selected } = this.#studio;
    if (!far) return;
    if (this.#particle) {
      particles.hold(this.#particle, view.toWorld(to));
      this.#painted();
      return;
    }
    const stroke = drawing.find(selected);
    if (!stroke) return;
    if (!this.#held) this.#studio.canvas.repaint("scene");
    const [dx, dy] = [(to[0] - from[0]) / view.scale, (from[1] - to[1]) / view.scale];
    this.#held = { ...stroke, x: stroke.x.map(([a, b]) => [a + dx, b + dy]), by: [dx, dy] };
    this.#painted();
  }

  #up(kind, time, tapped, at) {
    const [held, particle, draft] = [this.#held, this.#particle, this.#draft];
    this.#rest();
    if (kind === "draw") this.#finish(draft ?? [], time, tapped, at);
    else if (particle?.state === "held") this.#studio.particles.release(particle);
    else if (held) this.#studio.drawing.move(held.id, ...held.by);
    this.#studio.tell();
  }

  #cancel() {
    const particle = this.#particle;
    this.#rest();
    if (particle?.state === "held") this.#studio.particles.release(particle);
    this.#studio.tell();
  }

  #rest() {
    delete paper.dataset.over;
    this.#draft = this.#held = this.#particle = null;
    this.#studio.canvas.repaint("paper", "scene", "flow");
  }

  #finish(draft, time, tapped, at) {
    const { drawing, view, limits } = this.#studio;
    if (tapped) {
      // A tap is no motion: it takes hold of the stroke under it.
      if (at) this.#studio.select(strokeAt(drawing.strokes, view, at, 14));
      return;
    }
    if (limits && drawing.strokes.length >= limits.strokes) {
      notify(`There is room for ${limits.strokes} strokes. Delete some first.`);
      return;
    }
    this.#studio.select(null);
    let kept = draft;
    while (kept.length > (limits?.stroke_samples ?? Infinity)) kept = kept.filter((_, i) => i % 2 === 0 || i === kept.length - 1);
    // A tenth of a millisecond and a hundredth of a pixel are finer than any pen; digits behind them cost time to send.
    const x = kept.map((p) => view.toWorld(p.x).map((c) => Math.round(c * 1e5) / 1e5));
    drawing.add(kept.map((p) => Math.round(p.t * 1e4) / 1e4), x, time);
  }

  #hover(event) {
    const { tool, particles, drawing, view } = this.#studio;
    if (this.pen.busy || event.buttons || tool === "draw") return;
    const at = [event.offsetX, event.offsetY];
    const over = tool === "drop" ? particles.near(view, at, 14) && "drop" : strokeAt(drawing.strokes, view, at, 9) && "stroke";
    if (over) paper.dataset.over = over;
    else delete paper.dataset.over;
  }

  #painted(kind) {
    this.#studio.canvas.repaint("paper");
    return kind;
  }
}
