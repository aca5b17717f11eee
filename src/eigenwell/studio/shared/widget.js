// In a notebook: the strokes are the kernel's as well as the page's, and the field comes when the kernel has learned one.

import { Mounted } from "./mount.js";

export function render({ model, el }) {
  const paper = document.createElement("canvas");
  paper.tabIndex = 0;
  paper.setAttribute("role", "img");
  paper.setAttribute("aria-label", "Strokes and the flow learned from them. Drag to draw, click to drop a particle.");
  Object.assign(paper.style, { 
    display: "block", width: "100%", boxSizing: "border-box", height: `${model.get("height")}px`, touchAction: "none",
    border: "1px solid rgb(128 128 128 / .4)", borderRadius: "6px",
  });
  const bar = document.createElement("div");
  // Room for two lines, so that the canvas does not move under a hand when words come.
  const font = "13px system-ui, sans-serif";
  Object.assign(bar.style, { display: "flex", gap: ".5rem", alignItems: "center", font, margin: ".4rem 0", minHeight: "2.6em" });
  const words = document.createElement("span");
  const button = (name, act) => {
    const node = document.createElement("button");
    node.textContent = name;
    node.addEventListener("click", act);
    bar.append(node);
    return node;
  };
  let drawing = true;
  const tool = button("Draw", () => {
    drawing = !drawing;
    pressed();
  });
  const pressed = () => {
    tool.setAttribute("aria-pressed", String(drawing));
    tool.style.fontWeight = drawing ? "700" : "400";
    tool.title = drawing ? "A drag draws; click for a drag that looks elsewhere" : "A drag looks elsewhere; click to draw";
  };
  pressed();
  const send = (strokes) => {
    model.set("strokes", strokes);
    model.save_changes();
  };
  button("Undo", () => send(model.get("strokes").slice(0, -1)));
  button("Clear", () => send([]));
  bar.append(words);
  el.append(bar, paper);

  const content = () => ({ ...model.get("content"), strokes: labelled() });
  // The kernel's labels are those of the strokes it has seen; newer ones have none yet.
  const labelled = () => model.get("strokes").map(({ x }, k) => ({ x, q: model.get("content").labels?.[k] ?? -1 }));
  const mounted = new Mounted(paper, content(), {
    watch: el, draws: () => drawing, drawn: (stroke) => send([...model.get("strokes"), stroke]),
  });
  const show = () => {
    mounted.set(content());
    words.textContent = model.get("content").words || "Drag to draw strokes that end at one place.";
  };
  model.on("change:content", show);
  model.on("change:strokes", show);
  show();
  return () => mounted.close();
}
