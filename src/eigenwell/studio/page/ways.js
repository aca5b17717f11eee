// The way of a state along a field to its rest.

// A step is no longer than this share of the box, nor than this share of the way that is left: the last part is a decay, and a
// long step would jump to and fro across it.
const STEP = 0.01, LEFT = 0.2;
// Where the velocity turns by more than this share within a step, the step is halved, so often at most: a way that was stepped
// over would end at another goal than its own.
const TURN = 0.3, HALVED = 5;
// Of the box: a state this near is there; one that stands still this near has arrived, too.
const THERE = 2e-3, NEARLY = 0.02;

/**
 * {t, x, arrived} from z0, by Runge-Kutta 4. `field` has velocity(z, into), attractors, and scale: the sides of the box that
 * lengths are measured in, with as many coordinates as a state.
 */
export function rolled(field, z0, longest = 60, most = 4000) {
  const { scale, attractors } = field, d = scale.length;
  const k = [0, 1, 2, 3].map(() => new Float64Array(d)), at = new Float64Array(d), z = Float64Array.from(z0);
  const size = (v) => Math.hypot(...Array.from(v, (c, i) => c / scale[i]));
  const t = [0], x = [Array.from(z0)];
  let time = 0, arrived = false;
  for (let n = 0; n < most && time < longest; n++) {
    field.velocity(z, k[0]);
    const speed = size(k[0]);
    const away = Math.min(...attractors.map((a) => size(a.map((c, i) => c - z[i]))));
    if (away < THERE || speed < 1e-9) { arrived = away < NEARLY; break; }
    let dt = Math.min(STEP, LEFT * away) / Math.max(speed, 1e-6);
    for (let halved = 0; ; halved++, dt /= 2) {
      for (let stage = 1; stage < 4; stage++) {
        const part = stage < 3 ? 0.5 * dt : dt;
        for (let i = 0; i < d; i++) at[i] = z[i] + part * k[stage - 1][i];
        field.velocity(at, k[stage]);
      }
      if (halved === HALVED || size(k[3].map((c, i) => c - k[0][i])) < TURN * speed) break;
    }
    for (let i = 0; i < d; i++) z[i] += (dt / 6) * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    time += dt;
    t.push(time);
    x.push(Array.from(z));
  }
  return { t, x, arrived };
}
