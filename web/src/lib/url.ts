// What is shown stands in the address, #/VIEW?name=value&..., so that a view can be shared and the
// browser's back and forward work.
import { signal } from "@preact/signals";

/** Names and values as the address carries them; an absent name is a default. */
export type Fields = Readonly<Record<string, string>>;

/** The fields of these names that there are. */
export function pick(fields: Fields, names: Iterable<string>): Fields {
  const out: Record<string, string> = {};
  for (const name of names) {
    const value = fields[name];
    if (value !== undefined) out[name] = value;
  }
  return out;
}

/** All but those of these names. */
export function without(fields: Fields, names: Iterable<string>): Fields {
  const left = new Set(names);
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !left.has(name)));
}

export interface Place {
  readonly view: string;
  readonly fields: Fields;
}

/** Reads "#/step?model=gpt2&tp=8"; anything else is a place without a view. */
export function parsePlace(hash: string): Place {
  const match = /^#\/([a-z-]*)(?:\?(.*))?$/s.exec(hash);
  if (!match) return { view: "", fields: {} };
  const fields: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(match[2] ?? "")) fields[name] = value;
  return { view: match[1] ?? "", fields };
}

/** The address of a place; fields in the order given, empty ones left out. */
export function placeText({ view, fields }: Place): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) if (value !== "") query.append(name, value);
  // What needs no escape after '#' is left readable.
  const text = query.toString().replaceAll("%2F", "/").replaceAll("%2C", ",").replaceAll("%3A", ":");
  return `#/${view}${text ? `?${text}` : ""}`;
}

/** Where the page is. Changed by go() and setFields() alone. */
export const place = signal<Place>({ view: "", fields: {} });

/** Follows the address; called once. */
export function followAddress(): void {
  const read = () => {
    place.value = parsePlace(location.hash);
  };
  addEventListener("popstate", read);
  addEventListener("hashchange", read);
  read();
}

/** Goes to another place: one step of the browser's history. */
export function go(view: string, fields: Fields = {}): void {
  const next = { view, fields };
  if (placeText(next) !== placeText(place.value)) history.pushState(null, "", placeText(next));
  place.value = next;
  lastChange = { names: "", at: 0 };
}

// A slider that is dragged makes one step of the history, not hundreds.
const kOneChange = 1000; // milliseconds
let lastChange = { names: "", at: 0 };

/** Changes fields of the place; undefined or "" takes one away. */
export function setFields(patch: Readonly<Record<string, string | undefined>>): void {
  const fields: Record<string, string> = { ...place.value.fields };
  for (const [name, value] of Object.entries(patch)) {
    if (value === undefined || value === "") delete fields[name];
    else fields[name] = value;
  }
  const next = { view: place.value.view, fields };
  const text = placeText(next);
  if (text !== placeText(place.value)) {
    const change = { names: Object.keys(patch).join(), at: Date.now() };
    const same = change.names === lastChange.names && change.at - lastChange.at < kOneChange;
    if (same) history.replaceState(null, "", text);
    else history.pushState(null, "", text);
    lastChange = change;
  }
  place.value = next;
}
