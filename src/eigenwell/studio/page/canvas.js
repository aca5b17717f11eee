// Four canvases on top of each other, each painted only when it must be, at most once a frame.

import { paintBackdrop } from "./backdrop.js";
import { Flow } from "./flow.js";
import { Gif } from "./gif.js";
import { paintHalo, paintSamples, paintScene, paintStroke } from "./scene.js";
import { Sheet } from "./sheet.js";
import { View } from "./view.js";

const LAYERS = ["backdrop", "flow", "scene", "paper"];
// Seconds in which one field takes the place of another.
const FADE = 0.45;
// The paper is painted without smoothing finer than this: phones have three pixels to a point and little to spend.
const FINEST = 2.5;
// Pixels across a GIF, and milliseconds from one of its pictures to the next.
const WIDEST = 720, EVERY = 75;

export class Canvas extends EventTarget {
  view = new View();
  flow = new Flow();
  #state;
  #context = {};
  #dirty = new Set(LAYERS);
  #last = 0;
  #scheduled = false;
  #still = matchMedia("(prefers-reduced-motion: reduce)");
  #afterPaint = [];
  #ratio = 1;
  /** The backdrop as it was, and seconds that are left of it. */
  #before = null;
  #fading = 0;

  /** `state` is read when painting: theme, strokes, labels, found, field, stale, shown, selected, draft, held, particles, pen. */
  constructor(stage, state) {
    super();
    this.stage = stage;
    this.#state = state;
    for (const name of LAYERS) this.#context[name] = stage.querySelector(`#${name}`).getContext("2d");
    new ResizeObserver(() => this.resize()).observe(stage);
    this.#watchPixels();
    this.#still.addEventListener("change", () => this.repaint("flow"));
    this.resize();
  }

