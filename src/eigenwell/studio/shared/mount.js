// A field to look at: it moves, it can be turned about with wheel and fingers, and particles can be dropped into it. In a
// notebook strokes can be drawn on it, too.

import { paintBackdrop } from "./backdrop.js";
import { learnedOf } from "./field.js";
import { Flow } from "./flow.js";
import { colour, DARK, LIGHT, mark } from "./palette.js";
import { Particles } from "./particles.js";
import { View } from "./view.js";

const SHOWN = { basins: true, potential: true };
// Pixels that a pointer must move to draw or to look elsewhere; and milliseconds until a moved view is computed anew.
const TAP = 6, SETTLED = 90;

/**
 * paper       a canvas that fills its place
 * content     {field, strokes: [{x, q, dots}], colours, goals}; field may be null, and goals are then where strokes end;
 *             dots, where there are any, are labels of samples without order
 * options     watch: a node whose dataset says how it goes; draws() -> whether a drag draws; drawn({t, x})
 */
export class Mounted {
  view = new View();
  flow = new Flow();
  particles = new Particles();
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
  #fingers = new Map();
  #from = null;
  #pinched = null;
  #draft = null;

  constructor(paper, content, options = {}) {
    this.#paper = paper;
    this.#ctx = paper.getContext("2d");
    this.#options = options;
    this.particles.way = (at) => this.learned?.way(at) ?? null;
    this.particles.addEventListener("rest", () => this.#tell("arrived", 1));
    this.#wire();
    this.#resized = new ResizeObserver(() => this.#size());
    this.set(content);
    this.#resized.observe(paper);
    this.#dark.addEventListener("change", () => this.#size());
    requestAnimationFrame((now) => this.#frame(now));
  }

  #resized;

  /** Something else to look at. */
  set({ field, strokes, colours, goals }) {
    this.goals = goals ?? [];
    this.learned = field ? learnedOf(field, colours) : null;
    this.strokes = strokes;
    this.#size();
  }

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
    // A notebook has a theme of its own.
    const jupyter = document.body.dataset.jpThemeLight;
    this.#theme = (jupyter ? jupyter === "false" : this.#dark.matches) ? DARK : LIGHT;
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
    this.#seen = this.learned?.seen(null, this.view.box(0.15), 1 / this.view.scale) ?? null;
    this.flow.set(this.#seen, anew);
    this.#paintBackdrop();
  }

  #paintBackdrop() { paintBackdrop(this.#backdrop.getContext("2d"), this.view, this.#theme, this.#seen, SHOWN, false); }

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
    ctx.fillStyle = theme.paper;
    ctx.fillRect(0, 0, view.width, view.height);
    const whole = (canvas) => ctx.drawImage(canvas, 0, 0, view.width, view.height);
    const layer = this.#layer.getContext("2d");
    whole(this.#backdrop);
    if (this.#still.matches) this.flow.paintStill(layer, view, theme, false);
    else {
      this.flow.step(seconds, view);
      this.flow.paint(layer, view, theme, false);
    }
    whole(this.#layer);
    ctx.lineCap = ctx.lineJoin = "round";
    for (const { x, q, dots } of this.strokes) {
      const at = x.map((p) => view.toScreen(p));
      if (dots) at.forEach((p, i) => this.#dot(p, dots[i]));
      else this.#line(at, q);
    }
    if (this.#draft) this.#line(this.#draft.map(({ at }) => at), -1);
    (this.learned?.attractors ?? this.goals).forEach((a, q) => this.#goal(view.toScreen(a), q));
    this.particles.step(seconds, this.#still.matches);
    this.particles.paint(ctx, view, theme);
    this.#tell("frames", 1);
  }

  #tint(q) { return q < 0 ? this.#theme.faint : colour(this.#theme, this.learned?.colours[q] ?? q); }

  #line(at, q) {
    const ctx = this.#ctx;
    ctx.beginPath();
    at.forEach((p) => ctx.lineTo(...p));
    ctx.lineWidth = 2.2;
    ctx.strokeStyle = ctx.fillStyle = this.#tint(q);
    ctx.stroke();
    ctx.beginPath();
    mark(Math.max(this.learned?.colours[q] ?? q, 0), ...at[0], 5).forEach((corner) => ctx.lineTo(...corner));
    ctx.fill();
  }

  #dot([x, y], q) {
    const ctx = this.#ctx;
    ctx.beginPath();
    ctx.arc(x, y, 2.6, 0, 2 * Math.PI);
    ctx.fillStyle = this.#tint(q);
    ctx.fill();
  }

  #goal([x, y], q) {
    const [ctx, theme] = [this.#ctx, this.#theme];
    for (const [width, style, r] of [[6, theme.paper, 9], [2.6, theme.ink, 8]]) {
      ctx.beginPath();
      ctx.moveTo(x - r, y); ctx.lineTo(x + r, y); ctx.moveTo(x, y - r); ctx.lineTo(x, y + r);
      ctx.lineWidth = width;
      ctx.strokeStyle = style;
      ctx.stroke();
    }
    ctx.beginPath();
    ctx.arc(x + 19, y - 19, 10.5, 0, 2 * Math.PI);
    ctx.fillStyle = theme.paper;
    ctx.fill();
    ctx.lineWidth = 2;
    ctx.strokeStyle = this.#tint(q);
    ctx.stroke();
    ctx.fillStyle = theme.ink;
    ctx.font = "600 12px system-ui, sans-serif";
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    ctx.fillText(String(q + 1), x + 19, y - 18.5);
  }

  // A click drops a particle, a drag draws or looks elsewhere, two fingers and the wheel look closer.

  #wire() {
    const paper = this.#paper;
    paper.addEventListener("pointerdown", (event) => this.#down(event));
    paper.addEventListener("pointermove", (event) => this.#move(event));
    paper.addEventListener("pointerup", (event) => this.#up(event, true));
    paper.addEventListener("pointercancel", (event) => this.#up(event, false));
    paper.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.view.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0016)), [event.offsetX, event.offsetY]);
      this.#moved();
    }, { passive: false });
    paper.addEventListener("keydown", ({ key }) => {
      const some = this.strokes[Math.floor(Math.random() * this.strokes.length)];
      if ((key === "Enter" || key === " ") && some) this.particles.add(some.x[0]);
      else if (key === "Escape") this.particles.clear();
      else if (key === "0") this.fit();
    });
  }

  #down(event) {
    this.#fingers.set(event.pointerId, [event.offsetX, event.offsetY]);
    try {
      this.#paper.setPointerCapture(event.pointerId);
    } catch {
      // Made by a script: it works without.
    }
    const drawing = this.#fingers.size === 1 && Boolean(this.#options.draws?.());
    const at = [event.offsetX, event.offsetY];
    this.#from = { at, far: this.#fingers.size > 1, start: event.timeStamp, drawing };
    this.#draft = drawing ? [{ at, t: 0 }] : null;
    this.#pinched = this.#fingers.size === 2 ? this.#between() : null;
  }

  #move(event) {
    if (!this.#fingers.has(event.pointerId)) return;
    const was = this.#fingers.get(event.pointerId), now = [event.offsetX, event.offsetY];
    this.#fingers.set(event.pointerId, now);
    const from = this.#from;
    if (this.#pinched && this.#fingers.size === 2) {
      const next = this.#between();
      this.view.pan(next.x - this.#pinched.x, next.y - this.#pinched.y);
      this.view.zoom(next.apart / this.#pinched.apart, [next.x, next.y]);
      this.#pinched = next;
    } else if (from && (from.far ||= Math.hypot(now[0] - from.at[0], now[1] - from.at[1]) > TAP) && !from.drawing) {
      this.view.pan(now[0] - was[0], now[1] - was[1]);
    } else {
      if (this.#draft) this.#draft.push({ at: now, t: (event.timeStamp - from.start) / 1000 });
      return;
    }
    this.#moved();
  }

  #up(event, lifted) {
    this.#fingers.delete(event.pointerId);
    const [from, draft] = [this.#from, this.#draft];
    this.#draft = null;
    if (lifted && from && !this.#fingers.size) {
      if (!from.far) this.particles.add(this.view.toWorld(from.at));
      else if (from.drawing && draft.length > 2) {
        const round = (c) => Math.round(c * 1e5) / 1e5;
        this.#options.drawn({ t: draft.map(({ t }) => round(t)), x: draft.map(({ at }) => this.view.toWorld(at).map(round)) });
      }
    }
    if (!this.#fingers.size) this.#from = this.#pinched = null;
  }

  #between() {
    const [[ax, ay], [bx, by]] = [...this.#fingers.values()];
    return { x: (ax + bx) / 2, y: (ay + by) / 2, apart: Math.max(Math.hypot(ax - bx, ay - by), 1) };
  }
}
