// The state of the page, and what follows from a change of it.

import { Answer, write } from "./answer.js";
import { unask } from "./ask.js";
import { Canvas } from "./canvas.js";
import { Comparison } from "./compare.js";
import { Drawing } from "./drawing.js";
import { FieldView } from "./fieldview.js";
import { Gestures } from "./gestures.js";
import { Learning } from "./learning.js";
import { Link } from "./link.js";
import { keptColours } from "./magnets.js";
import { announce, dismiss, hint, notify } from "./notify.js";
import { DARK, LIGHT } from "./palette.js";
import { Particles } from "./particles.js";
import { Play } from "./play.js";
import { Settings } from "./settings.js";
import { Shuffle } from "./shuffle.js";
import { save } from "./storage.js";

const $ = (id) => document.getElementById(id);
/** Read-only for those who watch the page from outside. */
export const mark = document.body.dataset;

const EMPTY = "Strokes that come to rest at one place share a goal.";
const AWAY = "Nobody has looked at these strokes yet: there is no connection to the server. They are kept until it is back.";
const GRAPH = 1;
// Milliseconds of rest after a stroke before learning starts: a hand that draws on is not interrupted.
const REST = 60;
// World units within which a goal that has lost its strokes is still the same place.
const SAME = 0.08;
export const LAYERS = ["strokes", "graph", "flow", "potential", "basins", "speed"];
export const SWITCHES = ["auto", "magnets"];

export class Studio {
  drawing = new Drawing();
  particles = new Particles();
  link = new Link();
  answer = new Answer();
  learning = new Learning();
  comparison = new Comparison();
  shown = { strokes: true, graph: false, flow: true, potential: true, basins: true, speed: false };
  shuffle = new Shuffle();
  theme = LIGHT;
  chosenTheme = null;
  tool = "draw";
  limits = null;
  /** Number of the strokes and settings on screen, and of those the server has answered. */
  rev = 0;
  answered = 0;
  found = null;
  /** Colour of every stroke's goal. */
  labels = {};
  /** Stroke that the field misses, and the one it follows least however well. */
  worst = null;
  leastFollowed = null;
  selected = new Set();
  /** When the last stroke was finished, and when learning was asked for. */
  endedAt = null;
  lastEnd = null;
  learnAt = null;
  /** The last field that grew: its weights, and when it was seen. */
  grown = null;
  /** Particles rain once there is a field: somebody asked for an example. */
  rain = false;
  /** What a model's file holds, as the server packed it: kept over a reload, and given back to it. */
  model = null;
  /** The same of strokes that are just coming back, until the server has it. */
  kept = null;
  /** Place from left to right of every goal, in the order of their numbers here; the server is told it. */
  numbers = [];
  #arrived = 0;
  #timers = {};
  #storable = true;
  #graphCame = false;
  #wasKernel;
  #goalsBefore = [];

