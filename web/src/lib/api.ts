// Questions to the server that this page came from, or to the engine that came with it; nothing else is ever asked.

import { door, isAlone } from "./door";
import { tellLost } from "./server";

/** A request as `headway serve` reads it: names of flags, numbers, true for switches. */
export type Request = Readonly<Record<string, unknown>>;

/** What is wrong with a request; `where` names its field, or is empty. */
export interface Problem {
  readonly where: string;
  readonly message: string;
  /** Of a number that is refused: legal ones next to it, where the engine knows any. */
  readonly near?: readonly number[];
}

/** How far long work is; `of` is null where nobody knows. */
export interface Progress {
  readonly done: number;
  readonly of: number | null;
  readonly what: string;
}

export interface Answer<Document> {
  readonly document: Document;
  /** As the command line's exit code: 0 done, 1 no feasible answer. */
  readonly exit: number;
}

/** The server's refusal, with every problem. */
export class Refusal extends Error {
  constructor(readonly problems: readonly Problem[]) {
    super(problems.map((problem) => problem.message).join("\n"));
  }
}

/** What is wrong, of whatever was thrown. */
export function problemsOfError(error: unknown): readonly Problem[] {
  return error instanceof Refusal ? error.problems : [{ where: "", message: String(error) }];
}

const kUnreachable = "The server does not answer. Is `headway serve` still running? It is asked again every two seconds.";

async function post(
  command: string,
  body: BodyInit,
  headers: Record<string, string>,
  signal?: AbortSignal,
  priority: RequestPriority = "auto",
) {
  try {
    return await door(`api/${command}`, { method: "POST", body, headers, priority, signal: signal ?? null });
  } catch (error) {
    throw unanswered(error, signal);
  }
}

// Nobody answered. An engine in the page is not asked again by itself: what it failed at it fails at again.
function unanswered(error: unknown, signal?: AbortSignal): unknown {
  if (signal?.aborted) return error;
  if (isAlone) return new Refusal([{ where: "", message: error instanceof Error ? error.message : String(error) }]);
  tellLost();
  return new Refusal([{ where: "", message: kUnreachable }]);
}

function told(document: unknown): readonly Problem[] | null {
  const problems = (document as { problems?: unknown } | null)?.problems;
  return Array.isArray(problems) && problems.length > 0 ? (problems as Problem[]) : null;
}

function problemsOf(document: unknown, status: number): Refusal {
  const problems = told(document);
  if (problems) return new Refusal(problems);
  return new Refusal([{ where: "", message: `The server answered with status ${status}.` }]);
}

/** Asks for one document; by a low `priority` what no reader waits for. Throws Refusal, or AbortError where `signal`
 * ended it. */
export async function ask<Document>(
  command: string,
  request: Request,
  signal?: AbortSignal,
  priority?: RequestPriority,
): Promise<Answer<Document>> {
  return oneDocument(await post(command, JSON.stringify(request), { "Content-Type": "application/json" }, signal, priority));
}

/** The same with trace files beside the request. */
export async function askWithFiles<Document>(
  command: string,
  request: Request,
  files: readonly File[],
  signal?: AbortSignal,
): Promise<Answer<Document>> {
  const form = new FormData();
  form.append("request", new Blob([JSON.stringify(request)], { type: "application/json" }));
  for (const file of files) form.append("trace", file, file.name);
  return oneDocument(await post(command, form, {}, signal));
}

async function oneDocument<Document>(response: Response): Promise<Answer<Document>> {
  const document: unknown = await response.json().catch(() => null);
  // Also an answer may be that something is wrong: a run that comes to no end.
  if (!response.ok || document === null || told(document)) throw problemsOf(document, response.status);
  return { document: document as Document, exit: Number(response.headers.get("Headway-Exit") ?? 0) };
}

/** Whole lines of a stream of text. */
export async function* lines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    rest += done ? decoder.decode() : decoder.decode(value, { stream: true });
    const parts = rest.split("\n");
    rest = parts.pop() ?? "";
    for (const line of parts) if (line.trim() !== "") yield line;
    if (done) break;
  }
  if (rest.trim() !== "") yield rest;
}

type Line<Document> =
  | { progress: Progress }
  | { result: Document; exit: number }
  | { first: Document }
  | { problems: readonly Problem[] };

/** Asks for long work: `onProgress` hears how far it is, `onFirst` of an answer that holds less than the whole,
 * where there is one; ending it by `signal` stops the server's work. */
export async function askLong<Document>(
  command: string,
  request: Request,
  onProgress: (progress: Progress) => void,
  signal?: AbortSignal,
  onFirst: (document: Document) => void = () => {},
): Promise<Answer<Document>> {
  const headers = { "Content-Type": "application/json", Accept: "application/x-ndjson" };
  const response = await post(command, JSON.stringify(request), headers, signal);
  if (!response.ok || !response.body) {
    throw problemsOf(await response.json().catch(() => null), response.status);
  }
  try {
    for await (const line of lines(response.body)) {
      const value = JSON.parse(line) as Line<Document>;
      if ("progress" in value) onProgress(value.progress);
      else if ("first" in value) onFirst(value.first);
      else if ("result" in value) return { document: value.result, exit: value.exit };
      else throw problemsOf(value, response.status);
    }
  } catch (error) {
    throw error instanceof Refusal ? error : unanswered(error, signal);
  }
  throw new Refusal([{ where: "", message: "The server's answer ended before its result." }]);
}
