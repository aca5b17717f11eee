// A brush that leaves samples: places around the hand, each with the hand's velocity. Pure functions.

/** Pixels around the hand, and pixels of its way to a sample. */
export const WIDE = 26;
const EVERY = 5;
// Seconds over which the hand's velocity is taken, and how far a sample's is off, as a share of it.
const SPAN = 0.08, OFF = 0.12;

/**
 * Samples along a draft [{t, x}] on screen, from its k-th event on: [{x, v}], v in pixels a second. `random` as Math.random.
 * One for every few pixels of the way, so that a hand that slows down leaves as many slow ones as it leaves fast ones.
 */
export function sprayed(draft, k, random = Math.random) {
  if (k < 1 || k >= draft.length) return [];
  const [a, b] = [draft[k - 1], draft[k]];
  const v = velocity(draft, k);
  const along = Math.hypot(b.x[0] - a.x[0], b.x[1] - a.x[1]);
  const count = Math.floor(along / EVERY) + (random() < (along / EVERY) % 1 ? 1 : 0);
  return Array.from({ length: count }, (_, i) => {
    const s = (i + random()) / count;
    const [away, turn] = [WIDE * Math.sqrt(random()), 2 * Math.PI * random()];
    const noise = () => 1 + OFF * (2 * random() - 1);
    return {
      x: [a.x[0] + s * (b.x[0] - a.x[0]) + away * Math.cos(turn), a.x[1] + s * (b.x[1] - a.x[1]) + away * Math.sin(turn)],
      v: [v[0] * noise(), v[1] * noise()],
    };
  });
}

/** Of the hand at an event, over the last moments. */
function velocity(draft, k) {
  let j = k - 1;
  while (j > 0 && draft[k].t - draft[j].t < SPAN) j--;
  const seconds = Math.max(draft[k].t - draft[j].t, 1e-3);
  return [0, 1].map((c) => (draft[k].x[c] - draft[j].x[c]) / seconds);
}
