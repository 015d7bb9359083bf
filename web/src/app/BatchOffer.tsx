// A batch that divides over few accelerators holds the layout: those next to it that do not are offered.
import { heldByBatch } from "../lib/batch";
import type { PlanDocument } from "../lib/documents";
import { count } from "../lib/format";

export function BatchOffer({ plan, onTake }: { plan: PlanDocument; onTake: (batch: string) => void }) {
  const near = heldByBatch(plan);
  const ranks = plan.best[0]?.layout.dp ?? 1;
  if (near.length === 0) return null;
  return (
    <p class="buttons no-print" data-offer="batch">
      <span>
        {count(plan.job.global_batch)} sequences divide over no more than {count(ranks)} data-parallel {ranks === 1 ? "rank" : "ranks"}.
      </span>
      {near.map(({ batch, ranks: most }) => (
        <button type="button" key={batch} onClick={() => onTake(String(batch))}>
          Take {count(batch)}, for up to {count(most)}
        </button>
      ))}
    </p>
  );
}
