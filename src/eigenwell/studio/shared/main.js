// The page to share: all of the window, and nothing to draw. One drawing, or a gallery of them, each at its own address (#name).

import { furnish } from "./bar.js";
import { Mounted } from "./mount.js";

const $ = (id) => document.getElementById(id);
const drawings = new Map([...document.querySelectorAll("script.drawing")].map((node) => [node.id.slice("drawing-".length), node]));
const asked = () => {
  const name = decodeURIComponent(location.hash.slice(1));
  return drawings.has(name) ? name : [...drawings.keys()][0];
};
const contentOf = (name) => JSON.parse(drawings.get(name).textContent);
// Taken before anything is written into it: what is kept in a file is this page with one drawing.
const empty = document.documentElement.cloneNode(true);

const mounted = new Mounted($("paper"), contentOf(asked()), { watch: document.body });
const anew = furnish(mounted, { bar: $("bar"), legend: $("legend"), words: $("words"), deep: $("valley") });

/** The drawing that the address names. */
function show(content = null) {
  const name = asked(), { title } = content ?? contentOf(name);
  if (content) {
    mounted.set(content);
    anew();
  }
  $("title").textContent = title;
  document.title = `${title} \u00b7 eigenwell`;
  document.body.dataset.drawing = name;
  for (const link of document.querySelectorAll("#gallery a")) {
    if (link.hash !== `#${name}`) link.removeAttribute("aria-current");
    else {
      link.setAttribute("aria-current", "true");
      link.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
  }
}

/** This page with one drawing alone, as a file. */
function keep() {
  const name = asked(), page = empty.cloneNode(true);
  for (const other of page.querySelectorAll("script.drawing")) if (other.id !== `drawing-${name}`) other.remove();
  page.querySelector("#gallery")?.remove();
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(["<!doctype html>\n", page.outerHTML], { type: "text/html" }));
  link.download = `eigenwell-${name}.html`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

if (drawings.size > 1) {
  const node = document.createElement("button");
  node.type = "button";
  node.textContent = "Keep";
  node.title = "This drawing and its flow as one file";
  node.addEventListener("click", keep);
  $("bar").append(node);
}
addEventListener("hashchange", () => show(contentOf(asked())));
show();

/** For whoever wants the numbers: velocities of the map, or of the motions with a phase, as Python has them. */
window.eigenwell = {
  mounted,
  get learned() { return mounted.learned; },
  velocity: (x, q = null) => {
    const { map, lifted } = mounted.learned;
    return Array.from((q === null ? map : lifted[q]).velocity(x, [0, 0, 0])).slice(0, x.length);
  },
};
