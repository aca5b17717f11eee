// Goals elsewhere, stones and walls: what the page makes of them is what Python makes; tests/test_studio_javascript.py writes $CASES.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { learnedOf } from "../../src/eigenwell/studio/page/field.js";

const { worlds, refused } = process.env.CASES ? JSON.parse(readFileSync(process.env.CASES)) : { worlds: [], refused: [] };
const furthest = (a, b) => Math.max(...a.map((c, i) => Math.abs(c - b[i])));

/** null is open. */
function asHands({ goals, stones = [], low, high }) {
  const walls = (list, none) => list?.map((c) => c ?? none);
  return {
    goals: new Map(goals.map(([q, place]) => [Number(q), place])), stones: stones.map(([c, r]) => ({ c, r })),
    low: walls(low, -Infinity), high: walls(high, Infinity),
  };
}

for (const { name, field: numbers, edits, x, v, z, motion, homes, saddles } of worlds) {
  test(`the world of the page is Python's: ${name}`, () => {
    const field = learnedOf(numbers);
    field.enter(asHands(edits));
    const top = Math.max(...v.flat().map(Math.abs));
    x.forEach((place, k) => {
      assert.ok(furthest(field.toHome(place), homes[k]) < 1e-7, "another place in the learned world");
      assert.ok(furthest(field.fromHome(field.toHome(place)), place) < 1e-6 || inside(place, edits), "not each other's inverse");
      assert.ok(furthest(Array.from(field.map.velocity(place, [0, 0])), v[k]) < 1e-7 * top);
      if (motion) assert.ok(furthest(Array.from(field.lifted[0].velocity(z[k], [0, 0, 0])), motion[k]) < 1e-7 * top);
    });
    if (!field.hasMemory) {
      assert.equal(field.saddles.length, saddles.length);
      field.saddles.forEach((place) => assert.ok(saddles.some((s) => furthest(s, place) < 1e-4), "a saddle elsewhere"));
    }
    for (const [q, place] of edits.goals) assert.deepEqual(field.attractors[q], place);
    // All particles arrive, and none runs through a stone or a wall.
    for (const place of x.filter((p) => !inside(p, edits))) {
      const way = field.way(place);
      assert.ok(way.arrived, `from ${place}`);
      assert.ok(way.x.every((p) => !inside(p, edits)), "through a stone");
    }
    field.enter();
    const plain = learnedOf(numbers);
    x.forEach((p) => assert.deepEqual(field.map.velocity(p, [0, 0]), plain.map.velocity(p, [0, 0]), "put back, it is as it was"));
  });
}

function inside([x, y], { stones = [], low, high }) {
  const [l, h] = [low ?? [], high ?? []];
  return stones.some(([[a, b], r]) => Math.hypot(x - a, y - b) < r * (1 - 1e-3))
    || x < (l[0] ?? -9) || y < (l[1] ?? -9) || x > (h[0] ?? 9) || y > (h[1] ?? 9);
}

test("what cannot be is refused in words, and nothing has changed", () => {
  for (const { field: numbers, edits } of refused) {
    const field = learnedOf(numbers);
    const before = Array.from(field.map.velocity([0.1, 0.2], [0, 0]));
    assert.throws(() => field.enter(asHands(edits)), (error) => error.message.length > 25);
    assert.deepEqual(Array.from(field.map.velocity([0.1, 0.2], [0, 0])), before);
  }
});
