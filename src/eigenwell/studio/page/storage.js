// Autosave in this browser. Storage may be missing, full or hold somebody else's bytes: none of it may stop the page.

import { wholeStrokes } from "./drawing.js";

const KEY = "eigenwell-studio";

export function restore() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    const sane = kept !== null && typeof kept === "object" && !Array.isArray(kept) ? kept : {};
    const choices = sane.choices !== null && typeof sane.choices === "object" ? sane.choices : {};
    return { strokes: wholeStrokes(sane.strokes), choices };
  } catch {
    return { strokes: [], choices: {} };
  }
}

/** True when stored; false when the browser refused. */
export function save(strokes, choices) {
  try {
    localStorage.setItem(KEY, JSON.stringify({ strokes: strokes.map(({ t, x }) => ({ t, x })), choices }));
    return true;
  } catch {
    return false;
  }
}
