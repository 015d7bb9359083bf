// A worker that has an engine of its own: questions come as messages, one after another.
import { instantiate, type Engine } from "./instance";
import { fetchModule } from "./packed";
import type { Bytes } from "./wasi";

/** A question. */
export interface Asked {
  readonly command: string;
  readonly request: string;
  readonly files: ReadonlyMap<string, Blob>;
  readonly told: boolean;
}

/** To a worker: first a module, or the address of one, then questions. */
export type ToWorker = { readonly module: WebAssembly.Module } | { readonly address: string } | Asked;

/** From one that was given an address: the module that was there, or why there is none. */
export type Fetched = { readonly module: WebAssembly.Module } | { readonly failed: string };

/** From it, of the question that it works at. */
export type FromWorker =
  | { readonly progress: { readonly done: number; readonly of: number | null; readonly what: string } }
  | { readonly first: string }
  | { readonly status: number; readonly exit: number; readonly text: string };

// What a worker has beside a window, in the words that are used here.
interface Scope {
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null;
  postMessage(message: Fetched | FromWorker): void;
}
declare const FileReaderSync: new () => { readAsArrayBuffer(blob: Blob): ArrayBuffer };
const scope = self as unknown as Scope;

// Pieces are read as they are asked for: a trace may be larger than memory.
const kPiece = 1 << 20;
function bytesOf(blob: Blob): Bytes {
  const reader = new FileReaderSync();
  let from = 0;
  let piece = new Uint8Array();
  return {
    size: blob.size,
    read(begin, end) {
      if (begin < from || end > from + piece.length) {
        from = begin;
        piece = new Uint8Array(reader.readAsArrayBuffer(blob.slice(begin, Math.max(end, begin + kPiece))));
      }
      return piece.subarray(begin - from, end - from);
    },
  };
}

const kBetween = 100; // milliseconds from one word on progress to the next

let engine: Engine | null = null;
scope.onmessage = ({ data }) => {
  if ("module" in data) {
    engine = instantiate(data.module);
    return;
  }
  if ("address" in data) {
    fetchModule(data.address).then(
      (module) => {
        engine = instantiate(module);
        scope.postMessage({ module });
      },
      (error) => scope.postMessage({ failed: String(error instanceof Error ? error.message : error) }),
    );
    return;
  }
  const { command, request, told } = data;
  let next = performance.now();
  const files = new Map([...data.files].map(([name, blob]) => [name, bytesOf(blob)]));
  const heard = {
    progress(done: number, of: number, what: string) {
      const now = performance.now();
      if (!told || now < next) return true;
      next = now + kBetween;
      scope.postMessage({ progress: { done, of: of === 0 ? null : of, what } });
      return true;
    },
    first: (text: string) => void (told && scope.postMessage({ first: text })),
  };
  try {
    scope.postMessage(engine!.answer(command, request, files, heard));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    scope.postMessage({ status: 500, exit: 2, text: JSON.stringify({ problems: [{ where: "", message }] }) });
  }
};
