// The answer to the pinned question, beside which that of the present one stands.
import type { Request } from "./api";
import { answerTo, useAsking, type HowToAsk } from "./asking";
import { pinnedIn } from "./pinned";
import type { Fields } from "./url";

/** Asks for what is pinned in `fields`; undefined where nothing is, or it is not answered yet. */
export function usePinned<Document>(
  command: string,
  fields: Fields,
  requestOf: (pinned: Fields) => Request,
  how?: HowToAsk,
): Document | undefined {
  const pin = pinnedIn(fields);
  const request = pin && requestOf(pin);
  return answerTo(request, useAsking<Document>(command, request, how));
}
