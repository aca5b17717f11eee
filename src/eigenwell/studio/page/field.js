// A learned field as the page draws it and as particles follow it: over a grid that fills the view, or, where strokes cross,
// as motions that remember. All of it is evaluated here (model.js); the server is not asked again.

import { Grid } from "./grid.js";
import { StableField, unpack } from "./model.js";
import { Motions } from "./motions.js";
import { Regions } from "./regions.js";
import { World } from "./warps.js";
import { arranged, leadsOf } from "./worlds.js";

// Nodes of a grid along its longer side.
const LONGER = 92;
// Of the data's box: beyond this from every sample nothing was learned (fields.REACH).
const FAR = 0.25;
// What a whole phase counts, in boxes, when a motion looks for its start (fields.LATE).
const LATE = 0.5;
// Samples among which the nearest is sought, thinned evenly: strokes are far denser than the distances that matter.
const COMPARED = 400;

/** Null where the server sent something else. `colours`: of each attractor. */
export function learnedOf({ map, goals, lifted, samples, saddles } = {}, colours = []) {
  try {
    const fields = (list) => (list ?? []).map((n) => new StableField(n));
    if (!map && !lifted.length) return null;
    const places = unpack(samples.x);
    const x = Array.from({ length: places.length / 2 }, (_, k) => [places[2 * k], places[2 * k + 1]]);
    const { labels, phases } = samples;
    const parts = { map: map ? new StableField(map) : null, goals: fields(goals), lifted: fields(lifted), x, labels, phases };
    return new Learned({ ...parts, saddles: saddles ?? [] }, colours);
  } catch {
    return null;
  }
}

export class Learned {
  /** Of a grid, along its longer side. */
  nodes = LONGER;

  /** map and goals: fields of the plane; lifted: motions, one for each goal; x, labels and phases of what was shown. */
  constructor({ map, goals, lifted, x, labels, phases, saddles }, colours = []) {
    Object.assign(this, { map, goals, lifted, x, labels, phases, saddles, homeSaddles: saddles });
    const goal = (one) => one.slice(0, 2);
    this.attractors = this.home = map ? map.attractors.map(goal) : lifted.map((f) => goal(f.attractors[0]));
    this.colours = this.attractors.map((_, q) => colours[q] ?? q);
    const extent = [0, 1].map((i) => Math.max(...x.map((p) => p[i])) - Math.min(...x.map((p) => p[i])));
    const box = (this.box = extent.map((e) => Math.max(e, 0.02 * Math.max(...extent), 1e-9)));
    this.near = Float64Array.from(x.flatMap(([a, b], k) => [a / box[0], b / box[1], (LATE * (1 - phases[k])) ** 2]));
    const every = Math.max(1, Math.floor(x.length / COMPARED));
    this.few = x.filter((_, k) => k % every === 0).map((p) => p.map((c, i) => c / box[i]));
    const begins = x.flatMap((_, k) => (phases[k] === 1 ? [k] : []));
    const paths = begins.map((k, i) => ({ q: labels[k], x: x.slice(k, begins[i + 1]) }));
    /** How places follow goals that move. */
    this.leads = leadsOf(paths, this.home, box);
    /** What stands between this world and the learned one, null for nothing. */
    this.world = null;
  }

  get hasMemory() { return this.lifted.length > 0; }

  /** The same in another world: goals elsewhere by their numbers, stones {c, r}, walls. Throws in words, and nothing has changed. */
  enter({ goals = new Map(), stones = [], low, high } = {}) {
    const { home, leads, box } = this;
    const places = home.map((place, q) => goals.get(q) ?? place);
    const ways = arranged({ home, goals: places, leads, box, stones, low, high }), warps = ways[0];
    this.map?.see(warps, places);
    for (const list of [this.goals, this.lifted]) list.forEach((one, q) => one.see(ways[q + 1] ?? warps, [places[q]]));
    this.attractors = places;
    this.world = warps.length ? new World({ warps, places }, [0, 0], [1, 1]) : null;
    this.saddles = this.homeSaddles.map((place) => this.fromHome(place));
  }

