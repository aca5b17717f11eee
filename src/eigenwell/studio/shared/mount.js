// A field to look at and to play with: it moves, particles can be dropped into it, goals dragged, stones and walls put in the
// way, an arm that draws them pushed; wheel and fingers look closer. In a notebook strokes can be drawn on it, too.

import { paintAxes } from "./axes.js";
import { paintBackdrop } from "./backdrop.js";
import { learnedOf } from "./field.js";
import { Flow } from "./flow.js";
import { round } from "./magnets.js";
import { DARK, LIGHT } from "./palette.js";
import { Particles } from "./particles.js";
import { Pen } from "./pen.js";
import { Playground } from "./playground.js";
import { GRIP, Pusher } from "./push.js";
import { paintAttractor, paintDots, paintStroke } from "./scene.js";
import { explained, Tip } from "./tips.js";
import { View } from "./view.js";

// Milliseconds until a moved view is computed anew.
const SETTLED = 90;
// Particles of one shower; pixels within which a finger or an arrow takes hold; pixels to one of the regions under a hand.
const RAIN = 14, REACH = { mouse: 14, touch: 26 }, ROUGH = 4;

/**
 * paper       a canvas that fills its place
 * content     {field, strokes: [{x, q, dots}], colours, goals, step, units}; field may be null, and goals are then where strokes end;
 *             dots, where there are any, are labels of samples without order; step: seconds between samples, where they have order;
 *             units: those of the data, where axes are wanted (axes.js)
 * options     watch: a node whose dataset says how it goes; draws() -> whether a drag draws; drawn({t, x}); scrolls: the page
 *             around it does; word and first: what a goal is called, and the number of the first
 */
export class Mounted {
  view = new View();
  flow = new Flow();
  particles = new Particles();
  /** Goals elsewhere, stones and walls. */
  ground = new Playground();
  /** The arm that draws the strokes. */
  pusher = new Pusher();
  /** What is seen of it. */
  shown = { strokes: true, flow: true, basins: true, potential: true };
  learned = null;
  strokes = [];
  goals = [];
  #paper;
  #ctx;
  #layer = document.createElement("canvas");
  #backdrop = document.createElement("canvas");
  #still = matchMedia("(prefers-reduced-motion: reduce)");
  #dark = matchMedia("(prefers-color-scheme: dark)");
  #options;
  #theme = LIGHT;
  #seen = null;
  #last = 0;
  #timer = 0;
  #open = true;
  #pen;
  #draft = null;
  #handle = null;
  /** Where a hand that drags was last. */
  #hand = [0, 0];
  #rough = false;
  #faint = false;
  #step = 0;
  #units = null;

