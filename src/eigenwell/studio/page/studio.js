// The state of the page, and what follows from a change of it.

import { Answer, element, write } from "./answer.js";
import { Canvas } from "./canvas.js";
import { Drawing } from "./drawing.js";
import { Particles } from "./particles.js";
import { Gestures } from "./gestures.js";
import { Learning } from "./learning.js";
import { Link } from "./link.js";
import { save } from "./storage.js";
import { DARK, LIGHT } from "./palette.js";
import { Settings } from "./settings.js";
import { announce, dismiss, notify } from "./notify.js";

const $ = (id) => document.getElementById(id);
/** Read-only for those who watch the page from outside. */
export const mark = document.body.dataset;

const EMPTY = "Strokes that come to rest at one place share an attractor.";
const AWAY = "Nobody has looked at these strokes yet: there is no connection to the server. They are kept until it is back.";
const GRAPH = 1;
export const LAYERS = ["strokes", "graph", "flow", "potential", "basins"];

export class Studio {
  drawing = new Drawing();
  particles = new Particles();
  link = new Link();
  answer = new Answer();
  learning = new Learning();
  shown = { strokes: true, graph: false, flow: true, potential: true, basins: true };
  theme = LIGHT;
  chosenTheme = null;
  tool = "draw";
  limits = null;
  /** Number of the strokes and settings on screen, and of those the server has answered. */
  rev = 0;
  answered = 0;
  found = null;
  labels = {};
  /** What is drawn and followed: the map; or where strokes cross the motions, or the field towards one goal. */
  field = null;
  fieldRev = 0;
  goals = [];
  /** Goal whose field alone is shown, null for all that was learned. */
  goal = null;
  worst = null;
  #whole = null;
  selected = null;
  /** When the last stroke was finished, and when learning was asked for. */
  endedAt = null;
  learnAt = null;
  #arrived = 0;
  #timers = {};
  #storable = true;
  #graphCame = false;
  #wasKernel;

