// Three small plots in SVG: the spectrum with its gap, the embedding with its lines, the loss.

import { colour, mark } from "./palette.js";

const NS = "http://www.w3.org/2000/svg";

export function svg(name, attributes = {}, ...children) {
  const node = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

/** The mark of a sub-dynamics, as beside its name. */
export function markIcon(theme, q, size = 13) {
  const points = mark(q, size / 2, size / 2, size * 0.36).map((p) => p.join(",")).join(" ");
  return svg(
    "svg", { width: size, height: size, viewBox: `0 0 ${size} ${size}`, "aria-hidden": "true" },
    svg("polygon", { points, fill: colour(theme, q) }),
  );
}

export function plotSpectrum(figure, theme, q, { values, gap_after: gap }) {
  const shown = (values ?? []).filter(Number.isFinite);
  const [w, h, left, bottom, top] = [160, 128, 6, 16, 12];
  const most = Math.max(...shown, 0) || 1;
  const x = (i) => left + ((i + 0.5) * (w - left)) / Math.max(shown.length, 4);
  const y = (v) => h - bottom - (Math.max(v, 0) / most) * (h - bottom - top);
  const parts = [svg("line", { x1: left, x2: w, y1: h - bottom, y2: h - bottom, stroke: theme.grid })];
  const marked = Number.isInteger(gap) && gap > 0 && gap < shown.length && shown[gap] > 1.02 * shown[gap - 1];
  if (marked) {
    const [low, high] = [shown[gap - 1], shown[gap]];
    const height = Math.max(y(low) - y(high), 1);
    const band = svg("rect", { x: left, y: y(high), width: w - left, height, fill: colour(theme, q), opacity: 0.13 });
    band.append(svg("title"));
    band.firstChild.textContent = "Gap: the widest step from one number to the next; those below it say which strokes belong together.";
    parts.push(band);
    parts.push(text(left + 4, y(low) - height / 2 + (height > 16 ? 3.5 : -7), "gap"));
  }
  shown.forEach((v, i) => {
    const tint = marked && i >= gap ? theme.unassigned : colour(theme, q);
    parts.push(svg("line", { x1: x(i), x2: x(i), y1: h - bottom, y2: y(v), stroke: tint, "stroke-width": 1.6 }));
    parts.push(svg("circle", { cx: x(i), cy: y(v), r: 2.8, fill: tint }));
  });
  const last = shown.length - 1;
  if (last >= 0) parts.push(text(x(0), h - 3, "1", "middle"), text(x(last), h - 3, String(last + 1), "middle"));
  put(figure, w, h, parts, "Eigenvalues of the Laplacian, the smallest first");
  figure.querySelector("figcaption").textContent = marked
    ? `Spectrum: eigenvalues up to ${short(most)}; ${gap} lie below the gap`
    : `Spectrum: eigenvalues up to ${short(most)}`;
}

export function plotEmbedding(figure, theme, q, { paths, linearity }) {
  const [w, h, pad] = [160, 128, 10];
  // The paper's graph has no paths, only nodes.
  const cloud = !Number.isFinite(linearity);
  const lines = (paths ?? [])
    .filter((p) => p.length > 1 && p.every((u) => u.length >= 2 && u.every(Number.isFinite)))
    .map((p) => thinned(p, cloud ? 400 : 60));
  const all = lines.flat();
  const parts = [];
  if (all.length) {
    const [us, vs] = [all.map((u) => u[0]), all.map((u) => u[1])];
    // The lines meet at the origin: it is always in sight, and both axes have one scale.
    const [u0, u1, v0, v1] = [Math.min(0, ...us), Math.max(0, ...us), Math.min(0, ...vs), Math.max(0, ...vs)];
    const scale = Math.min((w - 2 * pad) / (u1 - u0 || 1e-9), (h - 2 * pad) / (v1 - v0 || 1e-9));
    const at = ([u, v]) => [w / 2 + (u - (u0 + u1) / 2) * scale, h / 2 - (v - (v0 + v1) / 2) * scale];
    const [ox, oy] = at([0, 0]);
    parts.push(svg("path", { d: `M${ox},0V${h}M0,${oy}H${w}`, stroke: theme.grid, fill: "none" }));
    for (const line of lines) {
      const points = line.map(at);
      if (cloud) {
        for (const [cx, cy] of points) parts.push(svg("circle", { cx, cy, r: 1.4, fill: colour(theme, q), opacity: 0.7 }));
        continue;
      }
      const d = points.map((p) => p.map((c) => c.toFixed(1)).join(",")).join(" ");
      parts.push(svg("polyline", { points: d, fill: "none", stroke: colour(theme, q), "stroke-width": 1.3, opacity: 0.6 }));
      for (const [cx, cy] of thinned(points, 14)) parts.push(svg("circle", { cx, cy, r: 1.7, fill: colour(theme, q) }));
    }
    parts.push(svg("path", { d: `M${ox - 4},${oy}h8M${ox},${oy - 4}v8`, stroke: theme.ink, "stroke-width": 1.8 }));
  }
  put(figure, w, h, parts, "The strokes in the coordinates of the first eigenvectors");
  figure.querySelector("figcaption").textContent = cloud
    ? "Embedding: the nodes of the graph"
    : `Embedding: straight lines, R² ${linearity > 0.99995 ? "1.0000" : linearity.toFixed(4)}`;
}

/** [step, loss, part]: each part of the training is a line of its own. */
export function plotLoss(figure, theme, losses, steps) {
  const [w, h, left, bottom] = [340, 92, 40, 14];
  const known = losses.filter(([, loss]) => loss > 0 && Number.isFinite(loss));
  const drawn = [];
  if (known.length) {
    const logs = known.map(([, loss]) => Math.log10(loss));
    let [low, high] = [Math.min(...logs), Math.max(...logs)];
    if (high - low < 0.3) [low, high] = [low - 0.15, high + 0.15];
    const x = (step) => left + (step / Math.max(steps, 1)) * (w - left - 4);
    const y = (log) => 6 + ((high - log) / (high - low)) * (h - bottom - 10);
    drawn.push(svg("path", { d: `M${left},2V${h - bottom}H${w}`, stroke: theme.grid, fill: "none" }));
    drawn.push(text(left - 5, y(high) + 4, short(10 ** high), "end"), text(left - 5, y(low) + 2, short(10 ** low), "end"));
    drawn.push(text(left, h - 2, "0"), text(w, h - 2, `${steps} steps`, "end"));
    const lines = new Map();
    known.forEach(([step, , part], i) => lines.set(part, [...(lines.get(part) ?? []), [x(step), y(logs[i])]]));
    for (const [, line] of lines) {
      const points = line.map((p) => p.map((c) => c.toFixed(1)).join(",")).join(" ");
      const look = { fill: "none", stroke: theme.ink, "stroke-width": 1.8, "stroke-linejoin": "round" };
      drawn.push(svg("polyline", { points, ...look }));
      drawn.push(svg("circle", { cx: line.at(-1)[0], cy: line.at(-1)[1], r: 2.8, fill: theme.ink }));
    }
  }
  put(figure, w, h, drawn, "Loss over training steps");
}

function thinned(points, most) {
  const every = Math.max(1, Math.ceil(points.length / most));
  return points.filter((_, i) => i % every === 0 || i === points.length - 1);
}

function put(figure, w, h, parts, label) {
  const drawing = svg("svg", { viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": label }, ...parts);
  figure.querySelector("svg")?.remove();
  figure.prepend(drawing);
}

function text(x, y, words, anchor = "start") {
  const node = svg("text", { x, y, "text-anchor": anchor });
  node.textContent = words;
  return node;
}

/** A number in few characters. */
export function short(v) {
  if (v === 0) return "0";
  const size = Math.abs(v);
  if (size >= 0.01 && size < 1000) return String(Number(v.toPrecision(2)));
  return v.toExponential(0).replace("e+", "e").replace("-", "−");
}
