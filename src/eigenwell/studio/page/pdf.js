// What was painted as a PDF of one page: every line stays a line.

import { rgb } from "./palette.js";

// A circle from four Bezier curves; and the width of a digit in Helvetica Bold and half its height, in its size.
const ROUND = 0.5523, DIGIT = 0.556, HALF = 0.35;
const short = (value) => String(Math.round(value * 100) / 100);
const numbers = (...values) => values.map(short).join(" ");

/** `sheet`: what was painted (sheet.js). */
export async function asPdf({ marks, width, height, paper }) {
  const ink = { ops: [`1 0 0 -1 0 ${short(height)} cm ${tint(paper, "rg")} 0 0 ${numbers(width, height)} re f`], alphas: new Map(), images: [] };
  for (const mark of marks) draw(mark, ink);
  const images = await Promise.all(ink.images.map((canvas) => image(canvas, rgb(paper))));
  const alphas = [...ink.alphas].map(([alpha, name]) => `/${name} << /ca ${alpha} /CA ${alpha} >>`).join(" ");
  const named = images.map((_, k) => `/I${k} ${6 + k} 0 R`).join(" ");
  const font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >>";
  const page = `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${numbers(width, height)}] /Contents 4 0 R `
    + `/Resources << /Font << /F 5 0 R >> /ExtGState << ${alphas} >> /XObject << ${named} >> >> >>`;
  const content = await stream(new TextEncoder().encode(ink.ops.join("\n")), "");
  return file(["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>", page, content, font, ...images]);
}

function draw({ image, words, box, at, size, d, fill, stroke, width, dash, alpha, odd }, { ops, alphas, images }) {
  ops.push("q");
  if (image) {
    const [x, y, w, h] = box;
    ops.push(`${numbers(w, 0, 0, -h, x, y + h)} cm /I${images.length} Do`);
    images.push(image);
  } else if (words) {
    const left = at[0] - (words.length * DIGIT * size) / 2;
    ops.push(tint(fill, "rg"), `BT /F ${size} Tf 1 0 0 -1 ${numbers(left, at[1] + HALF * size)} Tm (${words}) Tj ET`);
  } else {
    const opaque = alpha.toFixed(3);
    if (!alphas.has(opaque)) alphas.set(opaque, `A${alphas.size}`);
    ops.push(`/${alphas.get(opaque)} gs`);
    ops.push(fill ? tint(fill, "rg") : `${tint(stroke, "RG")} 1 J 1 j [${dash.join(" ")}] 0 d ${short(width)} w`);
    ops.push(d.map(step).join(" "), fill ? `f${odd ? "*" : ""}` : "S");
  }
  ops.push("Q");
}

function step([letter, ...values]) {
  return letter === "O" ? ring(...values) : `${numbers(...values)} ${{ M: "m", L: "l", Z: "h" }[letter]}`;
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
