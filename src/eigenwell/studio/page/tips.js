// What a mark on the canvas means, in one sentence, beside a pointer that rests on it.

import { reaches } from "./scene.js";

// Milliseconds that a pointer rests before it is told anything, and pixels within which it rests on a mark.
const REST = 350, NEAR = 7, CROSS = 11;
// Pixels between a pointer and its tip.
const ASIDE = 14;

const MEANS = {
  saddle: "Diamond: here the flow stands still, and the smallest push decides to which goal a particle goes.",
  border: "Border: from one side particles end at one goal, from the other side at another.",
};

/** The sentence about a point of the screen, or "". `goals` [{x, error}]; `shown.basins`: whether regions are. */
export function explained(view, [px, py], { field, goals, shown, word = "goal", first = 1 }) {
  const away = (place) => view.toScreen(place).map((c, k) => c - [px, py][k]);
  const within = (place, reach) => Math.hypot(...away(place)) <= reach;
  const q = goals.findIndex(({ x }) => within(x, CROSS));
  if (q >= 0) return `Cross: ${word} ${q + first}, where motions of its colour come to rest.`;
  if (shown.basins && field?.regions) {
    if (field.saddles.some((place) => within(place, NEAR + 3))) return MEANS.saddle;
    const near = field.regions.borders().some((line) => line.some((p, i) => i && toSegment(away(line[i - 1]), away(p)) <= NEAR));
    if (near) return MEANS.border;
  }
  const round = goals.findIndex((goal) => {
    const [rx, ry] = reaches(goal, view), [dx, dy] = away(goal.x);
    return (rx > 1 || ry > 1) && Math.hypot(dx / Math.max(rx, 1), dy / Math.max(ry, 1)) <= 1;
  });
  return round < 0 ? "" : `Ellipse: how far off ${word} ${round + first} may be, since strokes to it do not end at the very same place.`;
}

/** From the origin to a line between two points. */
function toSegment([ax, ay], [bx, by]) {
  const [dx, dy] = [bx - ax, by - ay], s = Math.min(Math.max(-(ax * dx + ay * dy) / (dx * dx + dy * dy || 1), 0), 1);
  return Math.hypot(ax + s * dx, ay + s * dy);
}

/** Its looks come along: pages, reports and notebooks have nothing else in common. */
const LOOKS = {
  position: "fixed", zIndex: 9, margin: 0, maxWidth: "17rem", padding: ".35rem .65rem", borderRadius: "8px", pointerEvents: "none",
  font: "13px/1.4 system-ui, sans-serif", color: "#ffffff", background: "#1c1e21", border: "1px solid #5b6169",
};

/** Shows `said(at)` beside a mouse that rests on the canvas `paper`. */
export class Tip {
  #timer = 0;

  constructor(paper, said) {
    const node = Object.assign(document.createElement("p"), { className: "tip", role: "tooltip", hidden: true });
    Object.assign(node.style, LOOKS);
    paper.after(node);
    const hide = () => {
      clearTimeout(this.#timer);
      node.hidden = true;
    };
    paper.addEventListener("pointermove", ({ pointerType, buttons, offsetX, offsetY, clientX: x, clientY: y }) => {
      hide();
      if (pointerType !== "mouse" || buttons) return;
      this.#timer = setTimeout(() => {
        node.textContent = said([offsetX, offsetY]);
        node.hidden = !node.textContent;
        const { offsetWidth: width, offsetHeight: height } = node;
        node.style.left = `${Math.max(8, Math.min(x + ASIDE, innerWidth - width - 8))}px`;
        node.style.top = `${y + ASIDE + height > innerHeight - 8 ? y - ASIDE - height : y + ASIDE}px`;
      }, REST);
    });
    for (const kind of ["pointerdown", "pointerleave", "wheel"]) paper.addEventListener(kind, hide, { passive: true });
  }
}
