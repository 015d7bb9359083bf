// The engine in the page itself: a few workers that answer what `headway serve` answers, so that any file server
// will do. Answers come as those of fetch() do.
import type { Asked, Fetched, FromWorker, ToWorker } from "./worker";

// One for short questions, which is always free for them, and two for long work, traces and what no reader waits for.
const kForLong = 2;

interface Question {
  readonly message: Asked;
  hear(heard: FromWorker): void;
  fail(error: unknown): void;
}

const begun = () => new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });

/** A worker that has fetched the module of `address` and unpacked it, so that the page is drawn meanwhile, and the
 * module for others. */
function first(address: string): Promise<{ worker: Worker; module: WebAssembly.Module }> {
  const worker = begun();
  return new Promise((found, fail) => {
    worker.onmessage = ({ data }: MessageEvent<Fetched>) => {
      if ("module" in data) found({ worker, module: data.module });
      else fail(new Error(data.failed));
    };
    worker.onerror = (event) => fail(new Error(event.message));
    worker.postMessage({ address: new URL(address, document.baseURI).href } satisfies ToWorker);
  });
}

// One worker; who ends its question ends it, and the next question gets another.
class Place {
  private worker: Worker | null = null;
  private now: Question | null = null;

  constructor(
    private readonly module: WebAssembly.Module,
    private readonly freed: () => void,
  ) {}

  get free(): boolean {
    return this.now === null;
  }

  /** Takes a worker that has its module. */
  take(worker: Worker): Worker {
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.heard(data);
    worker.onerror = (event) => this.failed(event.message);
    return (this.worker = worker);
  }

  /** Makes its worker before it is asked. */
  ready(): Worker {
    if (this.worker) return this.worker;
    const worker = this.take(begun());
    worker.postMessage({ module: this.module } satisfies ToWorker);
    return worker;
  }

  ask(question: Question): void {
    this.now = question;
    this.ready().postMessage(question.message);
  }

  end(question: Question): void {
    if (this.now !== question) return;
    this.fall();
  }

  private heard(data: FromWorker): void {
    const question = this.now;
    if ("status" in data) {
      this.now = null;
      // What fell is not asked again.
      if (data.status === 500) this.fall();
      else this.freed();
    }
    question?.hear(data);
  }

  private failed(message: string): void {
    const question = this.now;
    this.fall();
    question?.fail(new Error(message));
  }

  private fall(): void {
    this.worker?.terminate();
    this.worker = null;
    this.now = null;
    this.ready();
    this.freed();
  }
}

const onOneLine = (document: string) => document.replaceAll(/\n */g, "");

/** Answers as the server does what is asked of "api/COMMAND" and "api/schema/COMMAND". */
export type Ask = (path: string, init?: RequestInit) => Promise<Response>;

/** An engine whose module is at `address`. */
export function engineAt(address: string): Ask {
  const waiting: Question[][] = [[], []]; // short, long
  const places: Place[][] = [[], []];
  const started = first(address).then(({ worker, module }) => {
    const place = (kind: 0 | 1) => new Place(module, () => next(kind));
    places[0] = [place(0)];
    places[1] = Array.from({ length: kForLong }, () => place(1));
    places[0][0]!.take(worker);
    for (const kind of [0, 1] as const) next(kind);
  });

  function next(kind: 0 | 1): void {
    for (const place of places[kind]!) {
      if (!place.free) continue;
      const question = waiting[kind]!.shift();
      if (question) place.ask(question);
    }
  }

  async function contents(init: RequestInit): Promise<{ request: string; files: Map<string, Blob> }> {
    const files = new Map<string, Blob>();
    if (!(init.body instanceof FormData)) return { request: String(init.body ?? "{}"), files };
    for (const each of init.body.getAll("trace")) {
      if (!(each instanceof Blob)) continue;
      const name = harmless(each instanceof File ? each.name : "trace");
      files.set(files.has(name) ? `(${files.size + 1}) ${name}` : name, each);
    }
    const request = init.body.get("request");
    return { request: request instanceof Blob ? await request.text() : "{}", files };
  }

  return async (path, init = {}) => {
    const command = path.replace(/^api\//, "");
    const signal = init.signal ?? null;
    const { request, files } = await contents(init);
    await started;
    signal?.throwIfAborted();
    const lines = new Headers(init.headers).get("Accept") === "application/x-ndjson";
    const kind = lines || files.size > 0 || init.priority === "low" ? 1 : 0;
    const message = { command, request, files, told: lines };

    return new Promise<Response>((answer, fail) => {
      const encoder = new TextEncoder();
      let into: ReadableStreamDefaultController<Uint8Array> | null = null;
      const say = (line: string) => into?.enqueue(encoder.encode(`${line}\n`));
      const question: Question = {
        message,
        fail: (error) => (into ? into.error(error) : fail(error)),
        hear(heard) {
          if ("progress" in heard) return say(JSON.stringify(heard));
          if ("first" in heard) return say(`{"first":${onOneLine(heard.first)}}`);
          signal?.removeEventListener("abort", ended);
          const { status, exit, text } = heard;
          if (into) {
            say(status === 200 ? `{"result":${onOneLine(text)},"exit":${exit}}` : onOneLine(text));
            return into.close();
          }
          const headers = { "Content-Type": "application/json", ...(exit ? { "Headway-Exit": String(exit) } : {}) };
          answer(new Response(text, { status, headers }));
        },
      };
      const ended = () => {
        const reason: unknown = signal?.reason;
        for (const list of waiting) if (list.includes(question)) list.splice(list.indexOf(question), 1);
        for (const place of places.flat()) place.end(question);
        question.fail(reason);
      };
      signal?.addEventListener("abort", ended, { once: true });
      if (lines) {
        const stream = new ReadableStream<Uint8Array>({ start: (controller) => void (into = controller), cancel: ended });
        answer(new Response(stream, { headers: { "Content-Type": "application/x-ndjson" } }));
      }
      waiting[kind]!.push(question);
      next(kind);
    });
  };
}

/** A name of a file as answers call it: its last part, of letters, digits, '.', '-' and '_' alone, as the server
 * makes it. */
export function harmless(name: string): string {
  const last = name.slice(Math.max(name.lastIndexOf("/"), name.lastIndexOf("\\")) + 1);
  const bytes = [...new TextEncoder().encode(last)].slice(0, 100);
  const plain = bytes.map((byte) => String.fromCharCode(byte)).map((c) => (/[A-Za-z0-9._-]/.test(c) ? c : "_"));
  return plain.join("").replace(/^\.+/, "") || "trace";
}
