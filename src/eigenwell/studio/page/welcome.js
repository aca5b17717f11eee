// What moves behind the invitation: a small stable field with three wells that wind, made of nothing but its goals.

import { learnedOf } from "./field.js";

const GOALS = [[-0.62, -0.34], [0.05, 0.52], [0.68, -0.2]];
const TURNS = [0.9, -0.7, 0.8];

export function welcome() {
  const places = [];
  for (let i = 0; i <= 16; i++) for (let j = 0; j <= 12; j++) places.push(-1.6 + 0.2 * i, -1.2 + 0.2 * j);
  const samples = { x: btoa(String.fromCharCode(...new Uint8Array(Float64Array.from(places).buffer))) };
  const count = places.length / 2;
  const learned = learnedOf({
    map: {
      dimension: 2, layers: 0, frequencies: "", weights: "", window: 0,
      speed: { frequencies: samples.x.slice(0, 0), weights: "", offset: 0, window: 0 },
      attractors: GOALS, log_weights: [0, 0.1, 0], swirls: TURNS.map((w) => [[0, -w], [w, 0]]), softening: [0.6, 0.6, 0.6],
      brake: [0, 0], centre: [0, 0], scale: [1, 1], pace: 0.5,
    },
    samples: { ...samples, labels: new Array(count).fill(0), phases: new Array(count).fill(0) },
  });
  return Object.assign(learned, { nodes: 40 }); // it is smooth, and the first thing that a page has to do
}
