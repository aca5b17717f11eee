// Around a field to look at: what is shown of it, what can be put in its way, and what the marks mean.

import { colour } from "./palette.js";
import { ARMS, pushedWords } from "./push.js";
import { Valley } from "./valley.js";

const LAYERS = [["strokes", "Strokes"], ["flow", "Flow"], ["basins", "Regions"], ["potential", "Valley"]];
const touch = () => matchMedia("(pointer: coarse)").matches;

/** Chips and buttons into `bar`, a legend into `legend`, words of what hands can do into `words`; `deep`: a canvas for the valley
 * in three dimensions, where there is one. Gives a function to call when the field is another. */
export function furnish(mounted, { bar, legend, words, deep = null, word = "goal", first = 1 }) {
  const { ground, shown, pusher } = mounted;
  const button = (label, act, pressed) => {
    const node = document.createElement("button");
    node.type = "button";
    node.textContent = label;
    if (pressed !== undefined) node.setAttribute("aria-pressed", String(pressed));
    node.addEventListener("click", () => act(node));
    bar.append(node);
    return node;
  };
  const toggle = (node, on) => node.setAttribute("aria-pressed", String(on));
  const layers = new Map(LAYERS.map(([name, label]) => [name, button(label, (node) => {
    shown[name] = !shown[name];
    toggle(node, shown[name]);
    mounted.repaint();
  }, shown[name])]));
  const valley = deep && new Valley(deep, () => ({
    ...surface(), theme: mounted.theme, particles: mounted.particles.items,
    colourOf: (q) => colour(mounted.theme, mounted.learned.colours[q]),
    ratio: Math.min(devicePixelRatio || 1, 2), width: mounted.view.width, height: mounted.view.height, still: mounted.still,
  }));
  // Once for every field and world, and not once a frame.
  let surface = () => ({});
  const look = () => {
    const seen = mounted.learned ? mounted.deep : {};
    surface = () => seen;
  };
  const solid = valley && button("3-D", (node) => {
    look();
    valley.show(!valley.isOpen);
    toggle(node, valley.isOpen);
  }, false);
  button("Rain", () => mounted.rain());
  const push = button("Push", (node) => {
    mounted.push();
    toggle(node, pusher.busy);
    say(pusher.busy ? ARMS : usual);
  }, false);
  button("Stone", () => { if (ground.addStone(mounted.view)) mounted.worldChanged(); });
  const walls = button("Walls", () => {
    ground.toggleWalls(mounted.view);
    mounted.worldChanged();
  }, false);
  const back = button("Put back", () => {
    ground.putBack();
    mounted.worldChanged();
  });
  const say = (text, seconds = 0) => {
    words.textContent = text;
    clearTimeout(timer);
    if (seconds) timer = setTimeout(() => say(usual), 1000 * seconds);
  };
  let timer = 0;
  const usual = `${touch() ? "Tap" : "Click"} to drop a particle. Drag ${word === "goal" ? "a goal" : `an ${word}`}, and the flow follows. `
    + `${touch() ? "Two fingers look" : "The wheel looks"} closer.`;
  ground.addEventListener("refused", ({ detail }) => say(detail, 4));
  pusher.addEventListener("drawn", ({ detail }) => say(pushedWords(detail), 6));
  const changed = () => {
    back.hidden = ground.isPlain;
    toggle(walls, Boolean(ground.walls));
    if (valley?.isOpen) look();
  };
  ground.addEventListener("change", changed);

  const anew = () => {
    const { learned } = mounted;
    // Motions that remember have no one valley to draw lines of.
    layers.get("potential").hidden = Boolean(learned?.hasMemory);
    layers.get("basins").hidden = learned?.attractors.length === 1;
    push.hidden = !mounted.pushes;
    toggle(push, false);
    if (solid) {
      solid.hidden = Boolean(learned?.hasMemory && !learned.goals.length);
      valley.show(false);
      toggle(solid, false);
    }
    changed();
    say(usual);
    const entries = (learned?.attractors ?? []).map((_, q) => [`${word} ${q + first}`, colour(mounted.theme, learned.colours[q])]);
    const border = learned?.attractors.length > 1 ? ", - - border of regions" : "";
    const marks = `+ ${word}${border}${learned?.saddles.length ? ", \u25c7 where they meet" : ""}`;
    legend.replaceChildren(...[...entries, [marks, null]].map(([text, tint]) => {
      const node = document.createElement("span"), dot = document.createElement("i");
      dot.style.background = tint;
      node.append(...(tint ? [dot] : []), text);
      return node;
    }));
  };
  anew();
  return anew;
}
