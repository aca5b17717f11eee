// The picture of picture.js as a PDF of one page: every line stays a line. It reads the few elements that are made there.

import { rgb } from "./palette.js";

// A circle from four Bezier curves; and the width of a digit in Helvetica Bold, in its size.
const ROUND = 0.5523, DIGIT = 0.556;
const short = (value) => String(Math.round(value * 100) / 100);
const numbers = (...values) => values.map(short).join(" ");

/** `root`: the SVG element; its images carry their canvas as `picture`. `paper`: what is behind them. */
export async function asPdf(root, paper) {
  const [width, height] = ["width", "height"].map((side) => Number(root.getAttribute(side)));
  const ink = { ops: [`1 0 0 -1 0 ${short(height)} cm`], alphas: new Map(), images: [], width, height };
  for (const node of root.children) draw(node, ink);
  const images = await Promise.all(ink.images.map((canvas) => image(canvas, rgb(paper))));
  const alphas = [...ink.alphas].map(([alpha, name]) => `/${name} << /ca ${alpha} /CA ${alpha} >>`).join(" ");
  const named = images.map((_, k) => `/I${k} ${6 + k} 0 R`).join(" ");
  const font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >>";
  const page = `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${numbers(width, height)}] /Contents 4 0 R `
    + `/Resources << /Font << /F 5 0 R >> /ExtGState << ${alphas} >> /XObject << ${named} >> >> >>`;
  const content = await stream(new TextEncoder().encode(ink.ops.join("\n")), "");
  return file(["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>", page, content, font, ...images]);
}

function draw(node, ink) {
  const get = (name) => node.getAttribute(name), number = (name) => Number(get(name) ?? 0), { ops } = ink;
  if (node.tagName === "title") return;
  ops.push("q");
  const [, x, y, turn] = /translate\(([-\d.]+) ([-\d.]+)\) rotate\(([-\d.]+)\)/.exec(get("transform") ?? "") ?? [];
  if (turn !== undefined) {
    const [c, s] = [Math.cos, Math.sin].map((f) => f((turn * Math.PI) / 180).toFixed(4));
    ops.push(`${c} ${s} ${-s} ${c} ${x} ${y} cm`);
  }
  if (node.tagName === "g") for (const child of node.children) draw(child, ink);
  else if (node.tagName === "image") {
    ops.push(`${numbers(number("width"), 0, 0, -number("height"), number("x"), number("y") + number("height"))} cm /I${ink.images.length} Do`);
    ink.images.push(node.picture);
  } else if (node.tagName === "text") {
    const words = node.textContent, size = number("font-size");
    const left = number("x") - (words.length * DIGIT * size) / 2;
    ops.push(tint(get("fill"), "rg"), `BT /F ${size} Tf 1 0 0 -1 ${numbers(left, number("y"))} Tm (${words}) Tj ET`);
  } else shape(node, get, number, ink);
  ops.push("Q");
}

function shape(node, get, number, { ops, alphas, width, height }) {
  const fill = get("fill") ?? "none", stroke = get("stroke") ?? "none";
  const alpha = get("opacity") ?? get("fill-opacity") ?? "1";
  if (!alphas.has(alpha)) alphas.set(alpha, `A${alphas.size}`);
  const broken = (get("stroke-dasharray") ?? "none").replace("none", "");
  ops.push(`/${alphas.get(alpha)} gs 1 J 1 j [${broken}] 0 d ${short(number("stroke-width") || 1)} w`);
  if (fill !== "none") ops.push(tint(fill, "rg"));
  if (stroke !== "none") ops.push(tint(stroke, "RG"));
  if (node.tagName === "rect") ops.push(`0 0 ${numbers(width, height)} re`);
  else if (node.tagName === "path") ops.push(way(get("d")));
  else if (node.tagName === "polygon") ops.push(way(`M${get("points").split(" ").join("L")}Z`));
  else ops.push(ring(number("cx"), number("cy"), number("rx") || number("r"), number("ry") || number("r")));
  ops.push(fill === "none" ? "S" : stroke === "none" ? "f" : "B");
}

/** Straight lines alone: M and L, their small letters, H and V, Z. */
function way(d) {
  const out = [];
  let x = 0, y = 0;
  for (const [, letter, rest] of d.matchAll(/([MLHVZ])([^MLHVZ]*)/gi)) {
    const [a = 0, b = 0] = (rest.match(/-?[\d.]+(?:e-?\d+)?/g) ?? []).map(Number), whole = letter.toUpperCase(), from = letter !== whole;
    if (whole === "Z") {
      out.push("h");
      continue;
    }
    if (whole !== "V") x = from ? x + a : a;
    if (whole !== "H") y = (from ? y : 0) + (whole === "V" ? a : b);
    out.push(`${numbers(x, y)} ${whole === "M" ? "m" : "l"}`);
  }
  return out.join(" ");
}

function ring(cx, cy, rx, ry) {
  const at = (u, v) => numbers(cx + rx * u, cy + ry * v), k = ROUND;
  const bends = [[1, k, k, 1, 0, 1], [-k, 1, -1, k, -1, 0], [-1, -k, -k, -1, 0, -1], [k, -1, 1, -k, 1, 0]];
  return `${at(1, 0)} m ${bends.map(([a, b, c, d, e, f]) => `${at(a, b)} ${at(c, d)} ${at(e, f)} c`).join(" ")} h`;
}

function tint(colour, operator) { return `${rgb(colour).map((c) => (c / 255).toFixed(3)).join(" ")} ${operator}`; }

/** Tints on paper: nothing shines through in a PDF of the plainest kind. */
function image(canvas, paper) {
  const { width, height } = canvas, { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
  const solid = new Uint8Array(3 * width * height);
  for (let i = 0; i < width * height; i++) {
    const share = data[4 * i + 3] / 255;
    for (let k = 0; k < 3; k++) solid[3 * i + k] = Math.round(paper[k] + share * (data[4 * i + k] - paper[k]));
  }
  return stream(solid, `/Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace /DeviceRGB /BitsPerComponent 8 `);
}

async function stream(bytes, about) {
  const packed = new Response(new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate")));
  const content = new Uint8Array(await packed.arrayBuffer());
  return [`<< ${about}/Filter /FlateDecode /Length ${content.length} >>\nstream\n`, content, "\nendstream"];
}

/** Objects one after the other, and where each begins. */
function file(objects) {
  const parts = ["%PDF-1.4\n"], places = [];
  const length = () => parts.reduce((sum, part) => sum + part.length, 0); // all text is ASCII
  objects.forEach((one, k) => {
    places.push(length());
    parts.push(`${k + 1} 0 obj\n`, ...[one].flat(), "\nendobj\n");
  });
  const begin = length(), table = places.map((place) => `${String(place).padStart(10, "0")} 00000 n \n`).join("");
  parts.push(`xref\n0 ${places.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${places.length + 1} /Root 1 0 R >>\nstartxref\n${begin}\n%%EOF\n`);
  return new Blob(parts, { type: "application/pdf" });
}
