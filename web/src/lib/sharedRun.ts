// The run that the views share: what is changed in one goes with the reader to the next, and so does a layout
// that a plan found. What a view asks besides stays its own.
import { signal } from "@preact/signals";

import { givesLayout, layoutFields, kGivenNames } from "./plan";
import { kRunNames } from "./run";
import { pick, without, type Fields } from "./url";

export interface Shares {
  /** The fields that a view shares with others. */
  readonly shares: readonly string[];
}

/** The run of the view that was seen last. */
let run: Fields = {};
const own = new Map<string, Fields>(); // of each view that was seen

/** The best layout of a run, by its given fields, as the last plan found it. */
const found = signal<{ readonly of: string; readonly layout: Fields } | null>(null);
const key = (fields: Fields) => JSON.stringify(pick(fields, kGivenNames));

export function tellFound(fields: Fields, flags: string): void {
  if (found.peek()?.of !== key(fields)) found.value = { of: key(fields), layout: layoutFields(flags) };
}

/** A view is looked at with these fields. */
export function seen(id: string, { shares }: Shares, fields: Fields): void {
  const shared = new Set(shares);
  own.set(id, without(fields, shared));
  if (!fields.model || shares.length === 0) return;
  const wholly = kRunNames.every((name) => shared.has(name));
  if (wholly) {
    run = pick(fields, kRunNames);
    return;
  }
  // A view that knows nothing of layouts leaves the layout of the run, unless the run is another.
  const given = { ...pick(run, [...kGivenNames].filter((name) => !shared.has(name))), ...pick(fields, shared) };
  const same = key(given) === key(run);
  run = same ? run : given;
}

/** The fields with which a view opens. */
export function opensWith(id: string, { shares }: Shares): Fields {
  const layout = found.value?.of === key(run) && !givesLayout(run) ? found.value.layout : {};
  return { ...pick({ ...run, ...layout }, shares), ...own.get(id) };
}

/** For tests: nothing was seen yet. */
export function forget(): void {
  run = {};
  own.clear();
  found.value = null;
}
