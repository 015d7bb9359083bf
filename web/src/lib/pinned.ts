// A pinned run, A, beside which the present one stands. The address holds both: the fields of A in the field "pin".
import { go, place, setFields, without, type Fields } from "./url";

/** The fields of A; null where none is pinned. */
export function pinnedIn(fields: Fields): Fields | null {
  if (!fields.pin) return null;
  return Object.fromEntries(new URLSearchParams(fields.pin));
}

export function pinText(fields: Fields): string {
  return new URLSearchParams(without(fields, ["pin"])).toString();
}

/** `fields`: the run as it is shown, its defaults and its layout included. */
export function pinThis(fields: Fields): void {
  setFields({ ...fields, pin: pinText(fields) });
}

export function backToPinned(): void {
  const pinned = pinnedIn(place.value.fields);
  if (pinned) go(place.value.view, pinned);
}

export function unpin(): void {
  setFields({ pin: undefined });
}
