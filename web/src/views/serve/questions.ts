// The form of the view and its three questions: one way of serving, the best ways on as many
// accelerators, and the same way under ever more load. Which fields there are comes from Headway's table.
import type { Request } from "../../lib/api";
import { runRequest, type FieldGroup, type RunField } from "../../lib/run";
import { kServingFields, type ServingFieldName } from "../../lib/servingFields";
import { without, type Fields } from "../../lib/url";
import { kCurves, type CurveOf, type OfferDocument, type SplitDocument } from "./documents";

/** What the page calls each field, and in what it counts. The compiler refuses a field without one; those that
 * choose the question are asked by the view itself. */
const kWords: Readonly<Record<ServingFieldName, readonly [label: string, unit?: string] | null>> = {
  model: ["Model"],
  cluster: ["Cluster"],
  gpus: ["Accelerators"],
  "input-len": ["Prompt", "tokens"],
  "output-len": ["Answer", "tokens"],
  batch: ["Batch", "sequences"],
  concurrency: ["Clients", "of a copy"],
  rate: ["Rate", "requests/s"],
  ttft: ["TTFT limit", "as 2 s"],
  tpot: ["TPOT limit", "as 50 ms"],
  goodput: ["Within limits", "share"],
  "input-spread": ["Spread of prompts", "as log-normal:1.2"],
  "output-spread": ["Spread of answers", "as uniform:0.8"],
  count: ["Requests"],
  "prefix-hit": ["Prefix in cache", "share"],
  tp: ["Tensor"],
  pp: ["Pipeline"],
  ep: ["Expert"],
  dp: ["Copies"],
  cp: ["Context", "ranks of a prompt"],
  prefill: ["Prefill apart", "as tp=2,copies=2"],
  decode: ["Decode apart", "as tp=4"],
  stream: ["Layer by layer", "cache moves"],
  imbalance: ["Uneven experts", "power"],
  "redundant-experts": ["Copies of experts"],
  exchange: ["Tokens to experts by"],
  "two-batches": ["Two halves in turn", "hides their way"],
  weights: ["Weights"],
  cache: ["Cache"],
  engine: ["Engine"],
  "memory-share": ["Memory taken", "share"],
  "step-tokens": ["Step", "tokens"],
  "step-sequences": ["At a time", "sequences"],
  prompts: ["Order of prompts"],
  admit: ["Room for"],
  block: ["Cache block", "tokens"],
  eager: ["Without graphs", "kernels launched"],
  guesses: ["Guesses", "tokens"],
  acceptance: ["Acceptance", "share"],
  draft: ["Drafts by"],
  best: null,
  formats: ["Best among", "any, or bf16,fp8/fp8"],
  disaggregate: null,
  curve: null,
};

// What is asked first stands open: what is served on what, and for how many at a time.
const kOpen = "Serving";
const kOpenToo: readonly ServingFieldName[] = ["concurrency"];
const groupOf = (field: (typeof kServingFields)[number]) => (kOpenToo.includes(field.name) ? kOpen : field.group);
const kTitles = [...new Set(kServingFields.map((field) => field.group))];
const kAbout: Readonly<Record<string, string>> = {
  Load: "How requests come, how long they are, and which limits of time they are to keep.",
  Split: "How the model is split and copied over accelerators; prefill and decode together or apart.",
  "Formats and engine": "In which formats weights and cache are held, and how the software fills its steps.",
  Asked: "What the best way is searched among.",
};

export const kServeGroups: readonly FieldGroup[] = kTitles
  .map((title) => ({
    title,
    ...(title === kOpen ? {} : { folded: true, about: kAbout[title] ?? "" }),
    fields: kServingFields.flatMap((field): RunField[] => {
      const words = kWords[field.name];
      if (groupOf(field) !== title || !words) return [];
      const [label, unit] = words;
      return [{ ...field, label, ...(unit ? { unit } : {}) }];
    }),
  }))
  .filter(({ fields }) => fields.length > 0);

export const kServeFields: readonly RunField[] = kServeGroups.flatMap(({ fields }) => fields);
export const kServeNames: readonly string[] = kServeFields.map(({ name }) => name);

/** What is served where the address does not say. */
export const kFirstServing: Fields = {
  model: "llama-3-70b",
  cluster: "dgx-h100",
  "input-len": "1000",
  "output-len": "500",
  concurrency: "64",
  tp: "8",
};

/** The fields of an address: one that says nothing of serving, as from another view, has the usual ones. */
export function servingOf(given: Fields): Fields {
  const own = kServeNames.filter((name) => !["model", "cluster", "gpus"].includes(name));
  return own.some((name) => given[name]) ? given : { ...kFirstServing, ...given };
}

