// Push it: an arm draws the strokes along the learned flow, and may be shoved; beside it another one replays them as they were
// recorded, takes the same shoves, and ends wherever they leave it.

import { placeAt } from "./flow.js";
import { colour } from "./palette.js";

// Seconds that a stroke takes at least, so that there is time to push; seconds between two strokes, and at the end of a round.
const LONGEST = 5, PAUSE = 1.1, ROUND = 2.6;
// Pixels within which a hand takes hold of the pen.
export const GRIP = 44;
// Of the box: an end this near to the goal is there.
const THERE = 0.02;
// Pixels of the arm's base above the lower edge, over the tools.
const BASE = 118;
// When nobody pushes, it is pushed once, so long, after this share of the first stroke, by this share of the box.
const SHOWN = 0.42, SHOVE = 0.22, TAKES = 0.5;
// Seconds that a motion may take, in units of the stroke's own time, before it is called late.
const PATIENCE = 6;

export class Pusher extends EventTarget {
  /** One for each goal, in the order in which they were drawn: {t, x, q, goal}. */
  #strokes = [];
  #learned = null;
  #k = 0;
  #clock = 0;
  #wait = 0;
  #held = false;
  /** Ever; and on this stroke. */
  #pushed = false;
  #off = false;
  #shove = null;
  /** The pen that follows the flow, and the one that replays: where they are, and what they have drawn. */
  #pen = null;
  #replay = null;
  #ink = [];

