// What a plan is asked for, as fields of the address and as a request.
import type { Problem, Request } from "./api";
import type { PlanDocument, PlanPoint } from "./documents";
import { percent, seconds, si } from "./format";
import { kSearched } from "./fields";
import { fieldsOfFlags, kFirstGroup, kJobGroup, kMoreGroup, kRunFields, requestValue, runRequest, type FieldGroup, type RunField } from "./run";
import { pick, without, type Fields } from "./url";

export const kSearchGroup: FieldGroup = {
  title: "Search",
  about: "What the best layout is best in, and how much memory it leaves free.",
  folded: true,
  fields: [
    { name: "objective", label: "Best in", kind: "choice", choices: ["time", "throughput", "memory", "energy", "money"] },
    { name: "headroom", label: "Memory left free", kind: "text", unit: "as 10%" },
    { name: "top", label: "Layouts shown", kind: "count" },
    { name: "exhaustive", label: "Price every layout", kind: "switch" },
  ],
};

type Searched = (typeof kSearched)[number];
/** Those that count may be kept at a value (fix-NAME) or at most there (max-NAME), others at a value. */
const kCounted = kSearched.filter((each) => each.counts);

// What a switch turns off is kept on or off.
const kOnOff: Readonly<Record<string, string>> = {
  sp: "Sequence parallel (on, off)",
  reshard: "Drop gathered weights (on, off)",
};
const label = ({ name, field }: Searched) => kOnOff[name] ?? kRunFields.find((each) => each.name === field)?.label ?? name;

export const kFixGroup: FieldGroup = {
  title: "Keep at",
  about: "Layouts with exactly these values alone are searched.",
  folded: true,
  fields: [
    ...kCounted.map((each) => ({ name: `fix-${each.name}`, label: label(each), kind: "count" as const })),
    ...kSearched
      .filter((each) => !each.counts)
      .map((each) => ({ name: `fix-${each.name}`, label: label(each), kind: "text" as const })),
  ],
};
export const kMaxGroup: FieldGroup = {
  title: "Keep at most",
  about: "Layouts with no more than these are searched.",
  folded: true,
  fields: kCounted.map((each) => ({ name: `max-${each.name}`, label: label(each), kind: "count" as const })),
};

// Fields of a run that the search does not choose by itself.
export const kLayoutNames: ReadonlySet<string> = new Set(kSearched.map((each) => each.field));
const kStated: ReadonlySet<RunField> = new Set([...kFirstGroup.fields, ...kJobGroup.fields]);
const kGivenMore: FieldGroup = {
  ...kMoreGroup,
  fields: kRunFields.filter((field) => !kStated.has(field) && !kLayoutNames.has(field.name)),
};

export const kPlanGroups: readonly FieldGroup[] = [kFirstGroup, kJobGroup, kSearchGroup, kFixGroup, kMaxGroup, kGivenMore];
const kGiven = [...kFirstGroup.fields, ...kJobGroup.fields, ...kGivenMore.fields];
/** The fields of a run that a search takes as given. */
export const kGivenNames: readonly string[] = kGiven.map((field) => field.name);
const kAsked = [...kGiven, ...kSearchGroup.fields, ...kMaxGroup.fields];
export const kPlanNames: readonly string[] = kPlanGroups.flatMap((group) => group.fields.map((field) => field.name));

/** The request for a plan; `fix` collects the fields that are kept at a value. */
export function planRequest(fields: Fields): Request {
  const fix: Record<string, unknown> = {};
  for (const field of kFixGroup.fields) {
    const text = fields[field.name];
    if (text) fix[field.name.slice("fix-".length)] = requestValue(field, text);
  }
  const request = runRequest(fields, kAsked);
  return Object.keys(fix).length > 0 ? { ...request, fix } : request;
}

/** Whether fields of a run say anything of its layout. */
export function givesLayout(fields: Fields): boolean {
  return [...kLayoutNames].some((name) => fields[name]);
}

/** The same run without its layout. */
export function withoutLayout(fields: Fields): Fields {
  return without(fields, kLayoutNames);
}

/** The question for the best layout of a run. */
export function layoutRequest(fields: Fields): Request {
  return { ...runRequest(fields, kGiven), top: 1 };
}

/** A layout that was found, as fields; data parallelism follows from the number of accelerators. */
export function layoutFields(flags: string): Fields {
  const { dp: _, ...fields } = fieldsOfFlags(flags);
  return fields;
}

/** A problem by the field of the page: the server names "fix tp=3", the field is fix-tp. */
export function planProblem(problem: Problem): Problem {
  const kept = /^fix ([\w-]+)=/.exec(problem.where)?.[1];
  return kept ? { ...problem, where: `fix-${kept}` } : problem;
}

/** The fields of the Step view that show a layout of a plan. */
export function stepFields(planFields: Fields, flags: string): Fields {
  return { ...pick(planFields, kGivenNames), ...fieldsOfFlags(flags) };
}

/** "--dp 32 --tp 8" in words. What the framework does anyway is no news. */
export function layoutWords(flags: string): string {
  return flags
    .replace(/--overlap-(gradients|parameters) on/g, "")
    .replaceAll("--", "")
    .replace(/\s+/g, " ")
    .trim();
}

/** What more memory would bring, in the command line's words: "the best step would be 3.1 s, 8.8 %
 * shorter". Null where memory does not bind. */
export function roomyWords(plan: Pick<PlanDocument, "best" | "objective" | "with_endless_memory">): string | null {
  const { best, objective, with_endless_memory: roomy } = plan;
  const first = best[0];
  if (!first || !roomy) return null;
  const energy = objective === "energy";
  const of = (point: PlanPoint) => (energy ? point.energy_j : point.step_time_s);
  if (of(roomy) >= of(first)) return null;
  const less = percent(1 - of(roomy) / of(first));
  return energy
    ? `the best energy would be ${si(of(roomy), "J")}, ${less} less`
    : `the best step would be ${seconds(of(roomy))}, ${less} shorter`;
}
