// A film as a GIF, which plays everywhere: 255 colours of its first picture, and from picture to picture what has changed.

const CLEAR = 256, END = 257, FULL = 4096, SAME = 255;
const bin = (data, k) => ((data[k] >> 3) << 10) | ((data[k + 1] >> 3) << 5) | (data[k + 2] >> 3);
const short = (n) => [n & 255, n >> 8];

export class Gif {
  #size;
  #parts = [];
  #colours = null;
  /** Number of the colour for each of 2^15, -1 until it is asked for. */
  #number = new Int16Array(1 << 15).fill(-1);
  #last = null;

  constructor(width, height) { this.#size = [...short(width), ...short(height)]; }

  /** One more picture, as ImageData, and hundredths of a second for it. */
  add({ data }, hundredths) {
    if (!this.#colours) this.#begin(data);
    const first = !this.#last, n = data.length / 4, shown = new Uint8Array(n);
    this.#last ??= new Uint8Array(n);
    for (let i = 0; i < n; i++) {
      const b = bin(data, 4 * i);
      if (this.#number[b] < 0) this.#number[b] = this.#nearest(data.subarray(4 * i, 4 * i + 3));
      shown[i] = !first && this.#last[i] === this.#number[b] ? SAME : this.#number[b];
      this.#last[i] = this.#number[b];
    }
    this.#put(0x21, 0xf9, 4, 5, ...short(hundredths), SAME, 0, 0x2c, 0, 0, 0, 0, ...this.#size, 0, 8);
    const packed = pack(shown);
    for (let k = 0; k < packed.length; k += 255) {
      this.#parts.push(Uint8Array.of(Math.min(255, packed.length - k)), packed.subarray(k, k + 255));
    }
    this.#put(0);
  }

  done() { return new Blob([...this.#parts, Uint8Array.of(0x3b)], { type: "image/gif" }); }

  #put(...bytes) { this.#parts.push(Uint8Array.from(bytes)); }

  /** The most frequent colours; then the head of the file: these, and that it begins again and again. */
  #begin(data) {
    const count = new Uint32Array(1 << 15), at = new Uint32Array(1 << 15);
    for (let k = 0; k < data.length; k += 4) at[bin(data, k)] = count[bin(data, k)]++ ? at[bin(data, k)] : k;
    const used = [...count.keys()].filter((b) => count[b]).sort((a, b) => count[b] - count[a]).slice(0, SAME);
    this.#colours = used.map((b) => data.slice(at[b], at[b] + 3));
    const table = this.#colours.flatMap((c) => [...c]);
    this.#put(...[..."GIF89a"].map((c) => c.charCodeAt()), ...this.#size, 0xf7, 0, 0, ...table, ...Array(768 - table.length).fill(0));
    this.#put(0x21, 0xff, 11, ...[..."NETSCAPE2.0"].map((c) => c.charCodeAt()), 3, 1, 0, 0, 0);
  }

  #nearest([r, g, b]) {
    const off = this.#colours.map(([x, y, z]) => (x - r) ** 2 + (y - g) ** 2 + (z - b) ** 2);
    return off.indexOf(Math.min(...off));
  }
}

/** Numbers below 256 in the packing of GIF: runs that were met before have numbers of their own. */
function pack(numbers) {
  const out = new Uint8Array(2 * numbers.length + 16), known = new Int16Array(FULL << 8);
  let held = 0, bits = 0, n = 0, size = 9, next = END + 1, run = numbers[0];
  const put = (code) => {
    held |= code << bits;
    for (bits += size; bits >= 8; bits -= 8, held >>>= 8) out[n++] = held & 255;
    if (next === 1 << size && size < 12) size++;
  };
  put(CLEAR);
  for (const number of numbers.subarray(1)) {
    const both = (run << 8) | number;
    run = known[both] || (put(run), number);
    if (known[both]) continue;
    if (next < FULL) known[both] = next++;
    else {
      put(CLEAR);
      known.fill(0);
      [size, next] = [9, END + 1];
    }
  }
  put(run);
  put(END);
  out[n++] = held;
  return out.subarray(0, n);
}
