// What lies on the paper: axes, the graph, strokes in the colours of their sub-dynamics, attractors.

import { arrow } from "./flow.js";
import { along, REACH } from "./magnets.js";
import { colour, dash, mark } from "./palette.js";

// Two standard errors, about 95 %.
const SIGMAS = 2;

/** Runs of samples with one label: [[label, from, to]...], neighbours sharing the sample between them. */
export function runs(label, n) {
  if (!Array.isArray(label) || label.length !== n) return [[Number.isInteger(label) ? label : null, 0, n - 1]];
  const found = [];
  let from = 0;
  for (let i = 1; i <= n; i++) {
    if (i === n || label[i] !== label[from]) {
      found.push([label[from], from, Math.min(i, n - 1)]);
      from = i;
    }
  }
  return found;
}

/** The most frequent label of a stroke, null while it has none. */
export function mainLabel(label, n) {
  const count = new Map();
  for (const [q, from, to] of runs(label, n)) count.set(q, (count.get(q) ?? 0) + to - from + 1);
  return [...count].sort((a, b) => b[1] - a[1])[0]?.[0] ?? null;
}

export function paintScene(ctx, view, theme, { strokes, labels, found, shown, selected, hidden, worst, playground, pusher }) {
  ctx.clearRect(0, 0, view.width, view.height);
  ctx.lineCap = ctx.lineJoin = "round";
  if (shown.graph && found?.graph) paintGraph(ctx, view, theme, found.graph, shown.strokes);
  if (shown.strokes) {
    for (const stroke of strokes) {
      if (hidden[stroke.id]) continue;
      // Where goals were carried elsewhere, strokes are how it was shown, and not how it goes now.
      const strength = (shown.graph ? 0.55 : 1) * (playground.goals.size || pusher.busy ? 0.35 : 1);
      if (stroke.v) paintSamples(ctx, view, theme, stroke, labels[stroke.id], selected.has(stroke.id), found?.fates?.[stroke.id], strength);
      else paintStroke(ctx, view, theme, stroke, labels[stroke.id], selected.has(stroke.id), strength);
      if (stroke.id === worst) paintDoubt(ctx, theme, stroke.x.map((p) => view.toScreen(p)));
    }
  }
  playground.paint(ctx, view, theme);
  for (const [q, a] of (found?.attractors ?? []).entries()) {
    const now = playground.goals.get(q);
    paintAttractor(ctx, view, theme, now ? { x: now, error: null } : a, a.colour ?? q, q);
  }
}

export function paintStroke(ctx, view, theme, { x }, label, selected, strength = 1) {
  const at = x.map((p) => view.toScreen(p));
  if (selected) {
    line(ctx, at, 0, at.length - 1);
    ctx.lineWidth = 11;
    ctx.strokeStyle = theme.ink;
    ctx.globalAlpha = 0.16;
    ctx.stroke();
  }
  ctx.globalAlpha = strength;
  for (const [q, from, to] of runs(label, at.length)) {
    ctx.strokeStyle = q === null ? theme.faint : colour(theme, q);
    ctx.lineWidth = 2.4;
    ctx.setLineDash(dash(theme, q));
    line(ctx, at, from, to);
    ctx.stroke();
  }
  ctx.setLineDash([]);
  const q = mainLabel(label, at.length);
  ctx.fillStyle = q === null ? theme.faint : colour(theme, q);
  const middle = arrowPlace(at);
  if (middle > 1 && middle < at.length - 2) arrow(ctx, at, middle, 6.5);
  polygon(ctx, mark(q ?? 0, ...at[0], 5));
  ctx.fill();
  ctx.globalAlpha = 1;
  ctx.lineWidth = 1.5;
  ctx.strokeStyle = theme.paper;
  ctx.stroke();
}

// Pixels of the longest tick of a sample, for the fastest of its stroke.
const TICK = 15;

