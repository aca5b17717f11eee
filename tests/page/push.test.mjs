// The arm that draws along the flow and may be pushed.

import assert from "node:assert/strict";
import test from "node:test";
import { stoppedAt } from "../../src/eigenwell/studio/page/magnets.js";
import { Pusher } from "../../src/eigenwell/studio/page/push.js";
import { sketched } from "../../src/eigenwell/studio/page/sketch.js";

const away = (p, q) => Math.hypot(p[0] - q[0], p[1] - q[1]);

test("a pen that had arrived and is pushed sets out again, and arrives", () => {
  // Half of the recording it only stands at the goal: the flow is there long before the replay has ended.
  const x = Array.from({ length: 120 }, (_, i) => [Math.min(i / 59, 1), 0.2 * Math.sin(3 * Math.min(i / 59, 1))]);
  const stroke = { id: "a", t: x.map((_, i) => i / 60), x };
  const flow = sketched([stroke], [x.at(-1)], () => 0, [0]), arm = new Pusher();
  let told = null;
  arm.addEventListener("drawn", ({ detail }) => { told = detail; });
  assert.ok(arm.start(flow, [{ ...stroke, q: 0 }]));
  arm.push(1e-6, 0);
  for (let k = 0; k < 300 && away(arm.pen, x.at(-1)) > 0.006; k++) arm.step(1 / 30);
  assert.ok(told === null && away(arm.pen, x.at(-1)) <= 0.006, "it is there, and the replay still runs");
  arm.push(-0.3, 0.2);
  for (let k = 0; k < 3000 && told === null; k++) arm.step(1 / 30);
  assert.ok(told.pen < told.there, `the flow ended ${told.pen} of the drawing beside the goal`);
  assert.ok(told.replay > 0.1);
});

test("what is stopped comes to rest there, slower and slower, and before that goes as it went before", () => {
  const t = Array.from({ length: 181 }, (_, i) => i / 60), x = t.map((s) => [Math.cos(4 * s), Math.sin(4 * s)]);
  const whole = stoppedAt({ t, x }, [0, -1]), n = whole.t.length;
  assert.ok(away(whole.x.at(-1), [0, -1]) < 1e-4);
  const speed = whole.t.slice(1).map((at, i) => away(whole.x[i + 1], whole.x[i]) / (at - whole.t[i]));
  assert.ok(whole.t.every((at, i) => i === 0 || at > whole.t[i - 1]));
  assert.deepEqual(whole.t.slice(0, n >> 1), t.slice(0, n >> 1));
  assert.equal(speed.at(-1), 0, "it rests");
  assert.ok(speed.at(-2) < 0.3 * speed[0], `${speed.at(-2)} of ${speed[0]}`);
  const last = speed.slice(-10);
  assert.ok(last.every((v, i) => i === 0 || v < last[i - 1]));
});
