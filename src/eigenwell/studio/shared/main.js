// A field to look at: it moves, it can be turned about with wheel and fingers, and particles can be dropped into it.

import { learnedOf } from "./field.js";
import { Flow, paintBackdrop } from "./flow.js";
import { colour, DARK, LIGHT, mark } from "./palette.js";
import { Particles } from "./particles.js";
import { View } from "./view.js";

const { field: numbers, strokes, colours } = JSON.parse(document.getElementById("content").textContent);
const learned = learnedOf(numbers, colours);
const tint = (q) => colour(theme, learned.colours[q] ?? -1);
const paper = document.getElementById("paper");
const ctx = paper.getContext("2d");
const still = matchMedia("(prefers-reduced-motion: reduce)");
const dark = matchMedia("(prefers-color-scheme: dark)");
const view = new View();
const flow = new Flow();
const particles = new Particles();
const layer = document.createElement("canvas");
const backdrop = document.createElement("canvas");
const shown = { basins: true, potential: true };
let seen = null, last = 0, timer = 0, theme = LIGHT;
particles.way = (at) => learned.way(at);
particles.addEventListener("rest", () => { document.body.dataset.arrived = Number(document.body.dataset.arrived ?? 0) + 1; });

function size() {
  const ratio = Math.min(devicePixelRatio || 1, 2.5);
  theme = dark.matches ? DARK : LIGHT;
  for (const canvas of [paper, layer, backdrop]) {
    canvas.width = Math.round(innerWidth * ratio);
    canvas.height = Math.round(innerHeight * ratio);
    canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
  }
  if (view.moved) view.resize(innerWidth, innerHeight);
  else view.fit(innerWidth, innerHeight, strokes);
  look(true);
}

function look(anew) {
  seen = learned.seen(null, view.box(0.15));
  flow.set(seen, anew);
  paintBackdrop(backdrop.getContext("2d"), view, theme, seen, shown, false);
}

function moved() {
  paintBackdrop(backdrop.getContext("2d"), view, theme, seen, shown, false);
  clearTimeout(timer);
  timer = setTimeout(() => look(false), 90);
}

function frame(now) {
  const seconds = Math.min(Math.max((now - last) / 1000, 0), 0.05);
  last = now;
  ctx.fillStyle = theme.paper;
  ctx.fillRect(0, 0, view.width, view.height);
  const whole = (canvas) => ctx.drawImage(canvas, 0, 0, view.width, view.height);
  whole(backdrop);
  if (still.matches) flow.paintStill(layer.getContext("2d"), view, theme, false);
  else {
    flow.step(seconds, view);
    flow.paint(layer.getContext("2d"), view, theme, false);
  }
  whole(layer);
  ctx.lineCap = ctx.lineJoin = "round";
  for (const { x, q } of strokes) {
    ctx.beginPath();
    x.forEach((p) => ctx.lineTo(...view.toScreen(p)));
    ctx.lineWidth = 2.2;
    ctx.strokeStyle = tint(q);
    ctx.stroke();
    ctx.beginPath();
    mark(learned.colours[q] ?? 0, ...view.toScreen(x[0]), 5).forEach((corner) => ctx.lineTo(...corner));
    ctx.fillStyle = tint(q);
    ctx.fill();
  }
  learned.attractors.forEach((a, q) => goal(view.toScreen(a), q));
  particles.step(seconds, still.matches);
  particles.paint(ctx, view, theme);
  document.body.dataset.frames = Number(document.body.dataset.frames ?? 0) + 1;
  requestAnimationFrame(frame);
}

function goal([x, y], q) {
  for (const [width, style, r] of [[6, theme.paper, 9], [2.6, theme.ink, 8]]) {
    ctx.beginPath();
    ctx.moveTo(x - r, y); ctx.lineTo(x + r, y); ctx.moveTo(x, y - r); ctx.lineTo(x, y + r);
    ctx.lineWidth = width;
    ctx.strokeStyle = style;
    ctx.stroke();
  }
  ctx.beginPath();
  ctx.arc(x + 19, y - 19, 10.5, 0, 2 * Math.PI);
  ctx.fillStyle = theme.paper;
  ctx.fill();
  ctx.lineWidth = 2;
  ctx.strokeStyle = tint(q);
  ctx.stroke();
  ctx.fillStyle = theme.ink;
  ctx.font = "600 12px system-ui, sans-serif";
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.fillText(String(q + 1), x + 19, y - 18.5);
}

// A click drops a particle, a drag looks elsewhere, two fingers and the wheel look closer.
const fingers = new Map();
let from = null, pinched = null;
paper.addEventListener("pointerdown", (event) => {
  fingers.set(event.pointerId, [event.clientX, event.clientY]);
  from = { at: [event.clientX, event.clientY], far: fingers.size > 1 };
  pinched = fingers.size === 2 ? between() : null;
});
paper.addEventListener("pointermove", (event) => {
  if (!fingers.has(event.pointerId)) return;
  const was = fingers.get(event.pointerId), now = [event.clientX, event.clientY];
  fingers.set(event.pointerId, now);
  if (pinched && fingers.size === 2) {
    const next = between();
    view.pan(next.x - pinched.x, next.y - pinched.y);
    view.zoom(next.apart / pinched.apart, [next.x, next.y]);
    pinched = next;
  } else if (from && (from.far ||= Math.hypot(now[0] - from.at[0], now[1] - from.at[1]) > 6)) view.pan(now[0] - was[0], now[1] - was[1]);
  else return;
  moved();
});
for (const kind of ["pointerup", "pointercancel"]) {
  paper.addEventListener(kind, (event) => {
    fingers.delete(event.pointerId);
    if (kind === "pointerup" && from && !from.far && !fingers.size) particles.add(view.toWorld([event.clientX, event.clientY]));
    if (!fingers.size) from = pinched = null;
  });
}
function between() {
  const [[ax, ay], [bx, by]] = [...fingers.values()];
  return { x: (ax + bx) / 2, y: (ay + by) / 2, apart: Math.max(Math.hypot(ax - bx, ay - by), 1) };
}
paper.addEventListener("wheel", (event) => {
  event.preventDefault();
  view.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0016)), [event.clientX, event.clientY]);
  moved();
}, { passive: false });
paper.addEventListener("keydown", ({ key }) => {
  if (key === "Enter" || key === " ") particles.add(strokes[Math.floor(Math.random() * strokes.length)].x[0]);
  else if (key === "Escape") particles.clear();
  else if (key === "0") { view.moved = false; size(); }
});
addEventListener("resize", size);
dark.addEventListener("change", size);
size();
requestAnimationFrame(frame);

/** For whoever wants the numbers: velocities of the map, or of the motions with a phase, as Python has them. */
window.eigenwell = {
  learned,
  velocity: (x, q = null) => Array.from((q === null ? learned.map : learned.lifted[q]).velocity(x, [0, 0, 0])).slice(0, x.length),
};
