// Regions: colours and borders are what the one question says, however thin they are.

import assert from "node:assert/strict";
import test from "node:test";
import { Regions } from "../../src/eigenwell/studio/page/regions.js";

const BOX = [-1, -1, 1, 1], PIXEL = 1 / 200;

function check(fate, name) {
  const regions = new Regions(fate, BOX, PIXEL);
  let wrong = 0;
  for (let j = 0; j < regions.ny; j++) {
    for (let i = 0; i < regions.nx; i++) {
      const at = [BOX[0] + (i + 0.5) * PIXEL, BOX[1] + (j + 0.5) * PIXEL];
      if (regions.at(...at) !== fate(at)) wrong++;
    }
  }
  assert.equal(wrong, 0, `${name}: ${wrong} pixels of another colour`);
  return regions;
}

test("every pixel has the colour of its fate: half planes, discs, thin bands that begin somewhere, three that meet", () => {
  check(([x, y]) => (x + 0.3 * y > 0.1 ? 1 : 0), "two halves");
  check(([x, y]) => (Math.hypot(x, y) < 0.4 ? 1 : 0), "a disc");
  // Three pixels wide, far thinner than what is asked first; it widens to the right, where it is found.
  check(([x, y]) => (Math.abs(y - 0.2 * Math.sin(3 * x)) < Math.max(1.5 * PIXEL, 0.2 * (x - 0.3)) ? 1 : 0), "a band");
  check(([x, y]) => Math.floor(((Math.atan2(y, x) + Math.PI) / (2 * Math.PI)) * 3) % 3, "three sectors");
});

test("a border runs where colours change, in one line, and all the way", () => {
  const disc = check(([x, y]) => (Math.hypot(x - 0.1, y) < 0.5 ? 1 : 0), "a disc").borders();
  assert.equal(disc.length, 1);
  assert.deepEqual(disc[0][0], disc[0].at(-1), "closed");
  for (const [x, y] of disc[0]) assert.ok(Math.abs(Math.hypot(x - 0.1, y) - 0.5) < 1.5 * PIXEL);
  const line = check(([x, y]) => (x > 0.3 * y ? 1 : 0), "a line").borders();
  assert.equal(line.length, 1);
  const ends = [line[0][0], line[0].at(-1)].map((p) => p[1]).sort((a, b) => a - b);
  assert.ok(ends[0] < -0.97 && ends[1] > 0.97, "from edge to edge");
  const three = check(([x, y]) => Math.floor(((Math.atan2(y, x) + Math.PI) / (2 * Math.PI)) * 3) % 3, "three").borders();
  assert.equal(three.filter((l) => l.length > 20).length, 3, "three lines from where they meet");
});

test("a speck of some pixels has its colour and no border", () => {
  const fate = ([x, y]) => (Math.hypot(x - 0.1, y - 0.1) < 5 * PIXEL || x > 0.5 ? 1 : 0);
  const regions = new Regions(fate, BOX, PIXEL), [only, ...more] = regions.borders();
  assert.equal(regions.at(0.1, 0.1), 1);
  assert.ok(more.length === 0 && only.every(([x]) => Math.abs(x - 0.5) < 2 * PIXEL));
});
