// The canvas as an SVG element, for a file of its own and for a PDF: the same marks and colours as on screen, streamlines standing still.

import { regionImage } from "./backdrop.js";
import { tints } from "./flow.js";
import { svg } from "./plots.js";
import { colour, dash, mark } from "./palette.js";
import { arrowPlace, mainLabel, runs } from "./scene.js";

export function picture(view, theme, { strokes, labels, found, field, shown }) {
  const root = svg("svg", {
    width: view.width, height: view.height, viewBox: `0 0 ${view.width} ${view.height}`,
  });
  root.append(svg("title", {}, "Drawn with eigenwell studio"), svg("rect", { width: "100%", height: "100%", fill: theme.paper }));
  const at = (p) => view.toScreen(p);
  if (field && shown.basins) {
    const [x0, y0, x1, y1] = field.regions.extent ?? field.box;
    const [x, y] = at([x0, y1]), [right, bottom] = at([x1, y0]);
    const tinted = regionImage(field, theme), href = tinted.toDataURL();
    const image = svg("image", { x, y, width: right - x, height: bottom - y, preserveAspectRatio: "none", href });
    root.append(Object.assign(image, { picture: tinted }));
    for (const [tint, width, dash] of [[theme.paper, 4, {}], [theme.ink, 1.5, { "stroke-dasharray": "6 4" }]]) {
      for (const line of field.regions.borders()) root.append(path(polyline(line.map(at)), tint, width, dash));
    }
    for (const [cx, cy] of field.saddles.map(at)) {
      root.append(path(`M${cx},${cy - 7}l7,7l-7,7l-7,-7z`, theme.ink, 1.8, { fill: theme.paper }));
    }
  }
  if (field && shown.potential) {
    for (const { q, level, segments: s } of field.contours()) {
      root.append(path(segments(s, at), colour(theme, q), 1, { opacity: (0.52 - 0.28 * level).toFixed(2) }));
    }
  }
  if (field && shown.flow) {
    for (const line of field.streamlines(26 / view.scale)) {
      for (const { tint, from, to } of tints(line, field, theme, shown.speed)) {
        root.append(path(polyline(line.points.slice(from, to + 1).map(at)), tint, 1.2, { opacity: shown.speed ? 0.85 : 0.55 }));
      }
    }
  }
  if (shown.graph && found?.graph) {
    root.append(path(segments(found.graph.links ?? [], at), theme.ink, 1, { opacity: 0.6 }));
    root.append(path(segments(found.graph.joins ?? [], at), theme.ink, 1.6, { "stroke-dasharray": "2 4" }));
  }
  if (shown.strokes) strokes.forEach((s) => root.append((s.v ? sampleGroup : strokeGroup)(theme, s.x.map(at), labels[s.id], s.v)));
  (found?.attractors ?? []).forEach((a, q) => root.append(attractorGroup(view, theme, a, a.colour ?? q, q)));
  return root;
}

function strokeGroup(theme, points, label) {
  const group = svg("g");
  for (const [q, from, to] of runs(label, points.length)) {
    const broken = { "stroke-dasharray": dash(theme, q).join(" ") || "none" };
    group.append(path(polyline(points.slice(from, to + 1)), q === null ? theme.faint : colour(theme, q), 2.4, broken));
  }
  const q = mainLabel(label, points.length);
  const tint = q === null ? theme.faint : colour(theme, q);
  const i = arrowPlace(points);
  if (i > 1 && i < points.length - 2) {
    const [a, b] = [points[i - 2], points[i + 2]];
    const turn = (Math.atan2(b[1] - a[1], b[0] - a[0]) * 180) / Math.PI;
    const place = `translate(${points[i].map((c) => c.toFixed(1)).join(" ")}) rotate(${turn.toFixed(1)})`;
    group.append(svg("path", { d: "M8.8,0L-4.6,4.6V-4.6Z", fill: tint, transform: place }));
  }
  const corners = mark(q ?? 0, ...points[0], 5).map((p) => p.map((c) => c.toFixed(1)).join(",")).join(" ");
  group.append(svg("polygon", { points: corners, fill: tint, stroke: theme.paper, "stroke-width": 1.5 }));
  return group;
}

function sampleGroup(theme, points, label, v) {
  const fastest = Math.max(...v.map(([a, b]) => Math.hypot(a, b)), 1e-9);
  const group = svg("g");
  points.forEach(([x, y], i) => {
    const tint = colour(theme, (Array.isArray(label) ? label[i] : label) ?? -1);
    const tick = v[i].map((c, k) => ((k ? -15 : 15) * c) / fastest);
    group.append(path(polyline([[x, y], [x + tick[0], y + tick[1]]]), tint, 1.5, {}));
    group.append(svg("circle", { cx: x.toFixed(1), cy: y.toFixed(1), r: 2.8, fill: tint }));
  });
  return group;
}

function attractorGroup(view, theme, { x, error }, q, index) {
  const [cx, cy] = view.toScreen(x);
  const group = svg("g");
  const [rx, ry] = [0, 1].map((k) => 2 * Math.abs(error?.[k] ?? 0) * view.scale);
  if (rx > 1 || ry > 1) {
    group.append(svg("ellipse", {
      cx, cy, rx: Math.max(rx, 1), ry: Math.max(ry, 1), fill: colour(theme, q), "fill-opacity": 0.2, stroke: colour(theme, q),
    }));
  }
  for (const [r, width, tint] of [[9, 6, theme.paper], [8, 2.6, theme.ink]]) {
    group.append(path(`M${cx - r},${cy}h${2 * r}M${cx},${cy - r}v${2 * r}`, tint, width, {}));
  }
  const [bx, by, stroke] = [cx + 19, cy - 19, colour(theme, q)];
  const font = { "text-anchor": "middle", "font-family": "sans-serif", "font-size": 12, "font-weight": 600 };
  group.append(svg("circle", { cx: bx, cy: by, r: 10.5, fill: theme.paper, stroke, "stroke-width": 2 }));
  group.append(svg("text", { x: bx, y: by + 4.2, fill: theme.ink, ...font }, String(index + 1)));
  return group;
}

function path(d, stroke, width, more) {
  const round = { "stroke-linecap": "round", "stroke-linejoin": "round" };
  return svg("path", { d, fill: "none", stroke, "stroke-width": width, ...round, ...more });
}

function polyline(points) {
  return points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)},${y.toFixed(1)}`).join("");
}

function segments(list, at) {
  return list.map(([a, b, c, d]) => polyline([at([a, b]), at([c, d])])).join("");
}
