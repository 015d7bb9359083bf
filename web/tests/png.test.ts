import { deflateSync, inflateSync } from "node:zlib";
import { expect, test } from "vitest";

import { smaller } from "./png";

function chunk(type: string, data: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(data.length);
  head.write(type, 4, "latin1");
  return Buffer.concat([head, data, Buffer.alloc(4)]); // the checksum is not read
}

// A picture of three rows of two pixels, red, green / blue, red / red, red, its rows filtered by
// subtraction of the left, of the one above, and not at all.
function picture(): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(2, 0);
  header.writeUInt32BE(3, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const rows = [
    [1, 255, 0, 0, 1, 255, 0], // red; green is red + (1, 255, 0) modulo 256
    [2, 1, 0, 255, 255, 1, 0], // blue is red + (1, 0, 255); red is green + (255, 1, 0)
    [0, 255, 0, 0, 255, 0, 0],
  ];
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(Buffer.from(rows.flat()))),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

test("a smaller picture has the same colours at the same places", () => {
  const out = smaller(picture());
  const part = (type: string) => {
    const at = out.indexOf(type, 0, "latin1");
    return out.subarray(at + 4, at + 4 + out.readUInt32BE(at - 4));
  };
  const colours = part("PLTE");
  const rows = inflateSync(part("IDAT"));
  const colourAt = (x: number, y: number) => {
    const index = rows[y * 3 + 1 + x]!;
    return [...colours.subarray(3 * index, 3 * index + 3)];
  };
  const red = [255, 0, 0];
  expect([colourAt(0, 0), colourAt(1, 0)]).toEqual([red, [0, 255, 0]]);
  expect([colourAt(0, 1), colourAt(1, 1)]).toEqual([[0, 0, 255], red]);
  expect([colourAt(0, 2), colourAt(1, 2)]).toEqual([red, red]);
});

test("chunks have the checksum of the standard", () => {
  // ISO/IEC 15948 annex D: that of an empty IEND is AE 42 60 82.
  expect([...smaller(picture()).subarray(-4)]).toEqual([0xae, 0x42, 0x60, 0x82]);
});