/** Samples from a brush: a dot and a tick along its velocity, in the colour of its fate, paler where that is in doubt. */
export function paintSamples(ctx, view, theme, { x, v }, label, selected, sure, strength = 1) {
  const fastest = Math.max(...v.map(([a, b]) => Math.hypot(a, b)), 1e-9);
  x.forEach((place, i) => {
    const q = Array.isArray(label) ? label[i] : label ?? null;
    const [px, py] = view.toScreen(place);
    ctx.strokeStyle = ctx.fillStyle = q === null ? theme.faint : colour(theme, q);
    ctx.globalAlpha = strength * (0.3 + 0.7 * (sure?.[i] ?? 1));
    ctx.lineWidth = 1.5;
    ctx.beginPath();
    ctx.moveTo(px, py);
    ctx.lineTo(px + (TICK * v[i][0]) / fastest, py - (TICK * v[i][1]) / fastest);
    ctx.stroke();
    polygon(ctx, mark(Math.max(q ?? 0, 0), px, py, selected ? 4.5 : 2.8));
    ctx.fill();
  });
  ctx.globalAlpha = 1;
}

/** Samples without velocities, each in the colour of its label. */
export function paintDots(ctx, view, theme, x, labels, strength) {
  ctx.globalAlpha = strength;
  x.forEach((place, i) => {
    ctx.beginPath();
    ctx.arc(...view.toScreen(place), 2.6, 0, 2 * Math.PI);
    ctx.fillStyle = labels[i] === null ? theme.faint : colour(theme, labels[i]);
    ctx.fill();
  });
  ctx.globalAlpha = 1;
}

/** The ring in which the end of a stroke belongs to a goal. */
export function paintHalo(ctx, theme, [x, y], hot) {
  ctx.beginPath();
  ctx.arc(x, y, REACH, 0, 2 * Math.PI);
  ctx.fillStyle = ctx.strokeStyle = theme.ink;
  ctx.globalAlpha = hot ? 0.14 : 0.05;
  ctx.fill();
  ctx.globalAlpha = hot ? 0.9 : 0.4;
  ctx.lineWidth = hot ? 2 : 1.2;
  ctx.setLineDash(hot ? [] : [4, 4]);
  ctx.stroke();
  ctx.setLineDash([]);
  ctx.globalAlpha = 1;
}

/** The stroke that is followed least, where that is too little: dots along it, and a sign. */
function paintDoubt(ctx, theme, at) {
  line(ctx, at, 0, at.length - 1);
  ctx.strokeStyle = theme.ink;
  ctx.lineWidth = 4.5;
  ctx.setLineDash([0.1, 9]);
  ctx.stroke();
  ctx.setLineDash([]);
  const [x, y] = at[at.length >> 2];
  ctx.beginPath();
  ctx.arc(x, y, 9, 0, 2 * Math.PI);
  ctx.fillStyle = theme.ink;
  ctx.fill();
  ctx.fillStyle = theme.paper;
  ctx.font = "700 13px system-ui, sans-serif";
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.fillText("!", x, y + 0.5);
}

/** Half axes of the ellipse around a goal, in pixels. */
export function reaches({ error }, view) {
  const [a, b] = [error?.[0] ?? 0, error?.[1] ?? error?.[0] ?? 0].map((e) => SIGMAS * Math.abs(e) * view.scale);
  return [Math.min(a, 4 * view.width), Math.min(b, 4 * view.height)];
}

