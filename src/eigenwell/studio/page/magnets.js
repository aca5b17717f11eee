// Goals that attract: where a stroke would snap to, and how its last part bends to end there. Pure functions.

/** Pixels within which the end of a stroke belongs to a goal. */
export const REACH = 25;
// Of the bent part, in units of how far the end moves: four times as long, the bend is no corner.
const LONG = 4;

/** The nearest of some places within reach of a point, both in the world; null where there is none. */
export function nearest(places, [x, y], reach) {
  let best = null, least = reach;
  for (const place of places) {
    const away = Math.hypot(place[0] - x, place[1] - y);
    if (away <= least) { least = away; best = place; }
  }
  return best;
}

/** How long a line is up to each of its points. */
export function along(x) {
  let way = 0;
  return x.map((p, i) => (way += i && Math.hypot(p[0] - x[i - 1][0], p[1] - x[i - 1][1])));
}

/** The line with its end moved by (dx, dy), its last part bending along: smoothly from nothing, the start stays. */
export function bent(x, [dx, dy]) {
  const at = along(x), to = at.map((way) => at.at(-1) - way); // way to go from each sample
  const part = Math.min(to[0], LONG * Math.hypot(dx, dy)) || 1;
  return x.map(([a, b], i) => {
    const s = Math.max(0, 1 - to[i] / part);
    const share = s * s * (3 - 2 * s);
    return share === 0 ? [a, b] : [round(a + share * dx), round(b + share * dy)];
  });
}

/** The line with its end at a place. */
export function endedAt(x, place) {
  const end = x.at(-1);
  return bent(x, [place[0] - end[0], place[1] - end[1]]);
}

// Of the time up to where a stroke is stopped: from here on it slows down; and seconds that it then rests there.
const BRAKED = 0.75, RESTS = 0.15;

/** A stroke that goes round, cut where it first comes by a place, after a turn at most, and brought to rest there: {t, x}. */
export function stoppedAt({ t, x }, place) {
  const middle = [0, 1].map((k) => (Math.min(...x.map((p) => p[k])) + Math.max(...x.map((p) => p[k]))) / 2);
  let turned = 0, best = x.length - 1, least = Infinity;
  for (let i = 1; i < x.length && Math.abs(turned) < 1.25 * 2 * Math.PI; i++) {
    const [a, b] = [x[i - 1], x[i]].map((p) => Math.atan2(p[1] - middle[1], p[0] - middle[0]));
    turned += Math.atan2(Math.sin(b - a), Math.cos(b - a));
    const away = Math.hypot(x[i][0] - place[0], x[i][1] - place[1]);
    // Not where it has only just begun.
    if (away < least && Math.abs(turned) > 0.25 * 2 * Math.PI) { least = away; best = i; }
  }
  const slower = braked(t.slice(0, best + 1)), line = endedAt(x.slice(0, best + 1), place);
  return { t: [...slower, round(slower.at(-1) + RESTS)], x: [...line, line.at(-1)] };
}

/** The clock of a motion whose last part slows down evenly until it rests, which takes that part twice its time: of the way
 * s = 2 u - u u in shares u of the new time, so that u = 1 - sqrt(1 - s). */
function braked(t) {
  const from = t[0] + BRAKED * (t.at(-1) - t[0]), part = t.at(-1) - from || 1;
  return t.map((at) => (at <= from ? at : round(from + 2 * part * (1 - Math.sqrt(Math.max(0, 1 - (at - from) / part))))));
}

/** Whether a stroke comes back to its own start: a closed loop, which no motion that comes to rest can be. */
export function isLoop(x) {
  const [a, b] = [x[0], x.at(-1)];
  const way = along(x).at(-1), out = Math.max(...x.map((p) => Math.hypot(p[0] - a[0], p[1] - a[1])));
  return Math.hypot(a[0] - b[0], a[1] - b[1]) < 0.12 * out && way > 2.2 * out;
}

/**
 * Colours for life: the goal that most of its strokes had before keeps its colour, then the nearest place does, and new
 * goals take the first free one. `before`: [{colour, x, ids}], `now`: [{x, ids}]; gives a colour for each of `now`.
 */
export function keptColours(before, now, reach) {
  const pairs = [];
  now.forEach(({ x, ids }, q) => before.forEach((old, k) => {
    const shared = ids.filter((id) => old.ids.includes(id)).length;
    const away = Math.hypot(x[0] - old.x[0], x[1] - old.x[1]);
    if (shared || away <= reach) pairs.push({ q, k, shared, away });
  }));
  pairs.sort((a, b) => b.shared - a.shared || a.away - b.away);
  const colours = new Array(now.length).fill(null), taken = new Set();
  for (const { q, k } of pairs) {
    const { colour } = before[k];
    if (colours[q] === null && !taken.has(colour)) {
      colours[q] = colour;
      taken.add(colour);
    }
  }
  let free = 0;
  return colours.map((colour) => {
    if (colour !== null) return colour;
    while (taken.has(free)) free++;
    taken.add(free);
    return free;
  });
}

/** A hundredth of a pixel is finer than any pen; digits behind it cost time to send. */
export function round(c) { return Math.round(c * 1e5) / 1e5; }
