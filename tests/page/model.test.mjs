// The field as the page evaluates it, against Python's numbers: tests/test_studio_javascript.py writes them to $CASES.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { learnedOf } from "../../src/eigenwell/studio/page/field.js";
import { placeAt } from "../../src/eigenwell/studio/page/flow.js";
import { StableField } from "../../src/eigenwell/studio/page/model.js";
import { welcome } from "../../src/eigenwell/studio/page/welcome.js";

const { stable, learned } = process.env.CASES ? JSON.parse(readFileSync(process.env.CASES)) : { stable: [], learned: [] };
const furthest = (a, b) => Math.max(...a.map((c, i) => Math.abs(c - b[i])));

for (const { name, numbers, x, v, potential, basin } of stable) {
  test(`velocity, potential and basin are Python's: ${name}`, () => {
    const field = new StableField(numbers);
    const top = Math.max(...v.flat().map(Math.abs));
    x.forEach((place, k) => {
      const got = Array.from(field.velocity(place, new Float64Array(field.d)));
      assert.ok(furthest(got, v[k]) < 1e-7 * top, `${got} for ${v[k]}`);
      if (field.d !== 2) return;
      assert.ok(Math.abs(field.potential(place) - potential[k]) < 1e-7 * (1 + potential[k]));
      assert.equal(field.basin(place), basin[k]);
    });
    for (const goal of field.attractors) {
      const there = field.velocity(goal, new Float64Array(field.d));
      assert.ok(Math.hypot(...there) < 1e-6 * top, "a goal is at rest");
    }
  });
}

for (const { name, field: numbers, starts, goals, t, ways, ends } of learned) {
  test(`particles take the ways of simulate: ${name}`, () => {
    const field = learnedOf(numbers);
    starts.forEach((start, k) => {
      const way = field.way(start);
      assert.ok(way.arrived);
      assert.equal(way.q, ends[k]);
      t.forEach((time, i) => {
        const off = furthest(placeAt(way, time), ways[k][i]);
        assert.ok(off < 1e-2 * Math.max(...field.box), `${off} off at ${time}`);
      });
      if (field.hasMemory) assert.equal(field.beginning(start).q, goals[k]);
      for (let q = 0; q < field.goals.length; q++) assert.equal(field.way(start, q).q, q);
    });
    const box = [-1.2, -1, 1.2, 1], seen = field.seen(null, box, 2.4 / 600);
    if (field.hasMemory) assert.ok(!seen.potential && seen.streamlines().every(({ points }) => points.length > 2));
    // The colour of a place is where a particle ends that is dropped there; so much is lost to a pixel's width.
    let wrong = 0;
    for (let k = 0; k < 1000; k++) {
      const at = [box[0] + 2.4 * ((k * 0.618034) % 1), box[1] + 2 * ((k * 0.754878) % 1)];
      if (field.way(at).q !== seen.regions.at(...at)) wrong++;
    }
    assert.ok(wrong <= 2, `${wrong} of 1000`);
  });
}

test("colours are those of the goals, whatever their numbers", () => {
  const [first] = learned;
  if (!first) return;
  const field = learnedOf(first.field, [5, 3]);
  assert.equal(field.way(first.starts[0]).q, [5, 3][first.ends[0]]);
});

test("what cannot be read is no field", () => {
  for (const bad of [null, undefined, {}, { map: {} }, { map: null, lifted: [], samples: {} }]) assert.equal(learnedOf(bad ?? {}), null);
});

test("the example of the empty page flows to its goals", () => {
  const field = welcome();
  for (const at of [[0.9, 0.9], [-1, -1], [1.4, -0.6]]) assert.ok(field.way(at).arrived);
});