  constructor(paper, content, options = {}) {
    this.#paper = paper;
    this.#ctx = paper.getContext("2d");
    this.#options = options;
    this.particles.way = (at) => this.learned?.way(at) ?? null;
    this.particles.addEventListener("rest", () => this.#tell("arrived", 1));
    this.#wire();
    new Tip(paper, (at) => (this.#pen.busy ? "" : explained(this.view, at, {
      goals: (this.learned?.attractors ?? this.goals).map((x) => ({ x })), field: this.#seen, shown: this.shown,
      word: options.word, first: options.first,
    })));
    this.#resized = new ResizeObserver(() => this.#size());
    this.set(content);
    this.#resized.observe(paper);
    this.#dark.addEventListener("change", () => this.#size());
    new MutationObserver(() => this.#size()).observe(document.documentElement, { attributeFilter: ["data-theme"] });
    requestAnimationFrame((now) => this.#frame(now));
  }

  #resized;

  /** Something else to look at. */
  set({ field, strokes, colours, goals, step, units }) {
    this.#units = units ?? null;
    this.pusher.stop();
    this.#step = step ?? 0;
    this.goals = goals ?? [];
    this.learned = field ? learnedOf(field, colours) : null;
    this.strokes = strokes;
    this.particles.clear();
    this.ground.putBack();
    if (this.learned) this.ground.enter(this.learned);
    this.#size();
  }

  /** The world was changed, by a hand or a button: `rough` while it is still in the hand. */
  worldChanged(rough = false) {
    this.#rough = rough;
    if (rough) this.particles.later();
    else this.particles.follow();
    if (this.learned) this.pusher.follow(this.learned);
    this.#look(false);
  }

  /** Particles all over the picture. */
  rain(count = RAIN) {
    for (let k = 0; k < count; k++) {
      const { view } = this, [x, y] = [0.06 + 0.88 * ((k * 0.618034) % 1), 0.1 + 0.75 * ((k * 0.754878) % 1)];
      setTimeout(() => this.particles.add(view.toWorld([x * view.width, y * view.height])), this.#still.matches ? 0 : 90 * k);
    }
  }

  /** Strokes with a clock can be drawn by an arm. */
  get pushes() { return this.#step > 0 && this.learned !== null && this.strokes.some(({ dots }) => !dots); }

  /** The arm begins, or leaves. */
  push() {
    const strokes = this.strokes.filter(({ dots }) => !dots).map(({ x, q }) => ({ t: x.map((_, k) => k * this.#step), x, q }));
    this.particles.clear();
    if (this.pusher.busy) this.pusher.stop();
    else this.pusher.start(this.learned, strokes);
  }

  /** For a valley: what is seen, towards the first goal where each has a valley of its own. */
  get deep() {
    const { learned, view } = this;
    const field = learned?.hasMemory ? learned.seen(0, view.box(0.15), 1 / view.scale) : this.#seen;
    const strokes = this.strokes.filter(({ dots, q }) => !dots && (!learned.hasMemory || q === 0)).map(({ x, q }, id) => ({ id, x, q }));
    return { field, strokes, labels: strokes.map(({ q }) => q) };
  }

  get still() { return this.#still.matches; }

  repaint() { this.#paintBackdrop(); }

  close() {
    this.#open = false;
    this.#resized.disconnect();
  }

  fit() {
    this.view.moved = false;
    this.#size();
  }

  #tell(name, more) {
    const { watch } = this.#options;
    if (watch) watch.dataset[name] = Number(watch.dataset[name] ?? 0) + more;
  }

  #size() {
    const { clientWidth: width, clientHeight: height } = this.#paper;
    const ratio = Math.min(devicePixelRatio || 1, 2.5);
    // A notebook has a theme of its own, and so may a page.
    const jupyter = document.body.dataset.jpThemeLight, chosen = document.documentElement.dataset.theme;
    const dark = jupyter ? jupyter === "false" : chosen ? chosen === "dark" : this.#dark.matches;
    this.#theme = dark ? DARK : LIGHT;
    for (const canvas of [this.#paper, this.#layer, this.#backdrop]) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    if (this.view.moved) this.view.resize(width, height);
    else this.view.fit(width, height, this.strokes);
    this.#look(true);
  }

  #look(anew) {
    const rough = this.#rough;
    this.#seen = this.learned?.seen(null, this.view.box(0.15), (rough ? ROUGH : 1) / this.view.scale, rough ? 0.55 : 1) ?? null;
    this.flow.set(this.#seen, anew);
    this.#paintBackdrop();
  }

  /** All that stands still, strokes and the paper, too: nothing of it is painted again while only the flow moves. */
  #paintBackdrop() {
    const ctx = this.#backdrop.getContext("2d"), { view } = this;
    paintBackdrop(ctx, view, this.#theme, this.#seen, this.shown, false);
    ctx.lineCap = ctx.lineJoin = "round";
    const strength = this.#faint ? 0.35 : 1;
    for (const { x, q, dots } of this.shown.strokes ? this.strokes : []) {
      if (dots) paintDots(ctx, view, this.#theme, x, dots.map((label) => this.#number(label)), strength);
      else paintStroke(ctx, view, this.#theme, { x }, this.#number(q), false, strength);
    }
    if (this.#units) paintAxes(ctx, view, this.#theme, this.#units);
    ctx.globalCompositeOperation = "destination-over";
    ctx.fillStyle = this.#theme.paper;
    ctx.fillRect(0, 0, view.width, view.height);
    ctx.globalCompositeOperation = "source-over";
  }

  #moved() {
    this.#paintBackdrop();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#look(false), SETTLED);
  }

  #frame(now) {
    if (!this.#open) return;
    requestAnimationFrame((next) => this.#frame(next));
    // A notebook mounts it before it has a size.
    if (!this.#paper.width || !this.#paper.height) return;
    const seconds = Math.min(Math.max((now - this.#last) / 1000, 0), 0.05);
    this.#last = now;
    const [ctx, view, theme] = [this.#ctx, this.view, this.#theme];
    // Where goals are elsewhere, or an arm draws, strokes are how it was shown, and not how it goes now.
    const faint = this.ground.goals.size > 0 || this.pusher.busy;
    if (faint !== this.#faint) {
      this.#faint = faint;
      this.#paintBackdrop();
    }
    const whole = (canvas) => ctx.drawImage(canvas, 0, 0, view.width, view.height);
    const layer = this.#layer.getContext("2d");
    whole(this.#backdrop);
    if (this.shown.flow) {
      if (this.#still.matches) this.flow.paintStill(layer, view, theme, false);
      else {
        this.flow.step(seconds, view);
        this.flow.paint(layer, view, theme, false);
      }
      whole(this.#layer);
    }
    ctx.lineCap = ctx.lineJoin = "round";
    if (this.#draft) paintStroke(ctx, view, theme, { x: this.#draft.map(({ x }) => view.toWorld(x)) }, null, false);
    this.ground.paint(ctx, view, theme);
    (this.learned?.attractors ?? this.goals).forEach((x, q) => (
      paintAttractor(ctx, view, theme, { x }, this.learned?.colours[q] ?? q, q + (this.#options.first ?? 1) - 1)
    ));
    this.particles.step(seconds, this.#still.matches);
    this.particles.paint(ctx, view, theme);
    this.pusher.step(seconds);
    this.pusher.paint(ctx, view, theme);
    this.#tell("frames", 1);
  }

  get theme() { return this.#theme; }

  /** The number of a goal's colour; null for what belongs to none. */
  #number(q) { return q < 0 ? null : this.learned?.colours[q] ?? q; }

  // A click drops a particle, a drag draws or looks elsewhere, two fingers and the wheel look closer.

  #wire() {
    const paper = this.#paper;
    this.#pen = new Pen(paper, {
      down: (at, event) => this.#down(at, event),
      samples: (list) => (this.#draft ??= []).push(...list),
      drag: (from, to, far) => this.#drag(to, far),
      up: (kind, time, tapped, at) => this.#up(kind, tapped, at),
      cancel: () => this.#rest(),
      pinch: (factor, at, dx, dy) => {
        this.view.pan(dx, dy);
        this.view.zoom(factor, at);
        this.#moved();
      },
      cursor: () => {},
      scrolls: this.#options.scrolls,
    });
    // Where the page around it scrolls under a finger, what the finger takes hold of does not.
    paper.addEventListener("touchstart", (event) => {
      const { left, top } = paper.getBoundingClientRect(), [{ clientX, clientY }] = event.touches;
      if (this.#held([clientX - left, clientY - top], REACH.touch)) event.preventDefault();
    }, { passive: false });
    paper.addEventListener("keydown", ({ key }) => {
      const some = this.strokes[Math.floor(Math.random() * this.strokes.length)];
      if ((key === "Enter" || key === " ") && some) this.particles.add(some.x[some.dots ? Math.floor(Math.random() * some.x.length) : 0]);
      else if (key === "Escape") this.particles.clear();
      else if (key === "0") this.fit();
    });
  }

  /** What a hand takes hold of at a place of the canvas. */
  #held(at, reach) {
    if (!this.learned) return null;
    const { pen } = this.pusher;
    return pen && this.view.away(pen, at) < GRIP ? { kind: "pen" } : this.ground.at(this.view, at, reach);
  }

  #down(at, event) {
    this.#hand = at;
    this.#handle = this.#held(at, REACH[event.pointerType] ?? 14);
    if (this.#handle?.kind === "pen") this.pusher.hold(true);
    return this.#handle ? "drag" : this.#options.draws?.() && event.button === 0 ? "draw" : "pan";
  }

  #drag(to, far) {
    const [from, { view }] = [this.#hand, this];
    if (this.#handle?.kind === "pen") {
      const [a, b] = [from, to].map((at) => view.toWorld(at));
      this.pusher.push(b[0] - a[0], b[1] - a[1]);
    } else if (!far) return;
    else if (this.#handle) {
      if (this.ground.drag(this.#handle, view.toWorld(to), view)) this.worldChanged(true);
    } else {
      view.pan(to[0] - from[0], to[1] - from[1]);
      this.#moved();
    }
    this.#hand = to;
  }

  #up(kind, tapped, at) {
    const [draft, handle] = [this.#draft, this.#handle];
    if (tapped && handle?.kind === "stone") this.ground.remove(handle);
    this.#rest();
    if (handle) return;
    if (tapped) this.particles.add(this.view.toWorld(at));
    else if (kind === "draw" && draft.length > 2) {
      this.#options.drawn({ t: draft.map(({ t }) => round(t)), x: draft.map(({ x }) => this.view.toWorld(x).map(round)) });
    }
  }

  /** The hand is off the canvas. */
  #rest() {
    const handle = this.#handle;
    this.#draft = this.#handle = null;
    this.pusher.hold(false);
    if (handle && handle.kind !== "pen") this.worldChanged();
  }
}
