// The engine of the static site without a browser, for tests in other languages: a line of standard input is a
// request, {"command", "request", "files": {name: path}}; the line that answers it {"status", "exit", "text"}.
//   npx vite-node tests/engineDoor.ts [engine.wasm[.zst]]
import { closeSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { createInterface } from "node:readline";

import { decompress } from "fzstd";

import { instantiate } from "../src/engine/instance";
import type { Bytes } from "../src/engine/wasi";

const given = process.argv[2] ?? "../build/site/engine.wasm.zst";
const packed = readFileSync(given);
const engine = instantiate(new WebAssembly.Module(new Uint8Array(given.endsWith(".zst") ? decompress(packed) : packed)));

interface Line {
  readonly command: string;
  readonly request?: unknown;
  readonly files?: Readonly<Record<string, string>>;
}

for await (const line of createInterface({ input: process.stdin })) {
  const { command, request = {}, files = {} } = JSON.parse(line) as Line;
  const opened = new Map<string, Bytes>();
  const open: number[] = [];
  for (const [name, path] of Object.entries(files)) {
    const fd = openSync(path, "r");
    open.push(fd);
    opened.set(name, {
      size: fstatSync(fd).size,
      read(from, to) {
        const bytes = new Uint8Array(to - from);
        return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, from));
      },
    });
  }
  const begun = performance.now();
  const reply = engine.answer(command, typeof request === "string" ? request : JSON.stringify(request), opened, {
    progress: () => true,
    first: () => {},
  });
  open.forEach(closeSync);
  console.log(JSON.stringify({ ...reply, ms: performance.now() - begun }));
}
