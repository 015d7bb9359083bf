// Makes a browser's screenshot small: a palette of at most 256 colours, packed as well as zlib can. PNG
// as in ISO/IEC 15948; only what the browser writes is read (8 bits a channel, not interlaced).
import { deflateSync, inflateSync } from "node:zlib";

interface Picture {
  readonly width: number;
  readonly height: number;
  /** Three bytes a pixel. */
  readonly pixels: Uint8Array;
}

const kSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

// ISO/IEC 15948 9.4: the neighbour that is nearest to left + above - corner.
function paeth(left: number, above: number, corner: number): number {
  const guess = left + above - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - above), Math.abs(guess - corner)];
  return a <= b && a <= c ? left : b <= c ? above : corner;
}

function decoded(png: Buffer): Picture {
  const width = png.readUInt32BE(16);
  const height = png.readUInt32BE(20);
  const channels = png[25] === 6 ? 4 : 3;
  if (png[24] !== 8 || (png[25] !== 2 && png[25] !== 6) || png[28] !== 0) throw new Error("not a browser's PNG");
  const data: Buffer[] = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    if (png.toString("latin1", at + 4, at + 8) === "IDAT") data.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  }
  const raw = inflateSync(Buffer.concat(data));
  const stride = width * channels;
  const rows = new Uint8Array(height * stride);
  for (let y = 0; y < height; ++y) {
    const filter = raw[y * (stride + 1)]!;
    for (let x = 0; x < stride; ++x) {
      const left = x >= channels ? rows[y * stride + x - channels]! : 0;
      const above = y > 0 ? rows[(y - 1) * stride + x]! : 0;
      const corner = x >= channels && y > 0 ? rows[(y - 1) * stride + x - channels]! : 0;
      const predicted = [0, left, above, (left + above) >> 1, paeth(left, above, corner)][filter]!;
      rows[y * stride + x] = raw[y * (stride + 1) + 1 + x]! + predicted;
    }
  }
  if (channels === 3) return { width, height, pixels: rows };
  const pixels = new Uint8Array(width * height * 3);
  for (let i = 0; i < width * height; ++i) pixels.set(rows.subarray(4 * i, 4 * i + 3), 3 * i);
  return { width, height, pixels };
}

// The most frequent colours that are `apart` from each other, at most 256; null where that is too few
// to give every pixel one near it.
function palette({ pixels }: Picture, apart: number): Map<number, number> | null {
  const counts = new Map<number, number>();
  for (let i = 0; i < pixels.length; i += 3) {
    const colour = (pixels[i]! << 16) | (pixels[i + 1]! << 8) | pixels[i + 2]!;
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const chosen: number[] = [];
  const index = new Map<number, number>();
  const far = (a: number, b: number) =>
    Math.max(Math.abs((a >> 16) - (b >> 16)), Math.abs(((a >> 8) & 255) - ((b >> 8) & 255)), Math.abs((a & 255) - (b & 255)));
  for (const [colour] of [...counts].sort((a, b) => b[1] - a[1])) {
    let at = chosen.findIndex((each) => far(each, colour) <= apart);
    if (at < 0) at = chosen.push(colour) - 1;
    if (chosen.length > 256) return null;
    index.set(colour, at);
  }
  return index;
}

// The checksum of a chunk, ISO/IEC 15948 annex D.
function crc32(bytes: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; ++bit) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return ~crc >>> 0;
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE(crc32(body), body.length + 4);
  return out;
}

/** The same picture in fewer bytes; colours differ by a few steps of 255 at most. */
export function smaller(png: Buffer): Buffer {
  const picture = decoded(png);
  let index: Map<number, number> | null = null;
  for (let apart = 2; index === null; apart += 2) index = palette(picture, apart);
  const colours = Buffer.alloc(3 * 256);
  const seen = new Set<number>();
  for (const [colour, at] of index) {
    if (seen.has(at)) continue; // the first, which is the most frequent, stands for all near it
    seen.add(at);
    colours.writeUIntBE(colour, 3 * at, 3);
  }
  const { width, height, pixels } = picture;
  const rows = Buffer.alloc(height * (width + 1));
  for (let i = 0; i < width * height; ++i) {
    const colour = (pixels[3 * i]! << 16) | (pixels[3 * i + 1]! << 8) | pixels[3 * i + 2]!;
    rows[i + Math.floor(i / width) + 1] = index.get(colour)!;
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8); // 8 bits, palette
  return Buffer.concat([
    kSignature,
    chunk("IHDR", header),
    chunk("PLTE", colours.subarray(0, 3 * seen.size)),
    chunk("IDAT", deflateSync(rows, { level: 9, memLevel: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}
