// Files of the reader's own: what may be read at all, and what they make of a run.
import { separated } from "./format";
import { withoutLayout } from "./plan";
import { pick, type Fields } from "./url";

/** The server reads requests of a mebibyte; a file takes more room there than by itself. */
export const kMostBytes = 512 * 1024;

// What profilers write, in Chrome's format.
const kTrace = /"traceEvents"\s*:\s*\[/;

/** The text of a file, or why it is none. */
export async function textOf(file: Blob): Promise<{ text: string } | { wrong: string }> {
  if (file.size === 0) return { wrong: "the file is empty." };
  if (file.size > kMostBytes) {
    return { wrong: `the file has ${separated(Math.ceil(file.size / 1024))} KiB; at most 512 KiB are read. Weights and traces are not meant here; traces go to Communication.` };
  }
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    return { wrong: "the file is text in UTF-16: save it as UTF-8." };
  }
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    if (kTrace.test(text)) return { wrong: "the file is a trace of a run, not what describes one: drop it under Communication, which reads traces." };
    if (!text.includes("\0")) return { text };
  } catch {
    // no text
  }
  return { wrong: "the file is binary, not text." };
}

/** The fields of a run in which what a file gives takes the place of what was there. A description of a model or
 * a cluster alone leaves the rest of the run, without its layout; more is a run of its own. */
export function readGiven(given: Readonly<Record<string, unknown>>, before: Fields, name: string): Fields {
  const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(named(value, name)));
  const fields = Object.fromEntries(Object.entries(given).map(([key, value]) => [key, text(value)]));
  const names = Object.keys(fields);
  if (names.every((each) => each === "model" || each === "cluster")) return { ...withoutLayout(before), ...fields };
  return { ...pick(before, ["cluster", "gpus", "global-batch", "model", "seq"]), ...fields };
}

// What has no name of its own goes by its file's.
function named(value: unknown, file: string): unknown {
  const described = value as Record<string, unknown>;
  if (typeof described !== "object" || described === null || "name" in described || "base" in described) return value;
  const name = file.replace(/\.[a-z]+$/i, "").replace(/[^\w.-]+/g, "-");
  return { name, ...described };
}