  /** `choices` as `store` kept them. */
  constructor(choices) {
    for (const name of LAYERS) if (typeof choices.shown?.[name] === "boolean") this.shown[name] = choices.shown[name];
    for (const name of SWITCHES) $(name).checked = choices[name] !== false;
    this.rememberGoals(choices.goals);
    this.settings = new Settings(choices.options);
    this.#wasKernel = this.isKernel;
    this.play = new Play(this);
    this.fields = new FieldView(this);
    this.gestures = new Gestures(this);
    this.canvas = new Canvas($("stage"), () => ({
      theme: this.theme, strokes: this.drawing.strokes, labels: this.labels, found: this.found, field: this.field,
      stale: this.isStale || !this.fields.learned, living: !this.fields.learned, worst: this.worst,
      shown: this.shuffle.busy ? { ...this.shown, strokes: false } : this.shown,
      playground: this.playground, pusher: this.pusher,
      selected: this.selected, particles: this.particles, shuffle: this.shuffle, answered: this.answered === this.rev,
      shuffled: () => this.#shuffled(), ...this.gestures.seen,
    }));
    this.canvas.addEventListener("view", () => this.fields.lookAgain());
    this.drawing.addEventListener("change", ({ detail }) => this.#drawn(detail));
    this.settings.addEventListener("change", ({ detail }) => this.#told(detail));
    this.particles.way = (at) => this.fields.way(at);
    this.particles.addEventListener("rest", ({ detail }) => this.#rested(detail));
    this.link.addEventListener("state", () => this.#connected());
    this.answer.show(null, [], {}, this.theme, EMPTY);
  }

  get view() { return this.canvas.view; }
  get playground() { return this.play.ground; }
  get pusher() { return this.play.pusher; }
  get field() { return this.fields.seen; }
  get isStale() { return this.fields.learned !== null && this.fields.rev !== this.rev; }
  get isKernel() { return this.settings.options.graph === "kernel"; }
  get brush() { return this.settings.brush; }
  get isLive() { return $("auto").checked; }
  get goals() { return this.found?.attractors ?? []; }

  // --- strokes and settings ---

  #drawn({ what, endedAt }) {
    const { strokes } = this.drawing;
    this.select([...this.selected].filter((id) => this.drawing.find(id)));
    this.endedAt = endedAt ?? null;
    this.lastEnd = endedAt ?? performance.now();
    dismiss();
    if (what === "loaded") {
      this.play.ground.putBack(); // stones and walls were put among other strokes
      this.forgetField();
      this.rememberGoals([]);
    }
    const back = what === "undone" || what === "redone";
    const lost = (back || what === "moved") && !this.view.moved && !this.view.holds(strokes);
    if (what === "loaded" || what === "restored" || lost || !strokes.length) this.canvas.refit();
    if (what !== "drawn" && what !== "restored") announce(`Strokes ${what}. There are ${strokes.length}.`);
    unask();
    this.playground.homeGoals();
    this.pusher.stop();
    this.publish(what !== "restored");
    // Something that moves at once; what is learned takes its place.
    if (!this.kept && what !== "loaded" && this.fields.sketchNow()) this.flowSeen(this.rev);
  }

  #told({ sliding, what }) {
    if (what.order === "unordered" && !this.isKernel && this.found && !this.drawing.strokes.some((s) => s.v)) {
      this.shuffle.start(this.drawing.strokes, this.labels);
      this.canvas.repaint("scene");
    } else this.shuffle.stop();
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
   * another page may have kept newer ones since. What is being learned goes on, and is a field of the strokes before. */
  publish(fresh = true) {
    const { strokes } = this.drawing;
    clearTimeout(this.#timers.send);
    clearTimeout(this.#timers.teach);
    mark.rev = ++this.rev;
    this.comparison.forget(this.rev);
    mark.strokes = strokes.length;
    if (!strokes.length) {
      this.playground.putBack();
      this.forgetField();
      this.learning.stop();
      this.rememberGoals([]);
      Object.assign(this, { found: null, labels: {}, answered: this.rev });
      this.answer.show(null, [], {}, this.theme, EMPTY);
      $("code").hidden = true;
    }
    if (strokes.length && !this.fields.learned) this.fields.forget(); // the example of the empty page
    if (strokes.length && !this.found && !this.link.isOpen) this.answer.show(null, strokes, {}, this.theme, AWAY);
    this.link.send({ type: "strokes", rev: this.rev, strokes, options: this.settings.options });
    if (fresh) this.storeSoon();
    this.canvas.repaint("scene", "backdrop", "flow", "paper");
    this.tell();
  }

  /** The samples were shuffled and are back. */
  #shuffled() {
    const [same, all] = this.shuffle.same(this.labels, this.drawing.strokes);
    const words = same === all ? `all ${all.toLocaleString("en")} samples have` : `${same} of ${all} samples have`;
    hint(`Shuffled, and read without their order: ${words} the label they had.`, 9000);
    mark.shuffled = `${same} ${all}`;
  }

  /** What was found, with the numbers and colours that its goals have for life: a new goal comes after the others. */
  identified(found) {
    const ids = found.attractors.map(() => []);
    for (const [id, label] of Object.entries(found.labels)) if (Number.isInteger(label)) ids[label]?.push(id);
    const now = found.attractors.map(({ x }, q) => ({ x, ids: ids[q] }));
    const colours = keptColours(this.#goalsBefore, now, SAME);
    this.#goalsBefore = now.map((goal, q) => ({ ...goal, colour: colours[q] }));
    this.numbers = colours.map((_, q) => q).sort((a, b) => colours[a] - colours[b]);
    const inOrder = (list) => this.numbers.map((q) => list[q]);
    const inColour = (label) => (Array.isArray(label) ? label.map(inColour) : colours[label] ?? label);
    const labels = Object.fromEntries(Object.entries(found.labels).map(([id, label]) => [id, inColour(label)]));
    const attractors = inOrder(found.attractors.map((a, q) => ({ ...a, colour: colours[q], ids: ids[q] })));
    const [spectra, embeddings] = [found.spectra, found.embeddings].map((list) => (list?.length ? inOrder(list) : list));
    Object.assign(this, { found: { ...found, attractors, spectra, embeddings }, labels });
    if (this.shuffle.busy && this.canvas.still) {
      this.shuffle.stop();
      this.#shuffled();
    }
  }

  /** Goals with the colours they had when they were kept, as [x, y, colour]. */
  rememberGoals(kept) {
    const sane = (Array.isArray(kept) ? kept : []).filter((g) => Array.isArray(g) && g.length === 3 && g.every(Number.isFinite));
    this.#goalsBefore = sane.map(([x, y, colour]) => ({ x: [x, y], colour: Math.max(0, Math.round(colour)), ids: [] }));
  }

  get keptGoals() { return this.goals.map(({ x, colour }) => [...x, colour]); }

  storeSoon() {
    clearTimeout(this.#timers.store);
    this.#timers.store = setTimeout(() => this.store(), 250);
  }

  /** Before the page goes: what has not been kept yet. */
  storeRest() { if (this.#timers.store) this.store(); }

  store() {
    clearTimeout(this.#timers.store);
    this.#timers.store = 0;
    const { settings, shown, chosenTheme: theme, drawing, view } = this;
    const switches = Object.fromEntries(SWITCHES.map((name) => [name, $(name).checked]));
    const model = this.model && this.fields.rev === this.rev ? this.model : null;
    const kept = save(drawing, { options: settings.options, shown, theme, view: view.kept, goals: this.keptGoals, ...switches }, model);
    if (!kept && this.#storable) notify("This browser has no room to keep your strokes. Save them before you leave.");
    this.#storable = kept;
  }

  /** Strokes by their ids; none for an empty list. */
  select(ids) {
    const chosen = new Set([ids ?? []].flat());
    if (chosen.size === this.selected.size && [...chosen].every((id) => this.selected.has(id))) return;
    this.selected = chosen;
    if (chosen.size) mark.selected = [...chosen].join(" ");
    else delete mark.selected;
    $("delete").disabled = !chosen.size;
    const { strokes } = this.drawing;
    const one = strokes.findIndex((s) => chosen.has(s.id)) + 1;
    if (chosen.size) announce(chosen.size > 1 ? `${chosen.size} strokes selected` : `Stroke ${one} of ${strokes.length} selected`);
    this.canvas.repaint("scene");
  }

  // --- field and particles ---

  /** Something moves for these strokes: how long it took since the pen was lifted, the first time. */
  flowSeen(rev) {
    if (mark.flowRev === String(rev)) return;
    mark.flowRev = rev;
    const since = this.lastEnd;
    this.canvas.afterPaint(() => { mark.flowMs = (performance.now() - since).toFixed(0); });
  }

  teach() {
    if ($("learn").disabled) return;
    clearTimeout(this.#timers.teach);
    this.learnAt = performance.now();
    delete mark.learnMs;
    if (this.link.send({ type: "learn", rev: this.rev, numbers: this.numbers })) this.learning.start(this.theme, this.rev);
    this.tell();
  }

  /** Live: once nobody is drawing. */
  teachSoon() {
    clearTimeout(this.#timers.teach);
    if (!this.isLive || this.isKernel || (this.fields.learned && !this.isStale && !this.fields.growing)) return;
    this.#timers.teach = setTimeout(() => (this.gestures.pen.busy ? this.teachSoon() : this.teach()), REST);
  }

  stopLearning() {
    this.link.send({ type: "cancel" });
    this.learning.stop();
    announce("Learning stopped");
    this.tell();
  }

  forgetField() {
    this.pusher.stop();
    this.worst = this.model = null;
    this.fields.forget();
    this.particles.clear();
    this.learning.forget();
  }

  #rested({ arrives, q }) {
    if (arrives) mark.arrived = ++this.#arrived;
    const number = this.goals.findIndex((a) => a.colour === q) + 1;
    announce(arrives ? `Particle arrived at goal ${number || ""}` : "Particle is still on its way");
  }

  #connected() {
    if (!this.link.isOpen && this.learning.running) this.learning.stop();
    this.tell();
  }

  // --- looks ---

  /** Motions that remember have no one valley: what can be shown is the one towards a goal. False where there is none yet. */
  needsValley() {
    if (!this.field || this.field.potential) return true;
    if (!this.fields.learned?.goals.length) {
      hint("The valley comes with the learned flow.", 4000);
      return false;
    }
    this.fields.showGoal(0);
    hint("Where strokes cross, each goal has a valley of its own: this is the one towards goal 1.", 6000);
    return true;
  }

  toggleLayer(index) {
    const name = LAYERS[index];
    const hidden = name === "potential" && this.field && !this.field.potential;
    this.shown[name] = hidden ? this.needsValley() || this.shown[name] : !this.shown[name];
    this.canvas.repaint("scene", "backdrop", "flow");
    this.store();
    this.tell();
  }

  setTheme(name) {
    this.theme = name === "dark" ? DARK : LIGHT;
    document.documentElement.dataset.theme = this.theme.name;
    [...$("speeds").querySelectorAll("i")].forEach((step, k) => { step.style.background = this.theme.speeds[k]; });
    this.comparison.forget(0);
    if (this.found) this.answer.show(this.found, this.drawing.strokes, this.labels, this.theme);
    this.learning.paint(this.theme);
    this.canvas.repaint("scene", "backdrop", "flow", "paper");
  }

  /** The state in words, on buttons, and for those who watch from outside. */
  tell() {
    const { drawing, learning, link, fields } = this;
    const [stale, none, thinking] = [this.isStale, drawing.strokes.length === 0, this.answered < this.rev];
    const [is, words, name] = this.#status(thinking, none);
    $("connection").dataset.is = is;
    write("connection-words", words);
    mark.state = this.gestures.isDrawing ? "drawing" : name;
    mark.field = fields.learned ? (stale ? "stale" : fields.growing ? "growing" : "current") : "none";
    mark.particles = this.particles.items.length;
    mark.arrived = this.#arrived;
    $("compare").disabled = thinking || !this.found || !link.isOpen;
    $("speeds").hidden = !(this.shown.speed && this.shown.flow && fields.learned);
    $("stale").hidden = !stale || learning.running || thinking || this.isLive;
    $("empty").hidden = !none || this.gestures.isDrawing;
    $("undo").disabled = !drawing.canUndo && !this.play.canStep("back");
    $("redo").disabled = !drawing.canRedo && !this.play.canStep("on");
    $("clear").disabled = $("save").disabled = none;
    $("fitted").hidden = !this.view.moved;
    const answered = link.isOpen && this.found?.n_attractors > 0;
    const busy = learning.running && learning.rev === this.rev;
    $("learn").disabled = !answered || thinking || busy || this.isKernel;
    $("relearn").hidden = this.isKernel;
    write("learn", busy ? "Learning" : mark.field === "current" ? "Learn again" : "Learn the flow");
    write("learn-words", this.isKernel && !none ? "A flow is learned from paths. Switch the graph to paths first." : "");
    // Lit is what is seen.
    const none3d = Boolean(this.field && !this.field.potential);
    for (const layer of LAYERS) {
      const lit = this.shown[layer] && !(layer === "potential" && none3d);
      document.querySelector(`[data-layer=${layer}]`).setAttribute("aria-pressed", String(lit));
    }
    this.play.tell();
    for (const button of $("take").children) {
      const madeHere = ["png", "svg", "pdf", "film", "gif"].includes(button.dataset.take);
      const fieldMissing = button.classList.contains("needs-field") && mark.field !== "current";
      button.disabled = none || (!madeHere && !answered) || fieldMissing;
    }
  }

  #status(thinking, none) {
    const { link } = this;
    if (!link.isOpen && this.rev === 0 && !link.retryIn) return ["wait", "Connecting", "connecting"];
    if (!link.isOpen && link.reason) return ["lost", link.reason, "offline"];
    if (!link.isOpen) return ["lost", `No connection, ${link.retryIn ? `next try in ${link.retryIn} s` : "trying"}`, "offline"];
    if (thinking) return ["busy", "Looking", "thinking"];
    if (this.learning.running) return ["busy", "Learning", "learning"];
    return ["open", "Ready", none ? "empty" : "ready"];
  }
}
