// What a gesture on the canvas means: a stroke, a move, a goal carried elsewhere, a stone, a particle, a push, another view.

import { ask, asked, unask } from "./ask.js";
import { sprayed } from "./brush.js";
import { bent, endedAt, isLoop, nearest, REACH, round, stoppedAt } from "./magnets.js";
import { hint, notify } from "./notify.js";
import { Pen } from "./pen.js";
import { GRIP } from "./push.js";
import { strokeAt } from "./scene.js";
import { explained, Tip } from "./tips.js";

const $ = (id) => document.getElementById(id);
const paper = $("paper");
export const NO_FIELD = "There is no flow yet. Draw a stroke, or learn one, then drop particles into it.";
const HINTS = {
  draw: "", move: "Drag a stroke or a goal. Drag the paper to look elsewhere. Shift adds to what is selected.",
  drop: "Drop particles, drag them off their way. Drag a goal, and the flow follows.",
};
const TAPPED = "A tap is no motion: press, drag to where it ends, and lift.";
// A stroke that ends within this many reaches of a goal may be meant for it.
const NEAR_MISS = 2.4;
const LOOP = "A closed loop: the flow will come to rest where you lifted the pen.";
// Particles of one shower, and milliseconds between two of them or two of a hose.
const SHOWER = 16, DRIP = 90, SPRAY = 40;

/** Fingers are wider than arrows. */
const reach = (event) => (event.pointerType === "mouse" ? 9 : 20);

export class Gestures {
  #studio;
  #draft = null;
  /** Samples of a brush on their way, {x, v} in the world; null where a line is drawn. */
  #cloud = null;
  /** Strokes in the hand, as they would be: {id: line}; and what else is: a particle, a goal, a hose. */
  #held = {};
  #particle = null;
  #goal = null;
  #hose = null;
  /** A goal, stone or wall of the world of the field; or the pen of the arm, and where it was last. */
  #handle = null;
  #shoved = null;
  #panned = [0, 0];
  /** The stroke that was asked about, and the colour of the goal: {id, colour}. */
  #near = null;

