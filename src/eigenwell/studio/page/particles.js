// Particles that somebody dropped: they follow the learned field in real time, and can be picked up and let go again.

import { placeAt } from "./flow.js";
import { colour } from "./palette.js";

// More than a screen can show at once; the oldest go first.
const MOST = 60;
// A path that takes longer than this is played faster, and says so.
const LONGEST = 15;
// Seconds a ring spreads from an arrival.
const RING = 0.9;
// Ways that are computed anew in one frame while a hand changes the field.
const AT_ONCE = 3;
// Seconds a trail is still seen after its particle has arrived.
const TRAIL = 3;

export class Particles extends EventTarget {
  items = [];
  /** How fast time runs: 1 as usual, less for slow motion. */
  tempo = 1;
  /** (place) -> {t, x, q, arrived}, or null where there is no field. */
  way = () => null;
  #next = 1;
  #late = [];

  get busy() {
    const moves = ({ state, ring, trail }) => ["running", "held"].includes(state) || ring > 0 || (trail > 0 && trail < 1);
    return this.#late.length > 0 || this.items.some(moves);
  }

  /** Set one down: it runs at once. */
  add(at) {
    const particle = { id: `p${this.#next++}`, at, state: "stopped", path: null, clock: 0, rate: 1, ring: 0, trail: 1, q: -1 };
    this.items.push(particle);
    if (this.items.length > MOST) this.items.shift();
    this.release(particle);
    return particle;
  }

  clear() { this.items = []; }

  /** In the hand, with its way from here in sight. */
  hold(particle, at) {
    Object.assign(particle, { at, state: "held" });
    this.#ask(particle);
  }

  release(particle) {
    this.#ask(particle);
    if (!particle.path) return;
    const duration = particle.path.t.at(-1);
    Object.assign(particle, { state: "running", clock: 0, trail: 1, rate: Math.max(1, duration / LONGEST) });
  }

  /** The field is another one: those on their way go on along it from where they are, and those at rest, where it has moved. */
  follow() {
    this.#late = [];
    for (const particle of this.items) if (particle.state !== "held") this.release(particle);
  }

  /** The same, a few in every frame: the field changes under a hand. */
  later() { this.#late = this.items.filter((particle) => particle.state !== "held"); }

  step(seconds, still) {
    for (const particle of this.#late.splice(0, AT_ONCE)) if (particle.state !== "held") this.release(particle);
    for (const particle of this.items) {
      particle.ring = Math.max(0, particle.ring - seconds / RING);
      if (particle.state === "arrived") particle.trail = still || particle.stays ? 1 : Math.max(0, particle.trail - seconds / TRAIL);
      if (particle.state !== "running") continue;
      const { t, x } = particle.path;
      particle.clock += seconds * particle.rate * this.tempo;
      const end = t[t.length - 1] - t[0];
      if (still || particle.clock >= end) {
        const rest = particle.arrives ? "arrived" : "stopped";
        Object.assign(particle, { clock: end, at: x[x.length - 1], state: rest, ring: still ? 0 : 1, trail: still || particle.stays ? 1 : 0.999 });
        this.dispatchEvent(new CustomEvent("rest", { detail: particle }));
        continue;
      }
      particle.at = placeAt(particle.path, particle.clock);
    }
  }

  near(view, at, reach) {
    const distance = (d) => view.away(d.at, at);
    const [best] = [...this.items].sort((a, b) => distance(a) - distance(b));
    return best && distance(best) <= reach ? best : null;
  }

  paint(ctx, view, theme) {
    for (const particle of this.items) {
      const tint = particle.q < 0 ? theme.ink : colour(theme, particle.q);
      const [px, py] = view.toScreen(particle.at);
      if (particle.path) {
        const { t, x } = particle.path;
        const ahead = particle.state === "held";
        ctx.beginPath();
        x.forEach((p, i) => {
          if (!ahead && t[i] - t[0] > particle.clock) return;
          ctx.lineTo(...view.toScreen(p));
        });
        if (!ahead) ctx.lineTo(px, py);
        // Dots, so that nobody takes it for a stroke; it goes once its particle is there.
        ctx.lineCap = "round";
        ctx.globalAlpha = ahead ? 0.6 : 0.75 * particle.trail;
        ctx.setLineDash(ahead ? [2, 6] : [0.1, 6.5]);
        ctx.lineWidth = ahead ? 2 : 3.4;
        ctx.strokeStyle = tint;
        ctx.stroke();
        ctx.setLineDash([]);
        ctx.globalAlpha = 1;
      }
      if (particle.ring > 0) {
        ctx.beginPath();
        ctx.arc(px, py, 8 + 26 * (1 - particle.ring), 0, 2 * Math.PI);
        ctx.lineWidth = 2;
        ctx.globalAlpha = particle.ring;
        ctx.strokeStyle = tint;
        ctx.stroke();
        ctx.globalAlpha = 1;
      }
      ctx.beginPath();
      ctx.arc(px, py, particle.state === "held" ? 10 : 7, 0, 2 * Math.PI);
      ctx.fillStyle = tint;
      ctx.fill();
      ctx.lineWidth = 2;
      ctx.strokeStyle = theme.paper;
      ctx.stroke();
      ctx.beginPath();
      ctx.arc(px, py, particle.state === "held" ? 11.5 : 8.5, 0, 2 * Math.PI);
      ctx.lineWidth = 1.2;
      ctx.strokeStyle = theme.ink;
      ctx.stroke();
      if (particle.state === "running" && particle.rate > 1.05) {
        ctx.font = "600 12px system-ui, sans-serif";
        ctx.textAlign = "left";
        ctx.fillStyle = theme.ink;
        ctx.fillText(`× ${particle.rate.toFixed(particle.rate < 3 ? 1 : 0)}`, px + 14, py + 4);
      }
    }
  }

  #ask(particle) {
    const way = this.way(particle.at);
    const whole = way && way.t.length > 1;
    Object.assign(particle, { path: whole ? way : null, q: way?.q ?? -1, arrives: Boolean(way?.arrived) });
    if (way && !whole) Object.assign(particle, { state: "arrived" }); // it lies at its goal already
  }
}
