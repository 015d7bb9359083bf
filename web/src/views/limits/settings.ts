// Settings of the reader's own: a machine with some numbers changed. In the address each is one field,
// own1=NAME,base:h100-sxm,kernel_latency:2e-6, and in a request the members of a setting's .toml.
import type { Fields } from "../../lib/url";

export interface OwnSetting {
  readonly name: string;
  readonly base: string;
  readonly precision: string; // empty: the machine's usual one
  readonly sparse: boolean;
  /** What differs from the base, by the knobs' keys, in SI units. */
  readonly edits: Readonly<Record<string, number>>;
}

export const kMostOwn = 6;

const kKey = /^[a-z][\w.-]*$/i;
const escaped = (text: string) => text.replace(/[%,:]/g, (letter) => encodeURIComponent(letter));
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a percent sign of the reader's own
  }
}

export function ownText(own: OwnSetting): string {
  const parts = [escaped(own.name), `base:${own.base}`];
  if (own.precision) parts.push(`precision:${own.precision}`);
  if (own.sparse) parts.push("sparse:1");
  for (const [key, value] of Object.entries(own.edits)) parts.push(`${key}:${value}`);
  return parts.join(",");
}

/** Reads what ownText wrote; parts that it does not know are left out. */
export function parseOwn(text: string): OwnSetting {
  const [name = "", ...parts] = text.split(",");
  const edits: Record<string, number> = {};
  let base = "h100-sxm";
  let precision = "";
  let sparse = false;
  for (const part of parts) {
    const at = part.indexOf(":");
    const key = part.slice(0, at);
    const value = part.slice(at + 1);
    if (key === "base") base = value;
    else if (key === "precision") precision = value;
    else if (key === "sparse") sparse = value === "1";
    else if (at > 0 && kKey.test(key) && value !== "" && Number.isFinite(Number(value))) edits[key] = Number(value);
  }
  return { name: unescaped(name), base, precision, sparse, edits };
}

/** The reader's settings in the order of their numbers. */
export function ownsOf(fields: Fields): { id: string; own: OwnSetting }[] {
  const out: { id: string; own: OwnSetting }[] = [];
  for (let i = 1; i <= kMostOwn; ++i) {
    const text = fields[`own${i}`];
    if (text !== undefined) out.push({ id: `own${i}`, own: parseOwn(text) });
  }
  return out;
}

// Units of the members of a machine; what is missing here is a bare number.
const kUnits: Readonly<Record<string, string>> = {
  peak: "FLOP/s",
  kernel_latency: "s",
  registers: "B",
  shared_bandwidth: "B/s",
  l2_bandwidth: "B/s",
  l2: "B",
  memory_bandwidth: "B/s",
  memory: "B",
  bandwidth: "B/s",
  latency: "s",
};

// What belongs to the setting and not to its machine.
const kOfSetting = new Set([
  "duration_months",
  "tokens_per_parameter",
  "optimizer_words",
  "steps_between_syncs",
  "batch",
  "layers",
]);

type Members = Record<string, unknown>;

function put(into: Members, path: readonly string[], value: unknown): void {
  const [head, ...rest] = path as [string, ...string[]];
  if (rest.length === 0) into[head] = value;
  else put((into[head] ??= {}) as Members, rest, value);
}

// "levels.node.size" in three; the name of a level may hold dots of its own.
function pathOf(key: string): string[] {
  const level = /^levels\.(.+)\.(size|bandwidth|latency)$/.exec(key);
  if (level) return ["levels", level[1]!, level[2]!];
  const at = key.indexOf(".");
  return at < 0 ? [key] : [key.slice(0, at), key.slice(at + 1)];
}

/** The members of the setting, as its .toml would hold them. */
export function settingMembers(own: OwnSetting): Members {
  const machine: Members = { base: own.base };
  const out: Members = { name: own.name || own.base };
  if (own.precision) out.precision = own.precision;
  if (own.sparse) out.sparsity = { sparse: true };
  for (const [key, value] of Object.entries(own.edits)) {
    const path = pathOf(key);
    const unit = kUnits[path[0] === "levels" ? path[2]! : path[0]!];
    put(kOfSetting.has(path[0]!) ? out : machine, path, unit ? `${value} ${unit}` : value);
  }
  out.machine = Object.keys(machine).length > 1 ? machine : own.base;
  return out;
}

/** With one number moved; at its base it is no edit. */
export function edited(own: OwnSetting, key: string, value: number, base: number): OwnSetting {
  const edits: Record<string, number> = { ...own.edits };
  if (value === base) delete edits[key];
  else edits[key] = value;
  return { ...own, edits };
}
