// The paper's method beside ours: the same samples, none of their order, in two small pictures.

import { write } from "./answer.js";
import { colour, dash } from "./palette.js";
import { svg } from "./plots.js";
import { runs } from "./scene.js";

const $ = (id) => document.getElementById(id);
const [WIDTH, HEIGHT, EDGE] = [160, 118, 6];

export class Comparison {
  #rev = 0;

  /** What came of it: {ways: {kernel, unordered, known: {n, labels, ms}}, kernel: {sigma, theta_r, eps}}. */
  show({ ways, kernel, rev }, { drawing, theme, goals, numbers }) {
    this.#rev = rev;
    const colours = [];
    goals.forEach(({ colour: tint }, k) => { colours[numbers[k]] = tint; });
    const same = ways.unordered.n === goals.length;
    put($("by-kernel"), drawing.strokes, ways.kernel.labels, theme, (q) => q);
    put($("by-paths"), drawing.strokes, ways.unordered.labels, theme, (q) => (same ? colours[q] ?? q : q));
    const settings = `σ ${kernel.sigma}, θr ${kernel.theta_r}, ε ${kernel.eps}`;
    const guessed = `${settings}: σ by its rule, the others a fair guess.`;
    write("by-kernel-words", `The paper’s kernel: ${goal(ways.kernel.n)}, ${ways.kernel.ms} ms. ${guessed}`);
    write("by-paths-words", `eigenwell: ${goal(ways.unordered.n)}, ${ways.unordered.ms} ms. Nothing to set.`);
    const known = `${ways.known.n === 1 ? "is" : "are"} ${goal(ways.known.n)}`;
    write("compared-words", `Both were given places and velocities alone. With the order known there ${known}.`);
    $("compared").hidden = false;
  }

  /** Strokes are other ones now. */
  forget(rev) { if (rev !== this.#rev) $("compared").hidden = true; }
}

const goal = (n) => (n === 1 ? "1 goal" : `${n} goals`);

function put(figure, strokes, labels, theme, tint) {
  const places = strokes.flatMap((s) => s.x);
  const [low, high] = [Math.min, Math.max].map((f) => [0, 1].map((c) => places.reduce((m, p) => f(m, p[c]), places[0][c])));
  const scale = Math.min(...[WIDTH, HEIGHT].map((side, c) => (side - 2 * EDGE) / (high[c] - low[c] || 1)));
  const at = ([x, y]) => [WIDTH / 2 + (x - (low[0] + high[0]) / 2) * scale, HEIGHT / 2 - (y - (low[1] + high[1]) / 2) * scale];
  const parts = strokes.flatMap(({ id, x, v }) => {
    const points = x.map(at);
    const style = (q) => (q === null || q < 0 ? theme.unassigned : colour(theme, tint(q)));
    if (v) {
      const label = (i) => (Array.isArray(labels[id]) ? labels[id][i] : labels[id] ?? -1);
      return points.map(([cx, cy], i) => svg("circle", { cx, cy, r: 1.4, fill: style(label(i)) }));
    }
    return runs(labels[id], points.length).map(([q, from, to]) => svg("polyline", {
      points: points.slice(from, to + 1).map((p) => p.map((c) => c.toFixed(1)).join(",")).join(" "), fill: "none", stroke: style(q),
      "stroke-width": 1.6, "stroke-dasharray": (q === null ? [] : dash(theme, tint(Math.max(q, -1)))).map((d) => d / 2).join(" ") || "none",
    }));
  });
  figure.querySelector("svg")?.remove();
  const label = "The strokes in the colours of this reading";
  figure.prepend(svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label }, ...parts));
}
