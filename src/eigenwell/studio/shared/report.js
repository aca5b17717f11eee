// A field that moves in a report.

import { furnish } from "./bar.js";
import { Mounted } from "./mount.js";

const $ = (id) => document.getElementById(`live${id}`);
const { attractor: word, first } = document.body.dataset;
const content = JSON.parse($("-content").textContent);
const mounted = new Mounted($(""), content, { watch: $(""), scrolls: true, word, first: Number(first) });
furnish(mounted, { bar: $("-bar"), legend: $("-legend"), words: $("-words"), word, first: Number(first) });
