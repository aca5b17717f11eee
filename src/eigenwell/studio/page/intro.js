// The first twenty seconds, once in a browser's life: a ghost hand draws a stroke, then it is your turn, step by step. Each step goes
// by itself when it is done; Skip and Escape end it.

import { write } from "./answer.js";
import { KEY } from "./storage.js";

const $ = (id) => document.getElementById(id);
const MET = "eigenwell-studio-met";
// Milliseconds that words stay where nothing is asked for.
const READ = 3200;

// `done`: from the page's marks; null where time is enough. `shows`: what the words are about.
const STEPS = [
  { words: "Watch: press, pull, and let go where it should end.", done: null, ghost: true },
  { words: "Now you: draw a stroke.", done: (mark) => Number(mark.strokes) > 0, ghost: true },
  { words: "This is the flow: from anywhere, it leads to your goal.", done: null, when: (mark) => (mark.field ?? "none") !== "none" },
  { words: "Drop a ball: choose Play, and tap anywhere.", done: (mark) => Number(mark.particles) > 0, shows: "[data-tool=drop]" },
  { words: "Push it: an arm draws your stroke. Shove its pen.", done: () => pressed("push"), shows: "#push" },
  { words: "Put a stone in its way.", done: (mark) => /stone/.test(mark.world ?? ""), shows: "#stone" },
  { words: "That is all of it. Draw what you like.", done: null },
];
const pressed = (id) => $(id).getAttribute("aria-pressed") === "true";

/** Whether somebody is here for the first time. Where nothing can be remembered nobody is: it would come each time. */
export function isFirstVisit() {
  try {
    if (localStorage.getItem(KEY) ?? localStorage.getItem(MET)) return false;
    localStorage.setItem(MET, "yes");
    return localStorage.getItem(MET) === "yes";
  } catch {
    return false;
  }
}

export function introduce() {
  const mark = document.body.dataset;
  let k = -1, timer = 0;
  const watch = new MutationObserver(() => look());

  function end() {
    clearTimeout(timer);
    watch.disconnect();
    removeEventListener("keydown", escape);
    $("intro").hidden = true;
    glow(null);
    delete mark.intro;
  }
  function escape({ key }) { if (key === "Escape") end(); }
  function glow(selector) {
    for (const node of document.querySelectorAll(".glow")) node.classList.remove("glow");
    if (selector) document.querySelector(selector).classList.add("glow");
  }
  function next() {
    clearTimeout(timer);
    timer = 0;
    const step = STEPS[++k];
    if (!step) {
      end();
      return;
    }
    mark.intro = String(k);
    write("intro-words", step.words);
    $("ghost").toggleAttribute("hidden", !step.ghost);
    glow(step.shows);
    look();
  }
  /** Is the step done, or its time running? */
  function look() {
    const step = STEPS[k];
    if (step.done?.(mark)) next();
    else if (!step.done && !timer && (step.when?.(mark) ?? true)) timer = setTimeout(next, READ);
  }

  $("intro").hidden = false;
  $("intro-skip").addEventListener("click", end);
  addEventListener("keydown", escape);
  watch.observe(document.body, { attributes: true, attributeFilter: ["data-strokes", "data-field", "data-particles", "data-world"] });
  watch.observe($("push"), { attributes: true, attributeFilter: ["aria-pressed"] });
  next();
}
