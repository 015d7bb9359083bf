// A run whose layout is not said has the best one: the page asks for it, and then for what it does.
import { useRef } from "preact/hooks";

import type { Problem } from "./api";
import { useAsking, type Asking } from "./asking";
import type { PlanDocument } from "./documents";
import { givesLayout, layoutFields, layoutRequest } from "./plan";
import type { Fields } from "./url";

export interface LaidOut {
  /** The run with its layout, where it is to have one; null where none is known yet, or none fits. */
  readonly fields: Fields | null;
  /** The layout was not said, and is searched. */
  readonly searched: boolean;
  /** The search, where one was made: of this run if `current`, else of one before it. */
  readonly plan: PlanDocument | null;
  readonly current: boolean;
  /** What the search finds wrong with the run. */
  readonly problems: readonly Problem[];
  readonly search: Asking<PlanDocument>;
}

const kRest = 120; // milliseconds: a number that is being typed

/** `wanted`: false asks nothing, and leaves the run as it is. */
export function useLaidOut(fields: Fields, wanted = true): LaidOut {
  const searched = wanted && !givesLayout(fields);
  const request = searched ? layoutRequest(fields) : null;
  const search = useAsking<PlanDocument>("plan", request, { long: true, rest: kRest });
  const plan = search.answer?.document ?? null;
  const current = searched && !search.busy && JSON.stringify(search.answered) === JSON.stringify(request);
  // While another is searched for, the run has the layout found before, if it may.
  const last = useRef<{ of: string; layout: Fields | null }>({ of: "", layout: null });
  const of = [fields.model, fields.cluster, fields.framework].join();
  const flags = plan?.best[0]?.flags;
  if (current) last.current = { of, layout: flags === undefined ? null : layoutFields(flags) };
  const layout = current || last.current.of === of ? last.current.layout : null;
  return {
    fields: !searched ? fields : layout && { ...fields, ...layout },
    searched,
    plan,
    current,
    problems: searched ? search.problems : [],
    search,
  };
}

/** What is shown of such a run. */
export interface LaidOutAnswer<Document> {
  readonly document: Document | undefined;
  readonly problems: readonly Problem[];
  readonly busy: boolean;
}

/** `asking`: the question about the run with its layout. Where none fits nothing is shown; a layout of a search for
 * another run may be illegal for this one, which is no news. */
export function answerOf<Document>(
  laid: LaidOut,
  asking: Pick<Asking<Document>, "answer" | "problems" | "busy">,
): LaidOutAnswer<Document> {
  const refused = laid.problems.length > 0;
  const waiting = laid.searched && !laid.current && !refused;
  return {
    document: laid.current && laid.fields === null ? undefined : asking.answer?.document,
    problems: refused ? laid.problems : waiting ? [] : asking.problems,
    busy: waiting || laid.search.busy || asking.busy,
  };
}
