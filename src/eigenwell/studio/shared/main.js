// The page to share: all of the window, and nothing to draw.

import { Mounted } from "./mount.js";

const content = JSON.parse(document.getElementById("content").textContent);
const mounted = new Mounted(document.getElementById("paper"), content, { watch: document.body });
const { learned } = mounted;

/** For whoever wants the numbers: velocities of the map, or of the motions with a phase, as Python has them. */
window.eigenwell = {
  learned,
  velocity: (x, q = null) => Array.from((q === null ? learned.map : learned.lifted[q]).velocity(x, [0, 0, 0])).slice(0, x.length),
};
