// Pure parts of the page: the history of strokes, magnets, colours for life, the view, what is kept over a reload.

import assert from "node:assert/strict";
import test from "node:test";
import { sprayed, WIDE } from "../../src/eigenwell/studio/page/brush.js";
import { Drawing, toCsv, wholeStrokes } from "../../src/eigenwell/studio/page/drawing.js";
import { bent, endedAt, isLoop, keptColours, nearest } from "../../src/eigenwell/studio/page/magnets.js";
import { tints } from "../../src/eigenwell/studio/page/flow.js";
import { colour, dash, LIGHT, speedStep } from "../../src/eigenwell/studio/page/palette.js";
import { mainLabel, runs } from "../../src/eigenwell/studio/page/scene.js";
import { agreement } from "../../src/eigenwell/studio/page/shuffle.js";
import { restore, save } from "../../src/eigenwell/studio/page/storage.js";
import { View } from "../../src/eigenwell/studio/page/view.js";

const times = Array.from({ length: 20 }, (_, i) => i / 19);
const line = (x0, y0, x1, y1) => times.map((s) => [x0 + s * (x1 - x0), y0 + s * (y1 - y0)]);

test("a bent line keeps its start, ends where it should, and moves less the farther from its end", () => {
  const x = line(0, 0, 1, 0);
  const moved = bent(x, [0.05, 0.1]);
  assert.deepEqual(moved[0], x[0]);
  assert.deepEqual(moved.at(-1), [1.05, 0.1]);
  const off = moved.map((p, i) => Math.hypot(p[0] - x[i][0], p[1] - x[i][1]));
  assert.ok(off.every((o, i) => i === 0 || o >= off[i - 1] - 2e-5));
  assert.ok(off.filter((o) => o === 0).length > 8, "the first part stays as it was drawn");
  assert.deepEqual(endedAt(x, [0.9, -0.2]).at(-1), [0.9, -0.2]);
  assert.ok(bent(x, [0, 0]).every((p, i) => Math.hypot(p[0] - x[i][0], p[1] - x[i][1]) < 1e-5));
});

test("the nearest place within reach", () => {
  assert.deepEqual(nearest([[0, 0], [1, 0]], [0.8, 0.1], 0.3), [1, 0]);
  assert.equal(nearest([[0, 0], [1, 0]], [0.5, 0], 0.3), null);
  assert.equal(nearest([], [0, 0], 9), null);
});

test("a closed loop is told from a line and from a spiral inwards", () => {
  const round = Array.from({ length: 60 }, (_, i) => [Math.cos(i / 9.3), Math.sin(i / 9.3)]);
  const spiral = round.map(([a, b], i) => [a * (1 - i / 60), b * (1 - i / 60)]);
  assert.ok(isLoop(round));
  assert.ok(!isLoop(spiral) && !isLoop(line(0, 0, 1, 1)));
});

test("colours belong to goals for life", () => {
  const before = [{ colour: 0, x: [0, 0], ids: ["a", "b"] }, { colour: 1, x: [1, 0], ids: ["c"] }];
  // A new goal to the left of both takes the first number, and a new colour.
  const now = [{ x: [-1, 0], ids: ["d"] }, { x: [0, 0], ids: ["a", "b"] }, { x: [1, 0], ids: ["c"] }];
  assert.deepEqual(keptColours(before, now, 0.1), [2, 0, 1]);
  // Carried elsewhere it keeps its strokes, and so its colour; emptied and drawn again, its place.
  assert.deepEqual(keptColours(before, [{ x: [5, 5], ids: ["c"] }], 0.1), [1]);
  assert.deepEqual(keptColours(before, [{ x: [1.05, 0], ids: ["z"] }], 0.1), [1]);
  // Merged, the larger part decides; no two goals have one colour.
  assert.deepEqual(keptColours(before, [{ x: [0, 0], ids: ["a", "b", "c"] }], 0.1), [0]);
  const many = keptColours([], Array.from({ length: 12 }, (_, k) => ({ x: [k, 0], ids: [`s${k}`] })), 0.1);
  assert.equal(new Set(many).size, 12);
});

test("undo gives a snapped stroke back as it was drawn, then takes it away", () => {
  const drawing = new Drawing();
  const said = [];
  drawing.addEventListener("change", ({ detail }) => said.push(detail.what));
  drawing.add(times, line(0, 0, 1, 0), 0, line(0, 0, 1, 0.1));
  assert.deepEqual(drawing.strokes[0].x.at(-1), [1, 0.1]);
  drawing.undo();
  assert.deepEqual(drawing.strokes[0].x.at(-1), [1, 0]);
  drawing.undo();
  assert.equal(drawing.strokes.length, 0);
  drawing.redo();
  drawing.redo();
  assert.deepEqual(drawing.strokes[0].x.at(-1), [1, 0.1]);
  assert.deepEqual(said, ["drawn", "undone", "undone", "redone", "redone"]);
});

test("many strokes move, reshape and go in one step each", () => {
  const drawing = new Drawing();
  for (let k = 0; k < 3; k++) drawing.add(times, line(0, k, 1, k));
  const ids = drawing.strokes.map((s) => s.id);
  drawing.move(ids.slice(0, 2), 1, 0);
  assert.deepEqual(drawing.strokes.map((s) => s.x[0][0]), [1, 1, 0]);
  drawing.remove(ids.slice(1));
  assert.deepEqual(drawing.strokes.map((s) => s.id), ids.slice(0, 1));
  drawing.undo();
  drawing.undo();
  assert.deepEqual(drawing.strokes.map((s) => s.x[0][0]), [0, 0, 0]);
});