  /** Where a place of this world is in the learned one; a new pair. */
  toHome([x, y]) {
    const at = [x, y];
    this.world?.enter(at);
    return at;
  }

  fromHome(place) { return this.world ? this.world.inverse(place) : place; }

  /** What is drawn: the motions, or the field towards goal q, or the map; over a box of the world, `pixel` the side of a pixel in it,
   * `share` of the nodes that a grid usually has. */
  seen(q, box, pixel = (box[2] - box[0]) / 900, share = 1) {
    if (q !== null && this.goals[q]) return this.#grid(this.goals[q], box, new OneRegion(this.colours[q]), [], share);
    const fate = this.hasMemory ? (at) => this.colours[this.beginning(at).q] : (at) => this.colours[this.map.basin(at)] ?? -1;
    const regions = this.attractors.length === 1 ? new OneRegion(this.colours[0]) : new Regions(fate, box, pixel);
    return this.hasMemory ? new Motions(this, box, regions) : this.#grid(this.map, box, regions, this.saddles, share);
  }

  /** With which goal and phase a motion from here begins: those of the nearest sample, early ones preferred. */
  beginning(at) {
    let best = 0, least = Infinity;
    const [x, y] = this.world ? this.toHome(at) : at;
    const { near } = this, u = x / this.box[0], v = y / this.box[1];
    for (let k = 0, i = 0; i < near.length; k++, i += 3) {
      const away = (near[i] - u) * (near[i] - u) + (near[i + 1] - v) * (near[i + 1] - v) + near[i + 2];
      if (away < least) { least = away; best = k; }
    }
    return { q: this.labels[best], phase: this.phases[best] };
  }

  /** The way of a particle that is set down here, as what is shown would take it: {t, x, q, arrived}, q a colour. */
  way(at, goal = null) {
    if (goal !== null && this.goals[goal]) return { ...this.goals[goal].rollOut(at), q: this.colours[goal] };
    if (this.hasMemory) {
      const { q, phase } = this.beginning(at);
      const { t, x, arrived } = this.lifted[q].rollOut([...at, phase]);
      return { t, x: x.map((z) => z.slice(0, 2)), q: this.colours[q], arrived };
    }
    const rolled = this.map.rollOut(at);
    const end = rolled.x.at(-1);
    const away = this.attractors.map((a) => Math.hypot(a[0] - end[0], a[1] - end[1]));
    return { ...rolled, q: this.colours[away.indexOf(Math.min(...away))] };
  }

  /** Whether nothing was learned near a place. */
  far(x, y) {
    const at = this.world ? this.toHome([x, y]) : [x, y], u = at[0] / this.box[0], v = at[1] / this.box[1];
    for (const p of this.few) if ((p[0] - u) ** 2 + (p[1] - v) ** 2 < FAR * FAR) return false;
    return true;
  }

  #grid(one, box, regions, saddles, share) {
    const [w, h] = [box[2] - box[0], box[3] - box[1]];
    const [nx, ny] = [w, h].map((side) => Math.max(4, Math.round((share * this.nodes * side) / Math.max(w, h))));
    const n = nx * ny;
    const [vx, vy, potential] = [new Float64Array(n), new Float64Array(n), new Float64Array(n)];
    const far = new Array(n);
    const at = [0, 0], v = [0, 0];
    for (let k = 0; k < n; k++) {
      at[0] = box[0] + ((k % nx) * w) / (nx - 1);
      at[1] = box[1] + (Math.floor(k / nx) * h) / (ny - 1);
      one.velocity(at, v);
      vx[k] = v[0] || 0;
      vy[k] = v[1] || 0;
      potential[k] = one.potential(at);
      far[k] = this.far(at[0], at[1]);
    }
    return new Grid(this, box, nx, ny, { vx, vy, potential, far, regions, saddles });
  }
}

/** Where everything ends at one goal. */
class OneRegion {
  constructor(colour) { this.colour = colour; }
  at() { return this.colour; }
  borders() { return []; }
}