export function paintAttractor(ctx, view, theme, { x, error }, q, index) {
  const [px, py] = view.toScreen(x);
  const tint = colour(theme, q);
  const [rx, ry] = reaches({ error }, view);
  if (rx > 1 || ry > 1) {
    ctx.beginPath();
    ctx.ellipse(px, py, Math.max(rx, 1), Math.max(ry, 1), 0, 0, 2 * Math.PI);
    ctx.fillStyle = tint;
    ctx.globalAlpha = 0.2;
    ctx.fill();
    ctx.globalAlpha = 0.9;
    ctx.lineWidth = 1;
    ctx.strokeStyle = tint;
    ctx.stroke();
    ctx.globalAlpha = 1;
  }
  for (const [width, style, r] of [[6, theme.paper, 9], [2.6, theme.ink, 8]]) {
    ctx.beginPath();
    ctx.moveTo(px - r, py); ctx.lineTo(px + r, py); ctx.moveTo(px, py - r); ctx.lineTo(px, py + r);
    ctx.lineWidth = width;
    ctx.strokeStyle = style;
    ctx.stroke();
  }
  const bx = px + (px > view.width - 40 ? -19 : 19), by = py + (py < 40 ? 19 : -19);
  ctx.beginPath();
  ctx.arc(bx, by, 10.5, 0, 2 * Math.PI);
  ctx.fillStyle = theme.paper;
  ctx.fill();
  ctx.lineWidth = 2;
  ctx.strokeStyle = tint;
  ctx.stroke();
  ctx.fillStyle = theme.ink;
  ctx.font = "600 12px system-ui, sans-serif";
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.fillText(String(index + 1), bx, by + 0.5);
}

function paintGraph(ctx, view, theme, graph, quiet) {
  const layer = (links, style, width, alpha, dash) => {
    ctx.beginPath();
    for (const [x1, y1, x2, y2] of links ?? []) {
      ctx.moveTo(...view.toScreen([x1, y1]));
      ctx.lineTo(...view.toScreen([x2, y2]));
    }
    ctx.strokeStyle = style;
    ctx.lineWidth = width;
    ctx.globalAlpha = alpha;
    ctx.setLineDash(dash);
    ctx.stroke();
    ctx.setLineDash([]);
  };
  // Thousands of links are a texture, hundreds are lines.
  const strength = Math.min(1, Math.sqrt(700 / Math.max(graph.links?.length ?? 0, 1)));
  layer(graph.links, theme.ink, strength < 1 ? 0.8 : 1, strength * (quiet ? 0.6 : 0.75), []);
  // Nodes, so that a link between neighbours is seen as a link and not as a line.
  ctx.globalAlpha = 0.75 * strength;
  ctx.fillStyle = theme.ink;
  ctx.beginPath();
  for (const [x, y] of graph.links ?? []) {
    const [px, py] = view.toScreen([x, y]);
    ctx.rect(px - 1.25, py - 1.25, 2.5, 2.5);
  }
  ctx.fill();
  layer(graph.joins, theme.ink, 1.6, 0.95, [2, 4]);
  ctx.globalAlpha = 1;
}

function line(ctx, points, from, to) {
  ctx.beginPath();
  ctx.moveTo(...points[from]);
  for (let i = from + 1; i <= to; i++) ctx.lineTo(...points[i]);
}

export function polygon(ctx, corners) {
  ctx.beginPath();
  corners.forEach((c) => ctx.lineTo(...c));
  ctx.closePath();
}

// Arrows sit before the middle, where strokes that cross are still apart.
const ARROW = 0.36;

/** Index of the sample where a line carries its arrow. */
function arrowPlace(points) {
  const at = along(points);
  return at.findIndex((s) => s >= ARROW * at[at.length - 1]);
}

/** The stroke within reach of a point on screen, nearest first, topmost in a tie. */
export function strokeAt(strokes, view, [px, py], reach) {
  let best = null, least = reach;
  for (const stroke of strokes) {
    let previous = view.toScreen(stroke.x[0]);
    for (const p of stroke.x.slice(1)) {
      const next = view.toScreen(p);
      if (stroke.v) previous = next; // nothing lies between samples
      const dx = next[0] - previous[0], dy = next[1] - previous[1];
      const along = ((px - previous[0]) * dx + (py - previous[1]) * dy) / (dx * dx + dy * dy || 1);
      const s = Math.min(Math.max(along, 0), 1);
      const distance = Math.hypot(px - previous[0] - s * dx, py - previous[1] - s * dy);
      if (distance <= least) { least = distance; best = stroke.id; }
      previous = next;
    }
  }
  return best;
}
