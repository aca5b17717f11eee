// What is painted, kept as lines for an SVG or a PDF: as much of a canvas's context as the page's painters use, so that a picture
// for a paper is what is on the screen, and nothing is drawn twice.

import { svg } from "./plots.js";

const KEPT = ["fillStyle", "strokeStyle", "lineWidth", "globalAlpha", "dash"];

export class Sheet {
  /** {d: [[letter, numbers]], fill or stroke, width, dash, alpha, odd}, {image, box} or {words, at, size, fill}; an O is an ellipse. */
  marks = [];
  globalAlpha = 1;
  lineWidth = 1;
  dash = [];
  #d = [];
  #saved = [];

  constructor(width, height, paper) { Object.assign(this, { width, height, paper }); }

  save() { this.#saved.push(Object.fromEntries(KEPT.map((name) => [name, this[name]]))); }
  restore() { Object.assign(this, this.#saved.pop()); }
  setLineDash(dash) { this.dash = dash; }
  clearRect() {} // every layer begins with it, and here they lie on one sheet

  beginPath() { this.#d = []; }
  moveTo(x, y) { this.#d.push(["M", x, y]); }
  lineTo(x, y) { this.#d.push([this.#d.length ? "L" : "M", x, y]); }
  closePath() { this.#d.push(["Z"]); }
  arc(x, y, r) { this.ellipse(x, y, r, r); }
  ellipse(x, y, rx, ry) { this.#d.push(["O", x, y, rx, ry]); }
  rect(x, y, w, h) { this.#d.push(["M", x, y], ["L", x + w, y], ["L", x + w, y + h], ["L", x, y + h], ["Z"]); }
  roundRect(x, y, w, h) { this.rect(x, y, w, h); }

  fill(rule) { this.#mark("fill", this.fillStyle, { odd: rule === "evenodd" }); }
  stroke() { this.#mark("stroke", this.strokeStyle, { width: this.lineWidth, dash: this.dash }); }
  strokeRect(...box) {
    this.beginPath();
    this.rect(...box);
    this.stroke();
  }
  drawImage(image, ...box) { this.marks.push({ image, box }); }
  fillText(words, ...at) { this.marks.push({ words, at, size: Number(/(\d+)px/.exec(this.font)[1]), fill: this.fillStyle }); }
  /** A tint alone: that at its rim. */
  createRadialGradient() { return { addColorStop(_, tint) { this.rim = tint; } }; }

  #mark(how, style, more) {
    const tint = style.rim ?? style, [, r, g, b, share] = /rgb\((\d+) (\d+) (\d+) \/ ([\d.]+)\)/.exec(tint) ?? [];
    const hex = share ? `#${[r, g, b].map((c) => Number(c).toString(16).padStart(2, "0")).join("")}` : tint;
    if (this.#d.length) this.marks.push({ d: this.#d, [how]: hex, alpha: this.globalAlpha * Number(share ?? 1), ...more });
  }

  get svg() {
    const { width, height, paper } = this;
    const root = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
    root.append(svg("title", {}, "Drawn with eigenwell studio"), svg("rect", { width: "100%", height: "100%", fill: paper }));
    root.append(...this.marks.map(element));
    return root;
  }
}

function element({ image, words, box, at, size, d, fill = "none", stroke = "none", width, dash, alpha, odd }) {
  if (image) {
    const [x, y, w, h] = box;
    return svg("image", { x, y, width: w, height: h, preserveAspectRatio: "none", href: image.toDataURL() });
  }
  if (words) {
    const font = { "text-anchor": "middle", "dominant-baseline": "central", "font-family": "sans-serif", "font-size": size, "font-weight": 600 };
    return svg("text", { x: at[0], y: at[1], fill, ...font }, words);
  }
  const line = { stroke, "stroke-width": width, "stroke-linecap": "round", "stroke-linejoin": "round" };
  return svg("path", {
    d: d.map(written).join(""), fill, ...(width ? line : {}), ...(dash?.length ? { "stroke-dasharray": dash.join(" ") } : {}),
    ...(alpha < 1 ? { opacity: alpha.toFixed(3) } : {}), ...(odd ? { "fill-rule": "evenodd" } : {}),
  });
}

function written([letter, ...numbers]) {
  if (letter !== "O") return letter + numbers.map((c) => c.toFixed(1)).join(",");
  const [x, y, rx, ry] = numbers, half = (way) => `a${rx},${ry} 0 1 0 ${way * rx},0`;
  return `M${x - rx},${y}${half(2)}${half(-2)}Z`;
}
