// Which layout an empty one came to, and why that.
import { BatchOffer } from "./BatchOffer";
import type { LaidOut } from "../lib/laidOut";
import type { PlanDocument } from "../lib/documents";
import { bytes, change, count, percent, progressWords } from "../lib/format";
import { layoutWords, roomyWords, withoutLayout } from "../lib/plan";
import { go, place, placeText, type Fields } from "../lib/url";

/** The search, while it runs and when it is done. */
export function LaidOutBy({ laid, fields }: { laid: LaidOut; fields: Fields }) {
  const { searched, plan, current, search } = laid;
  if (!searched) return null;
  if (!current || !plan) {
    if (laid.problems.length > 0) return null;
    const { progress } = search;
    return (
      <p class="laid soft" role="status">
        {/* A search of a moment says nothing. */}
        Looking for the best layout
        {progress ? `: ${progressWords(progress)}` : " …"}
      </p>
    );
  }
  if (plan.best.length === 0) return <NoneFits plan={plan} fields={fields} />;
  return <BestOf plan={plan} fields={fields} />;
}

function BestOf({ plan, fields }: { plan: PlanDocument; fields: Fields }) {
  const best = plan.best[0]!;
  const without = plan.without.filter((each) => each.best !== null && each.best.step_time_s > best.step_time_s * 1.0005);
  const roomy = roomyWords(plan);
  return (
    <section class="panel laid" aria-label="The layout and why">
      <p>
        <strong>Layout: {layoutWords(best.flags)}.</strong> You gave none, so this is the fastest that fits of{" "}
        {count(plan.layouts)}{plan.proven ? "" : " (not proven: not all were looked at)"}.{" "}
        <a href={placeText({ view: "plan", fields: withoutLayout(fields) })}>All of them in Plan</a>
      </p>
      <BatchOffer plan={plan} onTake={(batch) => go(place.value.view, { ...place.value.fields, ...fields, "global-batch": batch })} />
      <details>
        <summary>Why this one</summary>
        <ul class="notes">
          {without.map(({ feature, best: other }) => (
            <li key={feature}>
              Without {feature} the best would take {change(other!.step_time_s / best.step_time_s)}.
            </li>
          ))}
          {plan.without.filter((each) => each.best === null).map(({ feature }) => (
            <li key={feature}>Without {feature} nothing fits.</li>
          ))}
          {plan.binds.length > 0 && (
            <li>Its time goes to {plan.binds.map(({ what, share }) => `${what} ${percent(share)}`).join(", ")}.</li>
          )}
          {roomy && (
            <li>
              Memory binds: with more than {bytes(best.capacity_bytes)}, {roomy}.
            </li>
          )}
        </ul>
      </details>
    </section>
  );
}

function NoneFits({ plan, fields }: { plan: PlanDocument; fields: Fields }) {
  return (
    <section class="panel unfit" aria-label="It does not fit" role="alert">
      <h2>
        {plan.model} does not fit on {count(plan.gpus)} accelerators of {plan.cluster}: none of {count(plan.layouts)} layouts does.
      </h2>
      {plan.remedies.length > 0 && (
        <ul class="remedies">
          {plan.remedies.map(({ change: what, best }) => (
            <li key={what}>
              It would fit {what}
              {best && ` (${layoutWords(best.flags)})`}.{" "}
              {best && best.layout.gpus !== plan.gpus && (
                <button type="button" onClick={() => go(place.value.view, { ...place.value.fields, ...withoutLayout(fields), gpus: String(best.layout.gpus) })}>
                  Take {count(best.layout.gpus)} accelerators
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** A given layout that does not fit: said first, with the way to one that does. */
export function Unfit({ needs, capacity, fields, what }: { needs: number; capacity: number; fields: Fields; what: string }) {
  return (
    <section class="panel unfit" aria-label="It does not fit">
      <h2>
        {what} does not fit: its fullest rank takes {bytes(needs)} of {bytes(capacity)}.
      </h2>
      <button type="button" class="main" onClick={() => go(place.value.view, withoutLayout(fields))}>
        Find one that does
      </button>
    </section>
  );
}
