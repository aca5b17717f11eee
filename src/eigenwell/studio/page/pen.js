// Mouse, touch, pen and keys on the canvas. It only reports; what a gesture means is the caller's business.

import { between } from "./view.js";

// A gesture that stays within this many pixels is a tap.
const TAP = 6;
// Keys move the crosshair at this share of the canvas a second, once they are held for a moment.
const KEY_SPEED = 0.45;

/**
 * tell.down(point, event) -> "draw" | "drag" | "pan" | null    what this gesture is
 * tell.samples([{t, x}...])                                    new samples of a drawn stroke, seconds from its start, pixels
 * tell.drag(from, to), tell.up(kind, event, tapped), tell.cancel(kind), tell.cursor(point or null)
 * tell.pinch(factor, middle, dx, dy)                           two fingers or the wheel: nearer by a factor, and aside
 * tell.scrolls                                                 the page around scrolls, and goes on doing so under the wheel
 */
export class Pen {
  #canvas;
  #tell;
  #origin = [0, 0];
  #size = [0, 0];
  #active = null;
  #keys = new Set();
  #cursor = null;
  #pace = [0, 0];
  /** Fingers on the canvas; two of them look closer, and draw nothing. */
  #fingers = new Map();
  #pinched = null;

  constructor(canvas, tell) {
    this.#canvas = canvas;
    this.#tell = tell;
    canvas.addEventListener("pointerdown", (e) => this.#down(e));
    canvas.addEventListener("pointermove", (e) => this.#move(e));
    canvas.addEventListener("pointerup", (e) => this.#up(e));
    canvas.addEventListener("pointercancel", (e) => this.#cancel(e));
    canvas.addEventListener("lostpointercapture", (e) => this.#cancel(e));
    // touch-action: none is not enough for the long-press menu of a pen.
    canvas.addEventListener("contextmenu", (e) => { if (e.pointerType !== "mouse") e.preventDefault(); });
    canvas.addEventListener("wheel", (e) => this.#wheel(e), { passive: false });
    canvas.addEventListener("blur", () => {
      delete canvas.dataset.by;
      this.#keys.clear();
      this.penUp();
      this.#put(null);
    });
  }

  /** A gesture that begins on something above the canvas, a toolbar, and then moves is meant for the canvas under it. */
  passThrough(node) {
    node.addEventListener("pointerdown", (begun) => {
      if (begun.button !== 0) return;
      const done = () => kinds.forEach((kind) => removeEventListener(kind, hear, true));
      const hear = (event) => {
        if (event.pointerId !== begun.pointerId) return;
        if (event.type !== "pointermove") return done();
        if (Math.hypot(event.clientX - begun.clientX, event.clientY - begun.clientY) <= TAP) return undefined;
        done();
        this.#down(begun);
        if (this.#active) this.#move(event);
        return undefined;
      };
      const kinds = ["pointermove", "pointerup", "pointercancel"];
      kinds.forEach((kind) => addEventListener(kind, hear, true));
    });
  }

  get busy() { return this.#active !== null; }
  get kind() { return this.#active?.kind ?? null; }
  get steering() { return this.#keys.size > 0 || this.#pace[0] !== 0 || this.#pace[1] !== 0; }
  get cursor() { return this.#cursor; }

  #down(event) {
    if (event.pointerType === "touch" && this.#finger(event)) return;
    if (this.#active || (event.button !== 0 && event.button !== 1)) return;
    // Measured once per gesture: no layout while the pen moves.
    const box = this.#canvas.getBoundingClientRect();
    this.#origin = [box.left, box.top];
    this.#size = [box.width, box.height];
    const at = this.#at(event);
    this.#put(null);
    const kind = this.#tell.down(at, event);
    if (!kind) return;
    event.preventDefault();
    // A ring around the canvas is for those who came by keyboard.
    this.#canvas.dataset.by = "pointer";
    this.#canvas.focus({ preventScroll: true });
    try {
      this.#canvas.setPointerCapture(event.pointerId);
    } catch {
      // The pointer is already gone, or was made by a script: the gesture works without capture.
    }
    this.#active = { kind, id: event.pointerId, from: at, start: event.timeStamp, last: -1, far: false };
    if (kind === "draw") this.#sample([event]);
  }

  /** True where this finger is one of two, or was. */
  #finger(event) {
    this.#fingers.set(event.pointerId, [event.clientX, event.clientY]);
    if (this.#fingers.size === 2) {
      this.abandon();
      this.#pinched = between(this.#fingers);
    }
    return this.#pinched !== null;
  }

  #pinching(event) {
    this.#fingers.set(event.pointerId, [event.clientX, event.clientY]);
    if (this.#fingers.size < 2) return;
    const [was, now] = [this.#pinched, between(this.#fingers)];
    const box = this.#canvas.getBoundingClientRect();
    this.#tell.pinch(now.apart / was.apart, [now.x - box.left, now.y - box.top], now.x - was.x, now.y - was.y);
    this.#pinched = now;
  }

  #wheel(event) {
    if (this.#tell.scrolls && !event.ctrlKey) return;
    event.preventDefault();
    // Lines, pages or pixels; a wheel's notch is about a hundred pixels, a trackpad's pinch comes with Ctrl and is finer.
    const pixels = event.deltaY * (event.deltaMode === 1 ? 33 : event.deltaMode === 2 ? 400 : 1);
    this.#tell.pinch(Math.exp(-pixels * (event.ctrlKey ? 0.01 : 0.0016)), [event.offsetX, event.offsetY], 0, 0);
  }

  #lifted(event) {
    this.#fingers.delete(event.pointerId);
    if (!this.#fingers.size) this.#pinched = null;
  }

  #move(event) {
    if (this.#pinched && this.#fingers.has(event.pointerId)) {
      this.#pinching(event);
      return;
    }
    const a = this.#active;
    if (!a || event.pointerId !== a.id) return;
    const at = this.#at(event);
    a.far ||= Math.hypot(at[0] - a.from[0], at[1] - a.from[1]) > TAP;
    if (a.kind !== "draw") {
      this.#tell.drag(a.from, at, a.far);
      return;
    }
    const coalesced = event.getCoalescedEvents?.() ?? [];
    this.#sample(coalesced.length ? coalesced : [event]);
  }

  #up(event) {
    this.#lifted(event);
    const a = this.#active;
    if (!a || event.pointerId !== a.id) return;
    if (a.kind === "draw") this.#sample([event]);
    if (!this.#active) return;
    this.#active = null;
    this.#tell.up(a.kind, event.timeStamp, !a.far, this.#at(event));
  }

  #cancel(event) {
    this.#lifted(event);
    const a = this.#active;
    if (!a || event.pointerId !== a.id) return;
    this.#active = null;
    this.#tell.cancel(a.kind);
  }

  #sample(events) {
    const a = this.#active;
    const found = [];
    let left = null;
    for (const event of events) {
      const t = (event.timeStamp - a.start) / 1000;
      if (!(t > a.last)) continue; // two events within the clock's resolution
      a.last = t;
      const at = this.#at(event);
      const inside = at.map((c, k) => Math.min(Math.max(c, 0), this.#size[k]));
      found.push({ t, x: inside });
      if (inside[0] !== at[0] || inside[1] !== at[1]) { left = event; break; }
    }
    if (found.length) this.#tell.samples(found);
    // A pen that leaves the canvas ends its stroke at the edge: nothing is drawn that cannot be seen.
    if (left && a.far) {
      this.#active = null;
      this.#tell.up("draw", left.timeStamp, false, found.at(-1).x);
    }
  }

  #at(event) { return [event.clientX - this.#origin[0], event.clientY - this.#origin[1]]; }

  // --- keys: arrows steer a crosshair, the caller decides what Space does there ---

  /** True when the key was one of ours. */
  steer(key, pressed) {
    if (pressed) delete this.#canvas.dataset.by;
    if (!/^Arrow(Left|Right|Up|Down)$/.test(key)) return false;
    if (pressed) this.#keys.add(key);
    else this.#keys.delete(key);
    return true;
  }

  /** Once a frame; true while the crosshair moves. */
  glide(seconds, now, width, height) {
    const want = [
      this.#keys.has("ArrowRight") - this.#keys.has("ArrowLeft"),
      this.#keys.has("ArrowDown") - this.#keys.has("ArrowUp"),
    ];
    if (!this.#cursor && (want[0] || want[1])) this.#put([width / 2, height / 2]);
    if (!this.#cursor) return false;
    // Speed follows the keys with a lag: corners become curves, and a stroke ends slowly, as a hand's would.
    const follow = 1 - Math.exp(-seconds / 0.18);
    const top = KEY_SPEED * Math.min(width, height);
    for (const k of [0, 1]) {
      this.#pace[k] += follow * (want[k] * top - this.#pace[k]);
      if (!want[k] && Math.abs(this.#pace[k]) < 2) this.#pace[k] = 0;
    }
    if (!this.#pace[0] && !this.#pace[1]) return false;
    this.#put([
      Math.min(Math.max(this.#cursor[0] + this.#pace[0] * seconds, 0), width),
      Math.min(Math.max(this.#cursor[1] + this.#pace[1] * seconds, 0), height),
    ]);
    if (this.#active?.id === "keys") {
      this.#active.far = true;
      this.#tell.samples([{ t: (now - this.#active.start) / 1000, x: this.#cursor }]);
    }
    return true;
  }

  /** Put the pen down at the crosshair. */
  penDown(now, width, height) {
    if (this.#active) return;
    if (!this.#cursor) this.#put([width / 2, height / 2]);
    this.#active = { kind: "draw", id: "keys", from: this.#cursor, start: now, last: -1, far: false };
    this.#tell.samples([{ t: 0, x: this.#cursor }]);
  }

  penUp(now = performance.now()) {
    if (this.#active?.id !== "keys") return;
    const { far } = this.#active;
    this.#active = null;
    this.#tell.up("draw", now, !far, this.#cursor);
  }

  get penIsDown() { return this.#active?.id === "keys"; }

  abandon() {
    const a = this.#active;
    this.#active = null;
    if (a) this.#tell.cancel(a.kind);
  }

  #put(at) {
    if (!at) this.#pace = [0, 0];
    this.#cursor = at;
    this.#tell.cursor(at);
  }
}
