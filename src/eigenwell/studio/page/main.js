// eigenwell studio: draw demonstrations, watch them become a stable field.

import { systemTheme, wire } from "./controls.js";
import { handleMessages } from "./messages.js";
import { restore } from "./storage.js";
import { mark, Studio } from "./studio.js";

const kept = restore();
const studio = new Studio(kept.choices);
if (["light", "dark"].includes(kept.choices.theme)) studio.chosenTheme = kept.choices.theme;
studio.setTheme(studio.chosenTheme ?? systemTheme());
document.getElementById("auto").checked = kept.choices.auto === true;
mark.strokes = 0;
handleMessages(studio, wire(studio));
if (kept.strokes.length) studio.drawing.restore(kept.strokes);
studio.tell();
addEventListener("pagehide", () => studio.storeRest());
studio.link.open();