  get still() { return this.#still.matches; }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.stage;
    this.#ratio = Math.min(devicePixelRatio || 1, FINEST);
    for (const { canvas } of Object.values(this.#context)) {
      canvas.width = Math.round(width * this.#ratio);
      canvas.height = Math.round(height * this.#ratio);
    }
    for (const context of Object.values(this.#context)) context.setTransform(this.#ratio, 0, 0, this.#ratio, 0, 0);
    if (this.view.moved) {
      this.view.resize(width, height);
      this.#seen();
    } else this.refit(width, height);
  }

  /** A window that moves to a screen with other pixels, or is zoomed. */
  #watchPixels() {
    const same = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
    same.addEventListener("change", () => { this.resize(); this.#watchPixels(); }, { once: true });
  }

  /** Bring all strokes into sight. */
  refit(width = this.view.width, height = this.view.height) {
    this.view.fit(width, height, this.#state().strokes);
    this.#seen();
  }

  zoom(factor, at) {
    this.view.zoom(factor, at);
    this.#seen();
  }

  pan(dx, dy) {
    this.view.pan(dx, dy);
    this.#seen();
  }

  /** As it was saved. */
  look(kept) {
    this.view.look(kept);
    this.#seen();
  }

  #seen() {
    this.stage.dataset.view = this.view.box().map((c) => c.toFixed(4)).join(" ");
    this.repaint(...LAYERS);
    this.dispatchEvent(new Event("view"));
  }

  /** What is behind the strokes now goes softly, and what comes in its place comes so. */
  fade() {
    if (this.still) return;
    const { canvas } = this.#context.backdrop;
    this.#before ??= document.createElement("canvas");
    Object.assign(this.#before, { width: canvas.width, height: canvas.height });
    if (canvas.width && canvas.height) this.#before.getContext("2d").drawImage(canvas, 0, 0);
    this.#fading = FADE;
  }

  repaint(...layers) {
    layers.forEach((l) => this.#dirty.add(l));
    this.#schedule();
  }

  /** Call once what is asked for now has been seen: a frame later than it was painted. */
  afterPaint(call) {
    this.#afterPaint.push(call);
    this.#schedule();
  }

  #schedule() {
    if (this.#scheduled) return;
    this.#scheduled = true;
    requestAnimationFrame((now) => this.#frame(now));
  }

  #frame(now) {
    this.#scheduled = false;
    // After a pause the clock starts afresh: nothing jumps.
    const seconds = Math.min(Math.max((now - this.#last) / 1000, 0), 0.05);
    this.#last = now;
    const s = this.#state();
    const { view } = this;
    if (s.pen.glide(seconds, now, view.width, view.height) || s.pen.steering) this.#dirty.add("paper");
    if (s.particles.busy) {
      s.particles.step(seconds, this.still);
      this.#dirty.add("paper");
    }
    if (s.pusher.busy) {
      s.pusher.step(seconds);
      this.#dirty.add("paper");
    }
    if (s.shuffle.busy) {
      if (s.shuffle.step(seconds, s.answered ? s.labels : null)) {
        s.shuffled();
        this.#dirty.add("scene");
      }
      this.#dirty.add("paper");
    }
    const flowing = s.field && s.shown.flow && !this.still;
    // While a pen is down every millisecond belongs to it.
    if (flowing && !s.pen.busy) {
      this.flow.step(seconds, view);
      this.#count();
      this.#dirty.add("flow");
    }
    if (this.#fading > 0) this.#dirty.add("backdrop");
    const dirty = this.#dirty;
    this.#dirty = new Set();
    if (dirty.has("backdrop")) this.#paintBackdrop(s, seconds);
    if (dirty.has("flow")) this.#paintFlow(s);
    if (dirty.has("scene")) paintScene(this.#context.scene, view, s.theme, s);
    if (dirty.has("paper")) this.#paintPaper(s);
    const seen = this.#afterPaint;
    this.#afterPaint = [];
    if (seen.length) requestAnimationFrame(() => seen.forEach((call) => call()));
    if ((flowing && !s.pen.busy) || s.shuffle.busy || s.particles.busy || s.pen.steering || s.pen.penIsDown
      || this.#fading > 0 || s.pusher.busy) this.#schedule();
  }

  #paintBackdrop(s, seconds) {
    const ctx = this.#context.backdrop, { view } = this;
    this.#fading = Math.max(0, this.#fading - seconds);
    paintBackdrop(ctx, view, s.theme, s.living ? null : s.field, s.shown, s.stale);
    if (!this.#fading) return;
    const share = this.#fading / FADE;
    // The new one as far as it has come, then the old one as far as it is still there.
    ctx.save();
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.globalCompositeOperation = "destination-in";
    ctx.globalAlpha = 1 - share;
    ctx.fillRect(0, 0, ctx.canvas.width, ctx.canvas.height);
    ctx.globalCompositeOperation = "lighter";
    ctx.globalAlpha = share;
    ctx.drawImage(this.#before, 0, 0);
    ctx.restore();
  }

  /** For those who watch from outside; written only when it is another one. */
  #count() {
    const now = String(this.flow.count);
    if (document.body.dataset.flowing !== now) document.body.dataset.flowing = now;
  }

  #paintFlow(s, ctx = this.#context.flow) {
    if (!s.field || !s.shown.flow) ctx.clearRect(0, 0, this.view.width, this.view.height);
    else if (this.still) this.flow.paintStill(ctx, this.view, s.theme, s.stale, s.shown.speed);
    else this.flow.paint(ctx, this.view, s.theme, s.stale, s.shown.speed);
  }

  #paintPaper(s, ctx = this.#context.paper) {
    const { view } = this;
    ctx.clearRect(0, 0, view.width, view.height);
    ctx.lineCap = ctx.lineJoin = "round";
    for (const stroke of s.held) (stroke.v ? paintSamples : paintStroke)(ctx, view, s.theme, stroke, s.labels[stroke.id], true);
    for (const { place, hot } of s.halos) paintHalo(ctx, s.theme, view.toScreen(place), hot);
    if (s.spray) paintSamples(ctx, view, s.theme, s.spray, null, false);
    s.shuffle.paint(ctx, view, s.theme, s.labels);
    if (s.draft?.length && !s.spray) {
      ctx.beginPath();
      ctx.moveTo(...s.draft[0].x);
      for (const { x } of s.draft) ctx.lineTo(...x);
      ctx.lineWidth = 2.6;
      ctx.strokeStyle = s.theme.ink;
      ctx.stroke();
    }
    s.particles.paint(ctx, view, s.theme);
    s.pusher.paint(ctx, view, s.theme);
    if (s.pen.cursor) {
      const [x, y] = s.pen.cursor;
      ctx.beginPath();
      for (const [a, b] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
        ctx.moveTo(x + 4 * a, y + 4 * b);
        ctx.lineTo(x + 14 * a, y + 14 * b);
      }
      ctx.lineWidth = s.pen.penIsDown ? 3 : 1.8;
      ctx.strokeStyle = s.theme.ink;
      ctx.stroke();
    }
  }

  /** What stands still, and the flow as lines, for a file. */
  drawn() {
    const { view } = this, s = this.#state(), field = s.living ? null : s.field;
    const sheet = new Sheet(view.width, view.height, s.theme.paper);
    paintBackdrop(sheet, view, s.theme, field, s.shown, s.stale);
    if (field && s.shown.flow) this.flow.paintStill(sheet, view, s.theme, s.stale, s.shown.speed);
    paintScene(sheet, view, s.theme, s);
    return sheet;
  }

  /** All layers on paper, as one canvas, with at least two pixels to a point. */
  flattened(paper, finest = 2) {
    const { view } = this;
    const ratio = Math.max(this.#ratio, finest);
    const flat = document.createElement("canvas");
    flat.width = Math.round(view.width * ratio);
    flat.height = Math.round(view.height * ratio);
    const ctx = flat.getContext("2d");
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.fillStyle = paper;
    ctx.fillRect(0, 0, view.width, view.height);
    const s = this.#state();
    const on = (paint) => {
      const layer = document.createElement("canvas");
      [layer.width, layer.height] = [flat.width, flat.height];
      const context = layer.getContext("2d");
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      paint(context);
      ctx.drawImage(layer, 0, 0, view.width, view.height);
    };
    on((c) => paintBackdrop(c, view, s.theme, s.living ? null : s.field, s.shown, s.stale));
    on((c) => this.#paintFlow(s, c));
    on((c) => paintScene(c, view, s.theme, s));
    on((c) => this.#paintPaper(s, c));
    return flat;
  }

  /** Some seconds of what moves: MP4 where the browser writes it and `gif` is not asked for, and else GIF. */
  async film(paper, seconds, gif = false) {
    const { canvas } = this.#context.paper, mp4 = !gif && canFilm();
    // Whole pairs of pixels, as films have them; a GIF smaller, or it would take as long to send as to watch.
    const share = mp4 ? 1 : Math.min(1, WIDEST / canvas.width);
    const flat = document.createElement("canvas");
    [flat.width, flat.height] = [canvas.width, canvas.height].map((side) => 2 * Math.round((side * share) / 2));
    const ctx = flat.getContext("2d", { willReadFrequently: !mp4 });
    const whole = [0, 0, flat.width, flat.height];
    const made = mp4 ? recording(flat) : new Gif(flat.width, flat.height);
    const from = performance.now();
    for (let last = from, now = from; now < from + 1000 * seconds;) {
      now = await new Promise((resolve) => { requestAnimationFrame(resolve); });
      if (!mp4 && now - last < EVERY) continue;
      ctx.fillStyle = paper;
      ctx.fillRect(...whole);
      for (const name of LAYERS) ctx.drawImage(this.#context[name].canvas, ...whole);
      if (!mp4) made.add(ctx.getImageData(...whole), Math.round((now - last) / 10));
      last = now;
    }
    return made.done();
  }
}

function canFilm() { return typeof MediaRecorder !== "undefined" && MediaRecorder.isTypeSupported("video/mp4"); }

/** What is painted on a canvas from now on, until it is done. */
function recording(flat) {
  const recorder = new MediaRecorder(flat.captureStream(30), { mimeType: "video/mp4", videoBitsPerSecond: 6e6 });
  const parts = [], stopped = new Promise((resolve) => { recorder.onstop = resolve; });
  recorder.ondataavailable = ({ data }) => parts.push(data);
  recorder.start();
  return {
    async done() {
      recorder.stop();
      await stopped;
      return new Blob(parts, { type: "video/mp4" });
    },
  };
}
