// Buttons, files and keys: each does one thing to the studio.

import { write } from "./answer.js";
import { toCsv, toNumpy } from "./drawing.js";
import { Menu } from "./menus.js";
import { colour } from "./palette.js";
import { asPdf } from "./pdf.js";
import { segments } from "./settings.js";
import { dismiss, hint, notify } from "./notify.js";
import { LAYERS, mark, SWITCHES } from "./studio.js";
import { base64, copy, download } from "./takeaway.js";
import { Valley } from "./valley.js";
import { wireKeys } from "./shortcuts.js";

const $ = (id) => document.getElementById(id);
const click = (id, call) => $(id).addEventListener("click", call);
// The example behind "try an example": two goals, whose program is compiled before anybody asks.
const FIRST = "heart";
const AWAY = "There is no connection to the server. It will be tried again.";
const SLOW = 0.25;
const system = matchMedia("(prefers-color-scheme: dark)");

/** Returns the menu of examples, which the server fills. */
export function wire(studio) {
  const { drawing, link } = studio;
  const menu = new Menu($("presets"), $("presets-menu"), (name) => {
    if (!link.send({ type: "preset", name })) notify(AWAY);
  }, () => link.send({ type: "pictures" }));
  wireLooks(studio);
  wireFiles(studio);
  const use = wireTools(studio);
  wireKeys(studio, {
    use, save: () => save(studio), switchTheme: () => switchTheme(studio), slow: () => slow(studio), fit: () => fit(studio),
  });

  click("undo", () => studio.play.step("back"));
  click("redo", () => studio.play.step("on"));
  click("delete", () => drawing.remove([...studio.selected]));
  click("clear", () => drawing.clear());
  click("learn", () => studio.teach());
  click("relearn", () => studio.teach());
  click("cancel", () => studio.stopLearning());
  click("rain", () => studio.gestures.rain());
  click("stone", () => { if (studio.playground.addStone(studio.view)) studio.play.worldRests(); });
  click("wall", () => {
    studio.playground.toggleWalls(studio.view);
    studio.play.worldRests();
  });
  click("push", () => studio.play.togglePush());
  click("put-back", () => studio.play.putBack());
  click("home", () => studio.play.putBack());
  click("stop-here", () => studio.gestures.stopAt(drawing.find(studio.found.rounds[0]).x.at(-1)));
  for (const bar of document.querySelectorAll(".tools, .layers, .play, .ask, #try, #fitted")) studio.gestures.pen.passThrough(bar);
  click("compare", () => link.send({ type: "compare", rev: studio.rev }));
  click("try", () => tryExample(studio));
  click("fitted", () => fit(studio));
  click("notice-close", dismiss);
  click("help-open", () => $("help").showModal());
  click("help-close", () => $("help").close());
  $("help").addEventListener("click", ({ target }) => { if (target === $("help")) $("help").close(); });
  for (const name of SWITCHES) $(name).addEventListener("change", () => studio.store());
  $("auto").addEventListener("change", () => {
    if (studio.isLive && mark.field !== "current" && !studio.learning.running) studio.teach();
    studio.tell();
  });
  return menu;
}

/** One click to the first wonder: strokes, their flow, and a rain of particles. */
function tryExample(studio) {
  studio.rain = studio.link.send({ type: "preset", name: FIRST });
  if (!studio.rain) notify(AWAY);
}

function fit(studio) {
  studio.canvas.refit();
  studio.tell();
}

function wireTools(studio) {
  const choose = segments(document.querySelector(".modes"), "draw", use);
  function use(name) {
    if (studio.gestures.use(name)) studio.tool = mark.tool = name;
    choose(studio.tool);
    studio.tell();
  }
  return use;
}

function wireLooks(studio) {
  LAYERS.forEach((name, index) => {
    const button = document.querySelector(`[data-layer=${name}]`);
    button.setAttribute("aria-pressed", String(studio.shown[name]));
    button.addEventListener("click", () => studio.toggleLayer(index));
  });
  system.addEventListener("change", () => studio.chosenTheme || studio.setTheme(systemTheme()));
  click("theme", () => switchTheme(studio));
  click("slow", () => slow(studio));
  const valley = new Valley($("valley"), () => valleyState(studio));
  studio.deepen = (open = !valley.isOpen) => {
    valley.show(open && studio.needsValley() && Boolean(studio.field?.potential));
    $("deep").setAttribute("aria-pressed", String(valley.isOpen));
  };
  click("deep", () => studio.deepen());
}