  constructor(studio) {
    this.#studio = studio;
    this.pen = new Pen(paper, {
      down: (at, event) => this.#down(at, event),
      samples: (list) => this.#samples(list),
      drag: (from, to, far) => this.#drag(from, to, far),
      up: (kind, time, tapped, at) => this.#up(kind, time, tapped, at),
      cancel: () => this.#cancel(),
      pinch: (factor, at, dx, dy) => this.#pinch(factor, at, dx, dy),
      cursor: () => studio.canvas?.repaint("paper"),
    });
    paper.addEventListener("pointermove", (event) => this.#hover(event));
    new Tip(paper, (at) => (this.pen.busy ? "" : explained(studio.view, at, this.#marks())));
  }

  /** What is to be painted of a gesture under way. */
  get seen() {
    const strokes = this.#studio.drawing.strokes.filter((s) => this.#held[s.id]);
    const held = strokes.map((s) => ({ ...s, x: this.#held[s.id] }));
    return { draft: this.#draft, held, hidden: this.#held, pen: this.pen, halos: this.#halos(), spray: this.#cloud };
  }

  get isDrawing() { return this.#draft !== null; }

  /** False while a gesture is under way, which keeps its tool. */
  use(tool) {
    if (this.pen.busy) return false;
    delete paper.dataset.over;
    hint(tool === "drop" && !this.#studio.fields.learned ? NO_FIELD : HINTS[tool], 6000);
    return true;
  }

  /** There is a flow now, for whoever waits to play with it. */
  flows() { if (this.#studio.tool === "drop") hint(HINTS.drop, 6000); }

  /** A shower of particles over what is in sight. */
  rain(count = SHOWER) {
    const { view, particles, canvas, fields } = this.#studio;
    if (!fields.learned || !count) return;
    const share = ((SHOWER - count) * 0.618034) % 1;
    particles.add(view.toWorld([(0.08 + 0.84 * share) * view.width, (0.1 + 0.6 * ((count * 0.381966) % 1)) * view.height]));
    canvas.repaint("paper");
    this.#studio.tell();
    setTimeout(() => this.rain(count - 1), canvas.still ? 0 : DRIP);
  }

  // --- down ---

  #down(at, event) {
    const { tool, drawing, view } = this.#studio;
    if (event.button === 1) return "pan";
    if (asked() === "stop" && tool !== "draw") return "tap";
    if (tool === "drop") return this.#dropped(at, event);
    if (tool === "move") {
      this.#goal = this.#goalAt(at, reach(event) + 5);
      const under = strokeAt(drawing.strokes, view, at, reach(event));
      if (!this.#goal) this.#choose(under, event.shiftKey);
      if (!this.#goal && !under) return "pan";
      paper.dataset.over = "held";
      return "drag";
    }
    unask("near");
    this.#draft = [];
    this.#cloud = this.#studio.brush ? { x: [], v: [] } : null;
    $("empty").hidden = true;
    return "draw";
  }

  #choose(id, more) {
    const { selected } = this.#studio;
    if (more && id) this.#studio.select(selected.has(id) ? [...selected].filter((s) => s !== id) : [...selected, id]);
    else if (!id || !selected.has(id)) this.#studio.select(id);
  }

  #dropped(at, event) {
    const { particles, view, fields, playground, pusher } = this.#studio;
    if (!fields.learned) {
      notify(NO_FIELD);
      return null;
    }
    paper.dataset.over = "held";
    if (pusher.pen && view.away(pusher.pen, at) < GRIP) {
      this.#shoved = view.toWorld(at);
      pusher.hold(true);
      return "drag";
    }
    this.#handle = playground.at(view, at, reach(event) + 6);
    if (this.#handle) {
      playground.chosen = this.#handle.kind === "rim" ? { kind: "stone", k: this.#handle.k } : this.#handle;
      this.#studio.canvas.repaint("scene");
      return "drag";
    }
    playground.chosen = null;
    if (event.shiftKey) {
      this.#hose = { at };
      this.#spray();
    } else {
      this.#particle = particles.near(view, at, reach(event) + 5) ?? particles.add(view.toWorld(at));
    }
    this.#studio.canvas.repaint("paper");
    return "drag";
  }

  #spray() {
    if (!this.#hose) return;
    const [x, y] = this.#hose.at;
    const aside = () => 24 * (Math.random() - 0.5);
    this.#studio.particles.add(this.#studio.view.toWorld([x + aside(), y + aside()]));
    this.#studio.canvas.repaint("paper");
    setTimeout(() => this.#spray(), SPRAY);
  }

  // --- on the way ---

  #samples(list) {
    this.#draft ??= [];
    for (const one of list) {
      this.#draft.push(one);
      if (this.#cloud) this.#leave(sprayed(this.#draft, this.#draft.length - 1));
    }
    this.#studio.canvas.repaint("paper");
  }

  #leave(samples) {
    const { view } = this.#studio;
    for (const { x, v } of samples) {
      this.#cloud.x.push(view.toWorld(x).map(round));
      this.#cloud.v.push([round(v[0] / view.scale), round(-v[1] / view.scale)]);
    }
  }

  #drag(from, to, far) {
    const { particles, drawing, view, selected, canvas, playground, pusher } = this.#studio;
    if (this.#shoved) {
      const place = view.toWorld(to);
      pusher.push(place[0] - this.#shoved[0], place[1] - this.#shoved[1]);
      this.#shoved = place;
      return;
    }
    if (this.pen.kind === "tap") return;
    if (this.#handle) {
      if (far && playground.drag(this.#handle, view.toWorld(to).map(round), view)) this.#studio.play.worldMoves();
      return;
    }
    if (this.pen.kind === "pan") {
      canvas.pan(to[0] - from[0] - this.#panned[0], to[1] - from[1] - this.#panned[1]);
      this.#panned = [to[0] - from[0], to[1] - from[1]];
      return;
    }
    if (this.#hose) this.#hose.at = to;
    if (!far || this.#hose) return;
    if (this.#particle) particles.hold(this.#particle, view.toWorld(to));
    else {
      const by = [(to[0] - from[0]) / view.scale, (from[1] - to[1]) / view.scale];
      this.#held = this.#goal ? this.#carried(by) : Object.fromEntries(
        drawing.strokes.filter((s) => selected.has(s.id)).map((s) => [s.id, s.x.map(([a, b]) => [a + by[0], b + by[1]])]),
      );
      canvas.repaint("scene");
    }
    canvas.repaint("paper");
  }

  /** A goal moved by some way, its strokes bending along; near another goal it becomes that one. Of strokes that are
   * selected only those go: that is how one goal becomes two. */
  #carried([dx, dy]) {
    const { drawing, selected } = this.#studio;
    const { x, ids } = this.#goal;
    const mine = ids.some((id) => selected.has(id)) ? ids.filter((id) => selected.has(id)) : ids;
    const place = this.#snapped([x[0] + dx, x[1] + dy], x);
    return Object.fromEntries(mine.map((id) => {
      const line = drawing.find(id).x;
      const snaps = place[0] !== x[0] + dx || place[1] !== x[1] + dy;
      return [id, snaps ? endedAt(line, place) : bent(line, [dx, dy])];
    }));
  }

  #pinch(factor, at, dx, dy) {
    const { canvas } = this.#studio;
    canvas.pan(dx, dy);
    canvas.zoom(factor, at);
    this.#studio.tell();
  }

  // --- up ---

  #up(kind, time, tapped, at) {
    const [held, particle, draft, goal, spray] = [this.#held, this.#particle, this.#draft, this.#goal, this.#cloud];
    const handle = this.#handle;
    this.#rest();
    if (asked() === "stop" && tapped && at) this.stopAt(this.#studio.view.toWorld(at));
    else if (handle) this.#handled(handle, tapped);
    else if (kind === "draw") this.#finish(draft ?? [], time, tapped, at, spray);
    else if (particle?.state === "held") this.#studio.particles.release(particle);
    else if (goal && tapped) hint("Drag the goal, onto another to make them one. Select a stroke first, and only its end moves.", 6000);
    else if (Object.keys(held).length) this.#studio.drawing.reshape(held);
    this.#studio.fields.catchUp();
    this.#studio.tell();
  }

  /** A goal, stone or wall was let go; a tap on a stone takes it out. */
  #handled(handle, tapped) {
    if (tapped && handle.kind === "stone") this.#studio.playground.remove(handle);
    else if (tapped && handle.kind === "goal") hint("Drag the goal, and the flow follows at once.", 4000);
    this.#studio.play.worldRests();
  }

  #cancel() {
    const [particle, handle] = [this.#particle, this.#handle];
    this.#rest();
    if (handle) this.#studio.play.worldRests();
    if (particle?.state === "held") this.#studio.particles.release(particle);
    this.#studio.fields.catchUp();
    this.#studio.tell();
  }

  #rest() {
    delete paper.dataset.over;
    this.#studio.pusher.hold(false);
    this.#draft = this.#particle = this.#goal = this.#hose = this.#cloud = this.#handle = this.#shoved = null;
    this.#held = {};
    this.#panned = [0, 0];
    this.#studio.canvas.repaint("paper", "scene", "flow");
  }

  #finish(draft, time, tapped, at, spray) {
    const { drawing, view, limits } = this.#studio;
    if (tapped) {
      // A tap is no motion: it takes hold of the stroke under it.
      const under = at && strokeAt(drawing.strokes, view, at, 14);
      this.#studio.select(under);
      if (!under) hint(TAPPED, 4000);
      return;
    }
    if (limits && drawing.strokes.length >= limits.strokes) {
      notify(`There is room for ${limits.strokes} strokes. Delete some first.`);
      return;
    }
    this.#studio.select(null);
    if (spray) {
      if (spray.x.length > 1) drawing.add(spray.x.map((_, k) => k), spray.x, time, null, spray.v);
      return;
    }
    let kept = draft;
    while (kept.length > (limits?.stroke_samples ?? Infinity)) kept = kept.filter((_, i) => i % 2 === 0 || i === kept.length - 1);
    // A tenth of a millisecond and a hundredth of a pixel are finer than any pen; digits behind them cost time to send.
    const x = kept.map((p) => view.toWorld(p.x).map(round));
    const end = x.at(-1), place = this.#snapped(end);
    const moved = Math.hypot(place[0] - end[0], place[1] - end[1]) * view.scale > 1;
    drawing.add(kept.map((p) => Math.round(p.t * 1e4) / 1e4), x, time, moved ? endedAt(x, place) : null);
    if (isLoop(x)) hint(LOOP, 8000);
    else if (moved) hint("Ends at that goal now. Undo, and it is as you drew it.", 3500);
    else if (place === end) this.#nearMiss(drawing.strokes.at(-1), end);
  }

  /** An end beside a goal, out of its reach: only the hand knows whether it was meant for it. */
  #nearMiss(stroke, end) {
    const { goals, drawing, view } = this.#studio;
    if (!$("magnets").checked) return;
    const places = goals.map((a) => a.x), place = nearest(places, end, (NEAR_MISS * REACH) / view.scale);
    if (!place) return;
    this.#near = { id: stroke.id, colour: goals[places.indexOf(place)].colour };
    ask("near", `That ends close to goal ${places.indexOf(place) + 1}. Is it the same goal?`, [
      ["The same", () => drawing.find(stroke.id) && drawing.reshape({ [stroke.id]: endedAt(stroke.x, place) })],
      ["Another one", null],
    ]);
  }

  /** What was found since may have answered that; and of strokes that go round only the hand knows where they should stop. */
  answered() {
    const { found, labels, drawing } = this.#studio;
    if (this.#near && labels[this.#near.id] === this.#near.colour) unask("near");
    if (!found?.question) unask("stop");
    else {
      const first = drawing.find(found.rounds[0]);
      ask("stop", `${found.question} Tap the place.`, [["Where I lifted the pen", () => this.stopAt(first.x.at(-1))]]);
    }
  }

  stopAt(place) {
    const { found, drawing } = this.#studio;
    unask("stop");
    drawing.redraw(Object.fromEntries((found?.rounds ?? []).map((id) => [id, stoppedAt(drawing.find(id), place)])));
  }

  // --- goals ---

  /** Places that attract: the goals, and ends of strokes that nobody has looked at yet. */
  #places() {
    const { goals, drawing, answered, rev } = this.#studio;
    const known = goals.map((a) => a.x);
    return answered === rev ? known : [...known, ...drawing.strokes.slice(-3).filter((s) => !s.v).map((s) => s.x.at(-1))];
  }

  #snapped(place, but = null) {
    if (!$("magnets").checked) return place;
    const places = this.#places().filter((p) => p !== but);
    return nearest(places, place, REACH / this.#studio.view.scale) ?? place;
  }

  #halos() {
    if (!this.#draft?.length || this.#cloud || !$("magnets").checked) return [];
    const hand = this.#studio.view.toWorld(this.#draft.at(-1).x);
    const hot = this.#draft.length > 4 ? this.#snapped(hand) : hand;
    return this.#places().map((place) => ({ place, hot: place === hot }));
  }

  #goalAt(at, near) {
    const { goals, view } = this.#studio;
    const away = (a) => view.away(a.x, at);
    const [best] = [...goals].sort((a, b) => away(a) - away(b));
    return best && away(best) <= near ? best : null;
  }

  /** What can be pointed at, where it is now. */
  #marks() {
    const { goals, field, fields, shown, playground } = this.#studio;
    const moved = goals.map((goal, q) => (playground.goals.has(q) ? { x: playground.goals.get(q) } : goal));
    return { goals: moved, field: fields.learned ? field : null, shown };
  }

  #hover(event) {
    const { tool, particles, drawing, view, playground, pusher } = this.#studio;
    if (this.pen.busy || event.buttons || tool === "draw") return;
    const at = [event.offsetX, event.offsetY];
    const held = () => (pusher.pen && view.away(pusher.pen, at) < GRIP) || playground.at(view, at, 15) || particles.near(view, at, 14);
    const over = tool === "drop" ? held() && "drop"
      : (this.#goalAt(at, 14) || strokeAt(drawing.strokes, view, at, 9)) && "stroke";
    if (over) paper.dataset.over = over;
    else delete paper.dataset.over;
  }
}