/** One way of serving. */
export function servedRequest(fields: Fields): Request {
  return runRequest(without(fields, ["formats"]), kServeFields); // which are of the best
}

/** Whether prefill and decode are on accelerators of their own. */
export function isApart(fields: Fields): boolean {
  return Boolean(fields.prefill && fields.decode);
}

const kPools = ["prefill", "decode"] as const;
const kDegrees = ["tp", "pp", "ep", "dp", "cp"] as const;

// "tp=2,pp=4,copies=2".
function acceleratorsOfPool(text: string): number {
  const given = Object.fromEntries(text.split(",").map((part) => part.split("=")));
  return ["tp", "pp", "dp", "cp", "copies"].reduce((product, name) => product * Number(given[name] ?? "1"), 1);
}

/** The accelerators of a way of serving: given, or what its degrees take. Null where they are no numbers. */
export function acceleratorsOf(fields: Fields): number | null {
  if (fields.gpus) return Number.isInteger(Number(fields.gpus)) ? Number(fields.gpus) : null;
  if (isApart(fields)) {
    const sum = acceleratorsOfPool(fields.prefill!) + acceleratorsOfPool(fields.decode!);
    return Number.isInteger(sum) ? sum : null;
  }
  const all = (["tp", "pp", "dp", "cp"] as const).reduce((product, name) => product * Number(fields[name] || "1"), 1);
  return Number.isInteger(all) ? all : null;
}

/** The best ways on as many accelerators, of prefill and decode apart where they are; null where they are not known. */
export function bestRequest(fields: Fields): Request | null {
  const gpus = acceleratorsOf(fields);
  if (gpus === null) return null;
  const { formats } = fields;
  const asked = without(fields, [...kDegrees, ...kCurves, ...kPools, "goodput", ...(formats ? ["weights"] : [])]);
  return {
    ...servedRequest({ ...asked, gpus: String(gpus) }),
    ...(formats ? { formats } : {}),
    best: true,
    ...(isApart(fields) ? { disaggregate: true } : {}),
  };
}

/** Along what load is measured: the one that is given. */
export function curveOf(fields: Fields): CurveOf {
  return fields.rate ? "rate" : fields.batch ? "batch" : "concurrency";
}

/** The same way of serving under ever more load. */
export function curveRequest(fields: Fields): Request {
  return { ...servedRequest(without(fields, kCurves)), curve: curveOf(fields) };
}

/** The fields that show an offer of the best. What the search chose stands there, whatever the engine's own. */
export function offerFields(fields: Fields, offer: OfferDocument): Fields {
  const { layout, concurrency, weights, cache, step_tokens } = offer;
  const rest = without(fields, [...kDegrees, ...kCurves, ...kPools, "gpus", "weights", "cache", "step-tokens"]);
  const chosen = { weights, cache, concurrency: String(concurrency) };
  if (offer.prefill) {
    const prefill = poolText(offer.prefill, offer.prefill_copies ?? 1, offer.prefill_step_tokens ?? step_tokens);
    return { ...rest, ...chosen, prefill, decode: poolText(layout, offer.decode_copies ?? 1, step_tokens) };
  }
  const degrees = kDegrees.filter((name) => layout[name] > 1).map((name) => [name, String(layout[name])]);
  return { ...rest, ...Object.fromEntries(degrees), ...chosen, "step-tokens": String(step_tokens) };
}

/** "tp=2,copies=2,step-tokens=8192", as the fields prefill and decode have it. */
export function poolText(layout: SplitDocument, copies: number, step: number): string {
  const degrees = kDegrees.filter((name) => name === "tp" || layout[name] > 1).map((name) => `${name}=${layout[name]}`);
  return [...degrees, `copies=${copies}`, `step-tokens=${step}`].join(",");
}

/** "2 x tp 2", of a copy or an offer. */
export function poolWords(layout: SplitDocument, copies: number): string {
  return `${copies} x ${splitWords(layout)}`;
}

/** "tp 8 ep 8", or of prefill and decode apart both. */
export function offerWords(offer: OfferDocument): string {
  if (!offer.prefill) return splitWords(offer.layout);
  return `${poolWords(offer.prefill, offer.prefill_copies ?? 1)}, then ${poolWords(offer.layout, offer.decode_copies ?? 1)}`;
}

/** "tp 8 ep 8 dp 2": degrees above one. */
export function splitWords(layout: SplitDocument): string {
  const words = kDegrees.filter((name) => layout[name] > 1).map((name) => `${name} ${layout[name]}`);
  return words.join(" ") || "one accelerator";
}
