// Whether the server answers. Where it stops, it is asked again by itself until it does, and all questions that
// were open are asked anew.
import { signal } from "@preact/signals";

import { door } from "./door";

/** The server was lost, and is being tried again. */
export const lost = signal(false);
/** Grows when the server is back. */
export const returns = signal(0);

const kBetween = 2000; // milliseconds
let timer: ReturnType<typeof setTimeout> | undefined;

/** A question found nobody. */
export function tellLost(): void {
  if (lost.value) return;
  lost.value = true;
  timer = setTimeout(() => void tryAgain(), kBetween);
}

/** Asks whether somebody answers by now. */
export async function tryAgain(): Promise<void> {
  clearTimeout(timer);
  try {
    await door("api/schema/list", { cache: "no-store" });
    clearTimeout(timer); // of another try, which failed while this one was under way
    lost.value = false;
    returns.value += 1;
  } catch {
    timer = setTimeout(() => void tryAgain(), kBetween);
  }
}