test("strokes and history come back after a reload, to the last digit", () => {
  const kept = new Map();
  globalThis.localStorage = { getItem: (k) => kept.get(k) ?? null, setItem: (k, v) => kept.set(k, v) };
  const drawing = new Drawing();
  drawing.add(times, line(0, 0, 1, 0.123456789), 0, line(0, 0, 1, 0.2));
  drawing.add(times, line(0, 1, 1, 0));
  drawing.undo();
  assert.ok(save(drawing, { theme: "dark" }, "bW9kZWw="));
  const back = restore();
  assert.equal(back.model, "bW9kZWw=");
  assert.equal(back.choices.theme, "dark");
  const again = new Drawing();
  again.restore(back);
  assert.deepEqual(again.strokes.map((s) => s.x), drawing.strokes.map((s) => s.x));
  again.redo();
  assert.equal(again.strokes.length, 2);
  for (let k = 0; k < 2; k++) again.undo();
  assert.deepEqual(again.strokes[0].x, line(0, 0, 1, 0.123456789));
  again.undo();
  assert.equal(again.strokes.length, 0);
  assert.ok(!again.canUndo);
  for (const broken of ["{", "[1]", "null", '{"strokes": 3, "past": [[9]], "choices": 7}']) {
    kept.set("eigenwell-studio", broken);
    assert.deepEqual(restore().strokes, []);
  }
});

test("a full storage drops the history first, then says so", () => {
  const drawing = new Drawing();
  drawing.add(times, line(0, 0, 1, 0));
  let room = 2000;
  const kept = new Map();
  globalThis.localStorage = {
    getItem: (k) => kept.get(k) ?? null,
    setItem(k, v) { if (v.length > room) throw new Error("full"); kept.set(k, v); },
  };
  assert.ok(save(drawing, {}, "m".repeat(5000)));
  assert.equal(restore().model, null);
  room = 10;
  assert.ok(!save(drawing, {}, null));
});

test("world and screen are each other's inverse; zoom keeps what is under the pointer", () => {
  const view = new View();
  view.fit(896, 748, []);
  const at = [200, 500];
  const world = view.toWorld(at);
  for (const factor of [1.5, 0.3, 4, 1000, 1e-9]) {
    view.zoom(factor, at);
    assert.ok(Math.hypot(...view.toWorld(at).map((c, k) => c - world[k])) < 1e-9);
    const p = [0.3, -0.7], q = view.toWorld(view.toScreen(p));
    assert.ok(Math.hypot(p[0] - q[0], p[1] - q[1]) < 1e-9);
  }
  const { kept } = view;
  const other = new View();
  other.fit(896, 748, []);
  other.look(kept);
  assert.deepEqual(other.box(), view.box());
  other.look({ centre: ["a"], zoom: 1 });
  assert.deepEqual(other.box(), view.box());
});

test("strokes from elsewhere: what is not whole is left out", () => {
  const good = { t: [0, 1], x: [[0, 0], [1, 1]] };
  assert.deepEqual(wholeStrokes([good, null, { t: [0], x: [[0, 0]] }, { t: [0, "a"], x: [[0, 0], [1, 1]] }]), [good]);
  assert.equal(toCsv([good]), "trajectory,time_s,x,y\n0,0,0,0\n0,1,1,1\n");
  assert.deepEqual(runs([0, 0, 1, 1], 4), [[0, 0, 2], [1, 2, 3]]);
  assert.equal(mainLabel([0, 1, 1, 1], 4), 1);
});

test("a brush leaves samples around the hand, as many for a way whatever its speed, with the hand's velocity", () => {
  const line = (seconds) => Array.from({ length: 41 }, (_, k) => ({ t: (seconds * k) / 40, x: [10 * k, 5 * k] }));
  for (const seconds of [0.5, 4]) {
    const draft = line(seconds);
    let seed = 7;
    const random = () => (seed = (16807 * seed) % 2147483647) / 2147483647;
    const left = draft.flatMap((_, k) => sprayed(draft, k, random));
    assert.ok(Math.abs(left.length - 447 / 5) < 12, `${left.length} samples`);
    for (const { x, v } of left) {
      assert.ok(Math.abs(x[0] - 2 * x[1]) / Math.sqrt(5) <= WIDE + 1e-9, "too far from the hand");
      assert.ok(Math.abs(v[0] * seconds - 400) < 0.13 * 400 && Math.abs(v[1] * seconds - 200) < 0.13 * 200, "not the hand's velocity");
    }
  }
  assert.deepEqual(sprayed(line(1), 0), []);
});

test("labels are compared sample by sample, whichever way they are told", () => {
  const strokes = [{ id: "a", x: [0, 0, 0] }, { id: "b", x: [0, 0] }];
  assert.deepEqual(agreement({ a: 1, b: 0 }, { a: [1, 1, 1], b: 0 }, strokes), [5, 5]);
  assert.deepEqual(agreement({ a: 1, b: 0 }, { a: [1, -1, 0], b: 2 }, strokes), [1, 5]);
});

test("more than seven goals look different, and speeds step by doubling", () => {
  const looks = new Set(Array.from({ length: 28 }, (_, q) => `${colour(LIGHT, q)} ${dash(LIGHT, q)}`));
  assert.equal(looks.size, 28);
  assert.deepEqual([0.01, 0.5, 1, 1.9, 100].map(speedStep), [0, 1, 2, 3, 4]);
  const line = { q: 1, points: [[0, 0], [1, 0], [2, 0], [3, 0]], speeds: [1, 1, 4, 4] };
  const parts = tints(line, { typicalSpeed: 1 }, LIGHT, true);
  assert.deepEqual(parts.map(({ from, to }) => [from, to]), [[0, 2], [2, 3]]);
  assert.equal(tints(line, { typicalSpeed: 1 }, LIGHT, false)[0].tint, colour(LIGHT, 1));
});
