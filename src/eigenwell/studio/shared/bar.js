// Around a field to look at: what is shown of it, what can be put in its way, and what the marks mean.

import { colour } from "./palette.js";

const LAYERS = [["strokes", "Strokes"], ["flow", "Flow"], ["basins", "Regions"], ["potential", "Valley"]];
const touch = () => matchMedia("(pointer: coarse)").matches;

/** Chips and buttons into `bar`, a legend into `legend`, words of what hands can do into `words`. */
export function furnish(mounted, { bar, legend, words, word = "goal", first = 1 }) {
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
  const { ground, learned, shown } = mounted;
  for (const [name, label] of LAYERS) {
    // Motions that remember have no one valley.
    if (name === "potential" && learned?.hasMemory) continue;
    button(label, (node) => {
      shown[name] = !shown[name];
      toggle(node, shown[name]);
      mounted.repaint();
    }, shown[name]);
  }
  button("Rain", () => mounted.rain());
  button("Stone", () => { if (ground.addStone(mounted.view)) mounted.worldChanged(); });
  const walls = button("Walls", () => {
    ground.toggleWalls(mounted.view);
    mounted.worldChanged();
  }, false);
  const back = button("Put back", () => {
    ground.putBack();
    mounted.worldChanged();
  });
  back.hidden = true;
  ground.addEventListener("change", () => {
    back.hidden = ground.isPlain;
    toggle(walls, Boolean(ground.walls));
  });
  const say = (text) => { words.textContent = text; };
  const usual = `${touch() ? "Tap" : "Click"} to drop a particle. Drag ${word === "goal" ? "a goal" : `an ${word}`}, and the flow follows. `
    + `${touch() ? "Two fingers look" : "The wheel looks"} closer.`;
  let timer = 0;
  ground.addEventListener("refused", ({ detail }) => {
    say(detail);
    clearTimeout(timer);
    timer = setTimeout(() => say(usual), 4000);
  });
  say(usual);
  const entries = (learned?.attractors ?? []).map((_, q) => [`${word} ${q + first}`, colour(mounted.theme, learned.colours[q])]);
  legend.replaceChildren(...entries.map(([text, tint]) => {
    const node = document.createElement("span"), dot = document.createElement("i");
    dot.style.background = tint;
    node.append(dot, text);
    return node;
  }));
  const marks = document.createElement("span");
  marks.textContent = learned?.saddles.length ? `+ ${word}, - - border of regions, \u25c7 where they meet` : `+ ${word}`;
  legend.append(marks);
}