  /** `choices` as `store` kept them. */
  constructor(choices) {
    for (const name of LAYERS) if (typeof choices.shown?.[name] === "boolean") this.shown[name] = choices.shown[name];
    this.settings = new Settings(choices.options);
    this.#wasKernel = this.isKernel;
    this.gestures = new Gestures(this);
    this.canvas = new Canvas($("stage"), () => ({
      theme: this.theme, strokes: this.drawing.strokes, labels: this.labels, found: this.found, field: this.field,
      stale: this.isStale, shown: this.shown, selected: this.selected, particles: this.particles, ...this.gestures.seen,
    }));
    this.drawing.addEventListener("change", ({ detail }) => this.#drawn(detail));
    this.settings.addEventListener("change", ({ detail }) => this.#told(detail.sliding));
    this.particles.addEventListener("ask", ({ detail }) => this.#askWay(detail));
    this.particles.addEventListener("rest", ({ detail }) => this.#rested(detail));
    this.link.addEventListener("state", () => this.#connected());
    this.answer.show(null, [], {}, this.theme, EMPTY);
  }

  get view() { return this.canvas.view; }
  get isStale() { return this.field !== null && this.fieldRev !== this.rev; }
  get isKernel() { return this.settings.options.graph === "kernel"; }

  // --- strokes and settings ---

  #drawn({ what, endedAt }) {
    const { strokes } = this.drawing;
    if (!this.drawing.find(this.selected)) this.select(null);
    this.endedAt = endedAt ?? null;
    dismiss();
    if (what === "loaded") this.forgetField(); // of other strokes altogether
    const back = what === "undone" || what === "redone";
    const lost = (back || what === "moved") && !this.view.holds(strokes);
    if (what === "loaded" || what === "restored" || lost || !strokes.length) this.canvas.refit();
    if (what !== "drawn" && what !== "restored") announce(`Strokes ${what}. There are ${strokes.length}.`);
    this.publish(what !== "restored");
  }

  #told(sliding) {
    // A slider moves faster than anybody reads: the newest position wins.
    clearTimeout(this.#timers.send);
    if (sliding) this.#timers.send = setTimeout(() => this.publish(), 60);
    else this.publish();
    // What the kernel does is seen in its graph; the graph goes again with the kernel unless somebody asked for it.
    const kernel = this.isKernel;
    if (kernel !== this.#wasKernel && this.shown.graph === this.#wasKernel && (kernel || this.#graphCame)) {
      this.#graphCame = kernel;
      this.toggleLayer(GRAPH);
    }
    this.#wasKernel = kernel;
  }

  /** Strokes or settings are new: number them, send them, keep them. Those that are sent again were kept before, and
   * another page may have kept newer ones since. */
  publish(fresh = true) {
    const { strokes } = this.drawing;
    clearTimeout(this.#timers.send);
    clearTimeout(this.#timers.teach);
    mark.rev = ++this.rev;
    mark.strokes = strokes.length;
    if (this.learning.running) this.learning.stop(); // newer strokes end older work, there as here
    if (!strokes.length) {
      this.forgetField();
      Object.assign(this, { found: null, labels: {}, answered: this.rev });
      this.answer.show(null, [], {}, this.theme, EMPTY);
      $("code").hidden = true;
    }
    if (strokes.length && !this.found && !this.link.isOpen) this.answer.show(null, strokes, {}, this.theme, AWAY);
    this.link.send({ type: "strokes", rev: this.rev, strokes, options: this.settings.options });
    if (fresh) this.#storeSoon();
    this.canvas.repaint("scene", "backdrop", "flow", "paper");
    this.tell();
  }

  #storeSoon() {
    clearTimeout(this.#timers.store);
    this.#timers.store = setTimeout(() => this.store(), 250);
  }

  /** Before the page goes: what has not been kept yet. */
  storeRest() { if (this.#timers.store) this.store(); }

  store() {
    clearTimeout(this.#timers.store);
    this.#timers.store = 0;
    const { settings, shown, chosenTheme: theme } = this;
    const kept = save(this.drawing.strokes, { options: settings.options, shown, auto: $("auto").checked, theme });
    if (!kept && this.#storable) notify("This browser has no room to keep your strokes. Save them as CSV before you leave.");
    this.#storable = kept;
  }

  select(id) {
    if (this.selected === id) return;
    this.selected = id;
    if (id) mark.selected = id;
    else delete mark.selected;
    $("delete").disabled = !id;
    const { strokes } = this.drawing;
    if (id) announce(`Stroke ${strokes.findIndex((s) => s.id === id) + 1} of ${strokes.length} selected`);
    this.canvas.repaint("scene");
  }

  // --- field and particles ---

  teach() {
    if ($("learn").disabled) return;
    this.learnAt = performance.now();
    const asked = this.link.send({ type: "learn", rev: this.rev, view: this.view.box() });
    if (asked) this.learning.start(this.theme);
    this.tell();
  }

  /** In auto mode, once nobody is drawing. */
  teachSoon() {
    clearTimeout(this.#timers.teach);
    if ($("auto").checked && (!this.field || this.isStale)) this.#timers.teach = setTimeout(() => (this.gestures.pen.busy ? this.teachSoon() : this.teach()), 500);
  }

  stopLearning() {
    this.link.send({ type: "cancel" });
    this.learning.stop();
    announce("Learning stopped");
    this.tell();
  }

  /** `goals`: where strokes cross, a field towards each goal, to be looked at one by one. */
  setField(field, goals = []) {
    Object.assign(this, { goals });
    this.#whole = field;
    const button = (words, q) => {
      const node = element("button", { type: "button", role: "radio", "data-goal": q === null ? "all" : String(q) }, words);
      node.addEventListener("click", () => this.showGoal(q));
      return node;
    };
    const choices = goals.length ? [button("As drawn", null), ...goals.map((_, q) => button(`To ${q + 1}`, q))] : [];
    $("goals").replaceChildren(...choices);
    $("goals").hidden = !goals.length;
    this.showGoal(null);
  }

  /** The motions as drawn, or the field towards one goal: particles follow what is shown. */
  showGoal(q) {
    this.goal = q;
    this.field = q === null ? this.#whole : this.goals[q];
    for (const node of $("goals").children) {
      node.setAttribute("aria-checked", String(node.dataset.goal === (q === null ? "all" : String(q))));
    }
    this.canvas.flow.set(this.field);
    this.particles.clear();
    if (this.goals.length) announce(q === null ? "The motions as drawn" : `The field towards attractor ${q + 1}`);
    this.canvas.repaint("backdrop", "flow", "paper");
    this.tell();
  }

  forgetField() {
    this.worst = null;
    this.setField(null);
    this.learning.forget();
  }

  #askWay({ id, at }) {
    const goal = this.goal ?? undefined;
    if (!this.link.send({ type: "simulate", rev: this.fieldRev, id, from: at, goal })) this.particles.failed(id);
  }

  #rested({ arrives, q }) {
    if (arrives) mark.arrived = ++this.#arrived;
    announce(arrives ? `Particle arrived at attractor ${q + 1}` : "Particle is still on its way");
  }

  #connected() {
    if (!this.link.isOpen) {
      if (this.learning.running) this.learning.stop();
      this.particles.failed();
    }
    this.tell();
  }

  // --- looks ---

  toggleLayer(index) {
    const name = LAYERS[index];
    this.shown[name] = !this.shown[name];
    document.querySelector(`[data-layer=${name}]`).setAttribute("aria-pressed", String(this.shown[name]));
    this.canvas.repaint("scene", "backdrop", "flow");
    this.store();
  }

  setTheme(name) {
    this.theme = name === "dark" ? DARK : LIGHT;
    document.documentElement.dataset.theme = this.theme.name;
    if (this.found) this.answer.show(this.found, this.drawing.strokes, this.labels, this.theme);
    this.learning.paint(this.theme);
    this.canvas.repaint("scene", "backdrop", "flow", "paper");
  }

  /** The state in words, on buttons, and for those who watch from outside. */
  tell() {
    const { drawing, learning, link, field } = this;
    const [stale, none, thinking] = [this.isStale, drawing.strokes.length === 0, this.answered < this.rev];
    const [is, words, name] = this.#status(thinking, none);
    $("connection").dataset.is = is;
    write("connection-words", words);
    mark.state = this.gestures.isDrawing ? "drawing" : name;
    mark.field = field ? (stale ? "stale" : "current") : "none";
    mark.particles = this.particles.items.length;
    mark.arrived = this.#arrived;
    $("stale").hidden = !stale || learning.running;
    $("empty").hidden = !none || this.gestures.isDrawing;
    $("undo").disabled = !drawing.canUndo;
    $("redo").disabled = !drawing.canRedo;
    $("clear").disabled = $("save").disabled = none;
    const answered = link.isOpen && this.found?.n_attractors > 0;
    $("learn").disabled = !answered || thinking || learning.running || this.isKernel;
    $("relearn").hidden = this.isKernel;
    write("learn", field && !stale ? "Learn again" : "Learn a stable field");
    write("learn-words", this.isKernel && !none ? "A field is learned from paths. Switch the graph to paths first." : "");
    // Motions have no map, so there is nothing to tint.
    for (const name of ["potential", "basins"]) document.querySelector(`[data-layer=${name}]`).disabled = Boolean(field && !field.basin);
    for (const button of $("take").children) {
      const madeHere = ["png", "svg"].includes(button.dataset.take);
      const fieldMissing = button.classList.contains("needs-field") && (!field || stale);
      button.disabled = none || (!madeHere && !answered) || fieldMissing;
    }
  }

  #status(thinking, none) {
    const { link } = this;
    if (!link.isOpen && this.rev === 0 && !link.retryIn) return ["wait", "Connecting", "connecting"];
    if (!link.isOpen && link.reason) return ["lost", link.reason, "offline"];
    if (!link.isOpen) return ["lost", `No connection, ${link.retryIn ? `next try in ${link.retryIn} s` : "trying"}`, "offline"];
    if (this.learning.running) return ["busy", "Learning", "learning"];
    if (thinking) return ["busy", "Looking", "thinking"];
    return ["open", "Ready", none ? "empty" : "ready"];
  }
}
