// The flow that is there at once: it repeats the strokes, and arrives from anywhere, pushed or not.

import assert from "node:assert/strict";
import test from "node:test";
import { grouped, sketched } from "../../src/eigenwell/studio/page/sketch.js";

const times = Array.from({ length: 60 }, (_, i) => i / 40);
const eight = (scale, dx) => times.map((t) => {
  const a = 0.4 + (t / times.at(-1)) * 5.2;
  return [dx + scale * Math.sin(a), scale * Math.sin(2 * a) * 0.8];
});
const line = (x0, y0, x1, y1) => times.map((t) => {
  const s = 1 - (1 - t / times.at(-1)) ** 2;
  return [x0 + s * (x1 - x0), y0 + s * (y1 - y0) + 0.1 * Math.sin(Math.PI * s)];
});
const drawing = [
  { id: "a", t: times, x: eight(0.6, 0) }, { id: "b", t: times, x: eight(0.62, 0.01) },
  { id: "c", t: times, x: line(-1, 0.9, 1, -0.8) }, { id: "d", t: times, x: line(-0.9, 0.7, 1.01, -0.8) },
];
const nearest = (way, p) => Math.min(...way.map((q) => Math.hypot(q[0] - p[0], q[1] - p[1])));

test("ends within reach are one goal, and known goals keep their places", () => {
  const { goals, goalOf } = grouped(drawing, [], 0.1);
  assert.equal(goals.length, 2);
  assert.deepEqual(drawing.map(goalOf), [0, 0, 1, 1]);
  const known = grouped(drawing, [[5, 5], [1.02, -0.81]], 0.1);
  assert.equal(known.goals.length, 2);
  assert.deepEqual(known.goals[known.goalOf(drawing[2])], [1.02, -0.81]);
});

test("it follows every stroke, eights too, and arrives from anywhere", () => {
  const { goals, goalOf } = grouped(drawing, [], 0.1);
  const flow = sketched(drawing, goals, goalOf, [4, 2]);
  for (const stroke of drawing) {
    const way = flow.way(stroke.x[0]);
    assert.ok(way.arrived);
    assert.equal(way.q, [4, 2][goalOf(stroke)]);
    for (const p of stroke.x) assert.ok(nearest(way.x, p) < 0.08, "beside the stroke");
    assert.ok(Math.abs(way.t.at(-1) - times.at(-1)) < 0.6 * times.at(-1), "in another time");
  }
  for (let k = 0; k < 60; k++) {
    const at = [4 * ((k * 0.618034) % 1) - 2, 4 * ((k * 0.754878) % 1) - 2];
    const way = flow.way(at), goal = flow.attractors[[4, 2].indexOf(way.q)];
    assert.ok(way.arrived && Math.hypot(way.x.at(-1)[0] - goal[0], way.x.at(-1)[1] - goal[1]) < 0.03);
  }
});

test("goals elsewhere, stones and walls hold for it, too", () => {
  const { goals, goalOf } = grouped(drawing, [], 0.1);
  const flow = sketched(drawing, goals, goalOf, []);
  const stone = { c: [0.2, -0.02], r: 0.15 };
  flow.enter({ goals: new Map([[1, [0.9, 0.4]]]), stones: [stone], low: [-1.5, -1.5], high: [1.5, 1.5] });
  for (const stroke of drawing) {
    const way = flow.way(stroke.x[0]);
    assert.ok(way.arrived);
    assert.ok(way.x.every((p) => Math.hypot(p[0] - stone.c[0], p[1] - stone.c[1]) > 0.99 * stone.r));
    if (goalOf(stroke) === 1) assert.ok(Math.hypot(way.x.at(-1)[0] - 0.9, way.x.at(-1)[1] - 0.4) < 0.02);
  }
});

test("without strokes to every goal there is none", () => {
  assert.equal(sketched([], [], () => 0, []), null);
  assert.equal(sketched(drawing, [[0, 0], [1, 1], [2, 2]], (s) => (s.id === "a" ? 0 : 1), []), null);
});
