// Batches that divide over more accelerators than a given one, next to it.
import type { PlanDocument } from "./documents";

export interface NearBatch {
  readonly batch: number;
  /** Data-parallel ranks over which it divides, at most. */
  readonly ranks: number;
}

/** No batch that is further away is offered. */
const kFarthest = 1 / 8;

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}

/** Below and above a batch the one near it that divides over the most of `gpus` ranks; none where it divides over as
 * many itself. */
export function nearBatches(batch: number, gpus: number): NearBatch[] {
  const own = gcd(batch, gpus);
  const reach = Math.min(10_000, Math.floor(batch * kFarthest) || 1);
  const best = (sign: 1 | -1): NearBatch | null => {
    let found: NearBatch | null = null;
    for (let away = 1; away <= reach && batch + sign * away > 0; ++away) {
      const ranks = gcd(batch + sign * away, gpus);
      if (ranks > Math.max(own, found?.ranks ?? 0)) found = { batch: batch + sign * away, ranks };
    }
    return found;
  };
  return [best(-1), best(1)].filter((each): each is NearBatch => each !== null);
}

/** What to take instead where a plan's best layout has as many data-parallel ranks as its batch lets it. */
export function heldByBatch({ gpus, job, best }: Pick<PlanDocument, "gpus" | "job" | "best">): NearBatch[] {
  const dp = best[0]?.layout.dp;
  if (dp === undefined || dp !== gcd(job.global_batch, gpus) || dp === gpus) return [];
  return nearBatches(job.global_batch, gpus);
}