/** What the valley is painted from. */
function valleyState({ theme, field, fields, drawing, labels, particles, canvas, view }) {
  const colourOf = (label) => colour(theme, (Array.isArray(label) ? label[0] : label) ?? -1);
  const ratio = Math.min(devicePixelRatio || 1, 2);
  return {
    theme, field: fields.learned ? field : null, strokes: drawing.strokes, labels, particles: particles.items, colourOf, ratio,
    width: view.width, height: view.height, still: canvas.still,
  };
}

function slow({ canvas, particles }) {
  const on = particles.tempo === 1;
  particles.tempo = canvas.flow.tempo = on ? SLOW : 1;
  $("slow").setAttribute("aria-pressed", String(on));
}

export function systemTheme() { return system.matches ? "dark" : "light"; }

function switchTheme(studio) {
  studio.chosenTheme = studio.theme.name === "dark" ? "light" : "dark";
  studio.setTheme(studio.chosenTheme);
  studio.store();
}

// --- files ---

function wireFiles(studio) {
  click("open", () => $("file").click());
  click("save", () => save(studio));
  $("file").addEventListener("change", ({ target }) => {
    openFile(studio, target.files[0]);
    target.value = "";
  });
  $("take").addEventListener("click", ({ target }) => { if (target.dataset.take) take(studio, target.dataset.take); });
  click("worst", () => studio.play.showWorst());
  click("copy", async () => {
    write("copy", (await copy($("python").textContent, $("python"))) ? "Copied" : "Press Ctrl+C");
    setTimeout(() => write("copy", "Copy"), 2000);
  });
  const stage = $("stage");
  for (const kind of ["dragenter", "dragover"]) {
    stage.addEventListener(kind, (event) => { event.preventDefault(); stage.classList.add("over"); });
  }
  stage.addEventListener("dragleave", ({ relatedTarget }) => {
    if (!relatedTarget || !stage.contains(relatedTarget)) stage.classList.remove("over");
  });
  // Beside the canvas, too: a browser would leave the page for the file.
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    stage.classList.remove("over");
    openFile(studio, event.dataTransfer?.files[0]);
  });
}

async function openFile({ limits, link }, file) {
  if (!file) return;
  // base64 is a third longer than the file.
  if (limits?.bytes && file.size * 1.34 > limits.bytes) {
    const [has, room] = [file.size / 1e6, limits.bytes / 1.34e6].map((mb) => mb.toFixed(1));
    notify(`The file has ${has} MB; there is room for ${room} MB. Keep fewer samples.`);
    return;
  }
  const sent = link.send({ type: "load", name: file.name, base64: await base64(file) });
  if (!sent) notify("There is no connection to the server, which reads files. It will be tried again.");
}

/** Strokes, field and view in one file; without a server the strokes as CSV. */
function save({ drawing, link, rev, view, keptGoals, numbers }) {
  if (!drawing.strokes.length) return;
  const sent = link.send({ type: "take", rev, what: "studio", view: view.kept, goals: keptGoals, numbers });
  if (!sent && drawing.strokes.some((s) => s.v)) notify("There is no connection to the server. Your samples are kept in this browser.");
  else if (!sent) download("eigenwell-drawing.csv", toCsv(drawing.strokes));
}

async function take(studio, what) {
  const { drawing, canvas, theme, link, rev } = studio;
  if (what === "png") canvas.flattened(theme.paper).toBlob((blob) => download("eigenwell-canvas.png", blob));
  else if (what === "svg") download("eigenwell-canvas.svg", new XMLSerializer().serializeToString(canvas.drawn().svg));
  else if (what === "pdf") download("eigenwell-canvas.pdf", await asPdf(canvas.drawn()));
  else if (what === "numpy") {
    const lines = toNumpy(drawing.strokes);
    if (await copy(lines)) hint("Copied: your strokes as NumPy arrays.", 3000);
    else download("eigenwell-strokes.py", lines);
  } else if (what === "film" || what === "gif") {
    hint("Filming four seconds", 4000);
    const film = await canvas.film(theme.paper, 4, what === "gif");
    download(`eigenwell-flow.${film.type.split("/")[1]}`, film);
  } else if (link.send({ type: "take", rev, what, goals: studio.keptGoals, numbers: studio.numbers })) hint("Making the file", 2500);
}
