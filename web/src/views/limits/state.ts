// What the address says of the view: which settings stand side by side, and which of them is edited.
import { seriesColour, seriesDash } from "../../charts/palette";
import type { Request } from "../../lib/api";
import { pinnedIn } from "../../lib/pinned";
import type { Fields } from "../../lib/url";
import { kMostOwn, ownsOf, settingMembers, type OwnSetting } from "./settings";

/** The comparisons of data/limits/comparisons that `--preset` knows. */
export const kPresets: readonly { id: string; title: string }[] = [
  { id: "grand_dense", title: "What an H100 lacks, dense models" },
  { id: "grand_sparse", title: "What an H100 lacks, with experts" },
  { id: "base_dense", title: "Three generations, dense models" },
  { id: "base_sparse", title: "Three generations, with experts" },
  { id: "batch", title: "How the useful batch grows" },
  { id: "beyond", title: "What if: larger domains, optics, compute in memory" },
  { id: "relaxed", title: "Training that communicates less" },
];

/** What is shown where the address says nothing: an H100, and the same to be changed beside it. */
export const kFirst: Fields = { gpu: "h100-sxm", own1: "mine,base:h100-sxm" };

/** `empty`: every setting was taken away, and the first picture does not come back for it. */
export const kFieldNames: readonly string[] = ["preset", "gpu", "sparse", "edit", "show", "y", "price", "empty", "pin"].concat(
  Array.from({ length: kMostOwn }, (_, i) => `own${i + 1}`),
);

type Patch = Readonly<Record<string, string | undefined>>;

export const listed = (text: string | undefined): string[] => (text ?? "").split(",").filter((each) => each !== "");

/** The fields of the view, or the first picture where none is given. */
export function fieldsOf(given: Fields): Fields {
  return kFieldNames.some((name) => given[name] !== undefined) ? given : kFirst;
}

/** A change of the fields with what follows from it: the first picture is written out once it is changed,
 * so that the address tells the whole, and a list without settings is said to be empty. */
export function changed(given: Fields, patch: Patch): Patch {
  const before = fieldsOf(given);
  const after: Record<string, string> = { ...before };
  for (const [name, value] of Object.entries(patch)) {
    if (value) after[name] = value;
    else delete after[name];
  }
  const written = before === kFirst ? { ...kFirst, ...patch } : patch;
  if (requestsOf(after).size > 0) return { ...written, empty: undefined };
  return { ...written, empty: "true", edit: undefined, show: undefined, pin: undefined };
}

/** One request for each thing compared, by its id, in the order in which they are drawn. */
export function requestsOf(fields: Fields): Map<string, Request> {
  const sparse = fields.sparse === "true" ? { sparse: true } : {};
  const out = new Map<string, Request>();
  for (const name of listed(fields.preset)) out.set(`preset:${name}`, { preset: [name], ...sparse });
  // The published comparisons keep the study's own numbers; all others have limits that move smoothly.
  for (const name of listed(fields.gpu)) out.set(`gpu:${name}`, { gpu: [name], smooth: true, ...sparse });
  for (const { id, own } of ownsOf(fields)) out.set(id, requestOf(own, fields));
  const pinned = editedOf(fields) && pinnedOf(fields); // beside nothing it stands no more
  if (pinned) out.set(kPinned, pinned);
  return out;
}

/** What is asked of one setting of the reader's own. */
export function requestOf(own: OwnSetting, fields: Fields): Request {
  return { settings: [settingMembers(own)], smooth: true, ...(fields.sparse === "true" ? { sparse: true } : {}) };
}

/** The curve of the setting that was pinned, beside which the edited one stands. */
export const kPinned = "pin";

function pinnedOf(fields: Fields): Request | null {
  const pin = pinnedIn(fields);
  const edited = pin && editedOf(pin);
  return edited && requestOf({ ...edited.own, name: `A: ${edited.own.name || edited.own.base}` }, pin);
}

/** "kernel_latency 4e-6 → 2e-6": the numbers that the edited setting has otherwise than the pinned one. */
export function editedWords(a: Fields, b: Fields): string {
  const [x, y] = [editedOf(a)?.own, editedOf(b)?.own];
  if (!x || !y) return "";
  const told = ({ base, precision, sparse, edits }: OwnSetting): Record<string, string> => ({
    machine: base,
    precision: precision || "auto",
    experts: sparse ? "with" : "without",
    ...Object.fromEntries(Object.entries(edits).map(([key, value]) => [key, String(value)])),
  });
  const [before, after] = [told(x), told(y)];
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((key) => before[key] !== after[key])
    .map((key) => `${key} ${before[key] ?? "as the machine's"} → ${after[key] ?? "as the machine's"}`)
    .join(", ");
}

/** The reader's setting whose sliders are shown. */
export function editedOf(fields: Fields): { id: string; own: OwnSetting } | null {
  const owns = ownsOf(fields);
  return owns.find(({ id }) => id === fields.edit) ?? owns[0] ?? null;
}

/** A number for one more setting of the reader's own; null where there is room for none. */
export function freeOwn(fields: Fields): string | null {
  for (let i = 1; i <= kMostOwn; ++i) if (fields[`own${i}`] === undefined) return `own${i}`;
  return null;
}

/** Looks of the n-th curve. */
export function lookOf(index: number): { colour: string; dash: string | undefined } {
  return { colour: seriesColour(index), dash: seriesDash(index) };
}
