// Autosave in this browser. Storage may be missing, full or hold somebody else's bytes: none of it may stop the page.

import { wholeStrokes } from "./drawing.js";

export const KEY = "eigenwell-studio";

// Steps of the history that are kept on either side; a reload is no reason to lose more than a morning's worth.
const STEPS = 30;

export function restore() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    const sane = kept !== null && typeof kept === "object" && !Array.isArray(kept) ? kept : {};
    const choices = sane.choices !== null && typeof sane.choices === "object" ? sane.choices : {};
    const list = Array.isArray(sane.strokes) ? sane.strokes : [];
    // Steps name strokes by their place among all that are kept.
    const all = [...list, ...(Array.isArray(sane.others) ? sane.others : [])];
    const steps = (given) => (Array.isArray(given) ? given : [])
      .map((step) => wholeStrokes((Array.isArray(step) ? step : []).map((k) => all[k])));
    const model = typeof sane.model === "string" ? sane.model : null;
    return { strokes: wholeStrokes(list), past: steps(sane.past), future: steps(sane.future), choices, model };
  } catch {
    return { strokes: [], past: [], future: [], choices: {}, model: null };
  }
}

/** True when stored; false when the browser refused. History and field go first where there is no room for all. */
export function save(drawing, choices, model) {
  const { past, future } = drawing.history(STEPS);
  const place = new Map(drawing.strokes.map((s, k) => [s, k]));
  for (const s of [...past, ...future].flat()) if (!place.has(s)) place.set(s, place.size);
  const named = (list) => list.map((step) => step.map((s) => place.get(s)));
  const plain = ({ id, t, x, v }) => ({ id, t, x, v });
  const all = [...place.keys()].map(plain);
  const strokes = all.slice(0, drawing.strokes.length), others = all.slice(drawing.strokes.length);
  const history = { others, past: named(past), future: named(future) };
  for (const kept of [{ strokes, ...history, choices, model }, { strokes, choices }]) {
    try {
      localStorage.setItem(KEY, JSON.stringify(kept));
      return true;
    } catch {
      // Too much for this browser: once more with less.
    }
  }
  return false;
}
