// A cluster of the reader's own: a built-in one with some numbers changed, as its .toml would hold them.
import type { Knob } from "./knob";
import { describedIn } from "./run";

/** What `list clusters` says of each. */
export interface ClusterNumbers {
  readonly name: string;
  readonly title: string;
  readonly peak_flop_per_s: Readonly<Record<string, number>>;
  readonly memory_bytes: number;
  readonly memory_bytes_per_s: number;
  readonly levels: readonly {
    readonly name: string;
    readonly size: number;
    readonly bytes_per_s: number;
    readonly latency_s: number;
  }[];
}

type Members = Readonly<Record<string, unknown>>;

export interface ClusterKnob extends Knob {
  readonly path: readonly string[];
}

/** Formats whose rates are moved: those that runs are trained in. */
const kFormats = ["bf16", "fp16", "fp8"];

function knob(path: readonly string[], label: string, group: string, base: number, unit: Knob["unit"]): ClusterKnob {
  const reach: readonly [number, number] = unit === "s" ? [-8, 8] : [-5, 5];
  return { key: path.join("/"), path, label, group, base, unit, reach };
}

/** The numbers that sliders move, of the accelerator and of each level. */
export function clusterKnobs(of: ClusterNumbers): ClusterKnob[] {
  const formats = kFormats.filter((format) => of.peak_flop_per_s[format] !== undefined);
  return [
    ...of.levels.flatMap(({ name, bytes_per_s, latency_s }) => [
      knob(["levels", name, "bandwidth"], `${name}: bandwidth of each`, "Network", bytes_per_s, "B/s"),
      knob(["levels", name, "latency"], `${name}: latency`, "Network", latency_s, "s"),
    ]),
    knob(["accelerator", "memory"], "memory size", "Accelerator", of.memory_bytes, "B"),
    knob(["accelerator", "memory_bandwidth"], "memory bandwidth", "Accelerator", of.memory_bytes_per_s, "B/s"),
    ...formats.map((format) => knob(["accelerator", "peak", format], `peak, ${format}`, "Accelerator", of.peak_flop_per_s[format]!, "FLOP/s")),
  ];
}

/** The built-in cluster that a field's text names, or builds on; null where it is neither. */
export function baseOf(text: string): string | null {
  const described = describedIn(text);
  if (!described) return text.startsWith("{") || text === "" ? null : text;
  return typeof described.base === "string" ? described.base : null;
}

const isMembers = (value: unknown): value is Members => typeof value === "object" && value !== null && !Array.isArray(value);

/** What the description says of a number, in SI units; its base where it says nothing, null where it is said in
 * other words than a slider's. */
export function valueIn(text: string, { path, base, unit }: ClusterKnob): number | null {
  let value: unknown = describedIn(text) ?? {};
  for (const name of path) {
    if (value === undefined) return base;
    if (!isMembers(value)) return null;
    // Network cards beside each other are another way to say a level's bandwidth.
    if (name === "bandwidth" && ("nics" in value || "nic_bandwidth" in value)) return null;
    value = value[name];
  }
  if (value === undefined) return base;
  const found = typeof value === "string" ? /^([\d.]+(?:e[+-]?\d+)?) (\S+)$/.exec(value) : null;
  return found && found[2] === unit ? Number(found[1]) : null;
}

// Who says so: a number without a source is refused.
const kSource = "moved by hand in the page";

// The members with one of them set, or taken away; tables that hold nothing go.
function put(members: Members, path: readonly string[], value: string | undefined): Members {
  const [head, ...rest] = path as [string, ...string[]];
  const { [head]: before, ...others } = members;
  if (rest.length === 0) return value === undefined ? others : { ...others, [head]: value };
  const below = put(isMembers(before) ? before : {}, rest, value);
  return Object.keys(below).length === 0 ? others : { ...others, [head]: below };
}

/** The field's text with one number moved. At its base nothing is said of it, and a cluster of which nothing is
 * said is the built-in one. */
export function withValue(text: string, { path, base, unit }: ClusterKnob, value: number): string {
  const built = baseOf(text)!;
  const before = describedIn(text) ?? { name: `${built}-changed`, base: built, source: kSource };
  const after = put(before, path, value === base ? undefined : `${value} ${unit}`);
  return Object.keys(after).every((name) => ["name", "base", "source"].includes(name)) ? built : JSON.stringify(after);
}
