// One engine in WebAssembly (apps/wasm/engine.cpp): a question in, a reply out, both at once.
import { completed, wasiOf, type Bytes } from "./wasi";

export interface Reply {
  /** As HTTP has it. */
  readonly status: number;
  /** As the command line has it: 0 done, 1 no feasible answer. */
  readonly exit: number;
  /** A JSON document, to the byte what `headway serve` answers. */
  readonly text: string;
}

/** Told meanwhile. */
export interface Heard {
  /** Of long work, which counts `what` ("layouts"); answers whether to go on. */
  progress(done: number, of: number, what: string): boolean;
  /** Of a first document, which holds less than the whole. */
  first(text: string): void;
}

export interface Engine {
  /** Answers a request, as JSON, of a command, with files by the names that answers call them. */
  answer(command: string, request: string, files: ReadonlyMap<string, Bytes>, heard: Heard): Reply;
}

interface Exports {
  readonly memory: WebAssembly.Memory;
  _initialize(): void;
  room(bytes: number): number;
  answer(...texts: number[]): number;
}

// Files lie in a folder whose name no file says of itself.
const kFolder = `traces-${Math.random().toString(36).slice(2)}`;

export function instantiate(module: WebAssembly.Module): Engine {
  const files = new Map<string, Bytes>();
  let heard: Heard | null = null;
  let fell = "";
  const memory = () => engine.memory.buffer;
  const textAt = (at: number, length: number) => new TextDecoder().decode(new Uint8Array(memory(), at, length));
  const instance = new WebAssembly.Instance(module, {
    wasi_snapshot_preview1: completed(module, wasiOf(memory, files, (text) => (fell += text))),
    headway: {
      progress: (done: number, of: number, what: number, length: number) =>
        Number(heard?.progress(done, of, textAt(what, length)) ?? true),
      first: (at: number, length: number) => heard?.first(textAt(at, length)),
    },
  });
  const engine = instance.exports as unknown as Exports;
  engine._initialize();

  const put = (text: string): [number, number] => {
    const bytes = new TextEncoder().encode(text);
    const at = engine.room(bytes.length);
    new Uint8Array(memory(), at, bytes.length).set(bytes);
    return [at, bytes.length];
  };
  return {
    answer(command, request, given, hear) {
      files.clear();
      for (const [name, bytes] of given) files.set(`${kFolder}/${name}`, bytes);
      heard = hear;
      fell = "";
      const paths = [...files.keys()].map((path) => `/${path}`).join("\n");
      try {
        const reply = engine.answer(...put(command), ...put(request), ...put(paths)); // the memory may be another after it
        const [status, exit, at, length] = [...new Uint32Array(memory(), reply, 4)] as [number, number, number, number];
        return { status, exit: exit | 0, text: textAt(at, length).replaceAll(`/${kFolder}/`, "") };
      } catch (error) {
        throw new Error(`The engine failed at this request${fell ? `: ${fell.trim()}` : ""} (${String(error)}).`);
      }
    },
  };
}