  get busy() { return this.#learned !== null; }
  get pen() { return this.#pen?.at ?? null; }

  /** `strokes` [{t, x, q}], q the number of the goal. */
  start(learned, strokes) {
    const seen = new Set();
    this.#strokes = strokes.filter(({ q }) => q >= 0 && !seen.has(q) && seen.add(q));
    if (!this.#strokes.length) return false;
    Object.assign(this, { tempo: 1 });
    this.#learned = learned;
    this.#pushed = false;
    this.#round();
    return true;
  }

  stop() {
    this.#learned = null;
    this.#pen = this.#replay = null;
    this.#ink = [];
  }

  /** Another field, or another world: it goes on from where it is. */
  follow(learned) {
    if (!this.busy) return;
    if (learned.attractors.length !== this.#learned.attractors.length) this.stop();
    else this.#learned = learned;
  }

  hold(on) { if (this.busy) this.#held = on; }

  /** Both pens by some way of the world. One that had arrived sets out again. */
  push(dx, dy) {
    if (!this.#pen || this.#wait > 0) return;
    this.#pushed = this.#off = true;
    for (const pen of [this.#pen, this.#replay]) pen.at = [pen.at[0] + dx, pen.at[1] + dy];
    this.#pen.done = false;
    if (this.#held) this.#mark();
  }

  #round() {
    this.#k = 0;
    this.#ink = [];
    this.#begin();
  }

  #begin() {
    const { t, x, q } = this.#strokes[this.#k];
    const from = this.#learned.fromHome(x[0]);
    this.#clock = 0;
    this.#off = false;
    this.#pen = { at: [...from], phase: 1, line: [[...from]], done: false, q };
    this.#replay = { at: [...from], line: [[...from]], done: false };
    this.#ink.push({ q, pen: this.#pen.line, replay: this.#replay.line });
    this.duration = Math.max(t.at(-1) - t[0], 0.2);
    this.rate = Math.min(1, this.duration / LONGEST);
    // A flow may be slower than a quick hand: pushed, it has twice the time of its own way.
    this.patience = Math.max(PATIENCE * this.duration, 2 * (this.#learned.way(from)?.t.at(-1) ?? 0));
  }

  step(seconds) {
    if (!this.busy || !this.#pen) return;
    if (this.#wait > 0) {
      this.#wait -= seconds;
      if (this.#wait <= 0) this.#next();
      return;
    }
    this.#showHow(seconds);
    if (this.#held) return;
    // A frame in some smaller steps: a flow bends.
    for (let part = 0; part < 4; part++) this.#advance((seconds / 4) * this.rate * this.tempo);
    this.#mark();
    const late = this.#clock > this.patience;
    if ((this.#pen.done && this.#replay.done) || late) this.#finish();
  }

  #advance(dt) {
    const { t, x } = this.#strokes[this.#k], learned = this.#learned, pen = this.#pen;
    const v = [0, 0, 0];
    if (!pen.done) {
      if (learned.hasMemory) {
        learned.lifted[pen.q].velocity([...pen.at, pen.phase], v);
        pen.phase = Math.max(0, pen.phase + dt * v[2]);
      } else learned.map.velocity(pen.at, v);
      pen.at = [pen.at[0] + dt * v[0], pen.at[1] + dt * v[1]];
      pen.done = this.#away(pen.at) < 0.3 * THERE;
    }
    if (!this.#replay.done) {
      const [a, b] = [this.#clock, this.#clock + dt].map((time) => placeAt({ t, x }, time));
      this.#replay.at = [this.#replay.at[0] + b[0] - a[0], this.#replay.at[1] + b[1] - a[1]];
      this.#replay.done = this.#clock >= this.duration;
    }
    this.#clock += dt;
  }

  #away(at) {
    const goals = this.#learned.attractors, goal = this.#learned.hasMemory ? [goals[this.#pen.q]] : goals;
    const { box } = this.#learned, size = Math.max(...box);
    return Math.min(...goal.map((g) => Math.hypot(g[0] - at[0], g[1] - at[1]) / size));
  }

  /** Nobody has pushed yet: once, by itself, as a hand would. */
  #showHow(seconds) {
    if (!this.#pushed && !this.#shove && this.#clock > SHOWN * this.duration) {
      const { x } = this.#strokes[this.#k], size = SHOVE * Math.max(...this.#learned.box);
      const [a, b] = [x[0], x.at(-1)], way = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1;
      this.#shove = { left: TAKES, way: [(-size * (b[1] - a[1])) / way, (size * (b[0] - a[0])) / way] };
    }
    const shove = this.#shove;
    if (!shove || shove.left <= 0) return;
    const part = Math.min(seconds, shove.left) / TAKES;
    shove.left -= seconds;
    this.push(part * shove.way[0], part * shove.way[1]);
  }

  #mark() {
    for (const pen of [this.#pen, this.#replay]) pen.line.push([...pen.at]);
  }

  #finish() {
    const [pen, replay] = [this.#away(this.#pen.at), this.#away(this.#replay.at)];
    const last = this.#k === this.#strokes.length - 1;
    this.#wait = last ? ROUND : PAUSE;
    if (this.#off) this.dispatchEvent(new CustomEvent("drawn", { detail: { pen, replay, there: THERE } }));
  }

  #next() {
    this.#wait = 0;
    if (this.#k < this.#strokes.length - 1) {
      this.#k++;
      this.#begin();
    } else this.#round();
  }

  paint(ctx, view, theme) {
    if (!this.#pen) return;
    ctx.save();
    ctx.lineCap = ctx.lineJoin = "round";
    // Behind the middle of the lower edge; long enough for all that was drawn.
    const base = [view.width / 2, view.height - BASE];
    const far = (p) => view.away(p, base);
    const reach = 0.54 * Math.max(...this.#strokes.flatMap(({ x }) => x).map(far), far(this.#pen.at), far(this.#replay.at)) + 20;
    for (const { pen, replay, q } of this.#ink) {
      line(ctx, view, replay, theme.faint, 3, 0.75, [3, 7]);
      line(ctx, view, pen, theme.paper, 8, 0.8);
      line(ctx, view, pen, colour(theme, this.#learned.colours[q]), 5, 1);
    }
    arm(ctx, view.toScreen(this.#replay.at), [base[0] + 34, base[1]], reach, theme, theme.faint, 0.3);
    arm(ctx, view.toScreen(this.#pen.at), [base[0] - 34, base[1]], reach, theme, theme.ink, 0.75);
    label(ctx, view.toScreen(this.#replay.at), "replay", theme, theme.faint, 22);
    label(ctx, view.toScreen(this.#pen.at), this.#held ? "let go" : "push me", theme, theme.ink, -16);
    ctx.restore();
  }
}

function line(ctx, view, points, style, width, alpha, dash = []) {
  ctx.beginPath();
  points.forEach((p) => ctx.lineTo(...view.toScreen(p)));
  Object.assign(ctx, { strokeStyle: style, lineWidth: width, globalAlpha: alpha });
  ctx.setLineDash(dash);
  ctx.stroke();
  ctx.setLineDash([]);
  ctx.globalAlpha = 1;
}

/** Where the elbow is of two links of one length from a base to a hand: the higher of the two places. */
function elbow([hx, hy], [bx, by], link) {
  const [dx, dy] = [hx - bx, hy - by], far = Math.hypot(dx, dy) || 1, half = Math.min(far / 2, link);
  const out = Math.sqrt(Math.max(link * link - half * half, 0)), side = dx < 0 ? -1 : 1;
  return [bx + (dx / far) * half + (side * dy * out) / far, by + (dy / far) * half - (side * dx * out) / far];
}

function arm(ctx, hand, base, link, theme, style, alpha) {
  const joint = elbow(hand, base, link);
  Object.assign(ctx, { globalAlpha: alpha, strokeStyle: style });
  ctx.beginPath();
  ctx.moveTo(...base);
  ctx.lineTo(...joint);
  ctx.lineWidth = 9;
  ctx.stroke();
  ctx.beginPath();
  ctx.moveTo(...joint);
  ctx.lineTo(...hand);
  ctx.lineWidth = 6;
  ctx.stroke();
  for (const [at, r] of [[base, 11], [joint, 7], [hand, 8]]) {
    ctx.beginPath();
    ctx.arc(...at, r, 0, 2 * Math.PI);
    ctx.fillStyle = theme.paper;
    ctx.globalAlpha = 1;
    ctx.fill();
    ctx.globalAlpha = alpha;
    ctx.lineWidth = 3;
    ctx.stroke();
  }
  ctx.globalAlpha = 1;
}

function label(ctx, [x, y], words, theme, style, up) {
  ctx.font = "600 13px system-ui, sans-serif";
  ctx.textAlign = "center";
  ctx.lineWidth = 4;
  ctx.strokeStyle = theme.paper;
  ctx.strokeText(words, x, y + up);
  ctx.fillStyle = style;
  ctx.fillText(words, x, y + up);
}

export const ARMS = "The bold arm follows the flow, the faint one replays the recording. Push the pen.";

/** How both ended, as shares of the drawing; within `there` they arrived. */
export function pushedWords({ pen, replay, there }) {
  const ended = (share) => (share < there ? "arrived" : `ended ${Math.round(100 * share)} % of the drawing beside the goal`);
  return `Pushed, the flow ${ended(pen)}. The replay ${ended(replay)}.`;
}
