// The page to share: all of the window, and nothing to draw.

import { furnish } from "./bar.js";
import { Mounted } from "./mount.js";

const $ = (id) => document.getElementById(id);
const content = JSON.parse($("content").textContent);
const mounted = new Mounted($("paper"), content, { watch: document.body });
const { learned } = mounted;
furnish(mounted, { bar: $("bar"), legend: $("legend"), words: $("words") });

/** For whoever wants the numbers: velocities of the map, or of the motions with a phase, as Python has them. */
window.eigenwell = {
  learned,
  velocity: (x, q = null) => Array.from((q === null ? learned.map : learned.lifted[q]).velocity(x, [0, 0, 0])).slice(0, x.length),
};
