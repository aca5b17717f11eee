// Notices, announcements for screen readers, and passing hints.

import { write } from "./answer.js";

const $ = (id) => document.getElementById(id);
let fading = 0;

/** Something went wrong, or cannot be done now; stays until dismissed or overtaken. */
export function notify(message) {
  hint("", 0);
  write("notice-words", message);
  $("notice").hidden = false;
}

export function dismiss() { $("notice").hidden = true; }

/** For those who listen instead of looking. */
export function announce(message) { write("said", message); }

/** A line above the tools that goes by itself. */
export function hint(words, time) {
  clearTimeout(fading);
  write("hint", words);
  fading = setTimeout(() => write("hint", ""), time);
}
