// The best layout of each kind.
import type { PlanDocument } from "../../lib/documents";
import { bytes, number, percent, seconds, si } from "../../lib/format";
import { nearWords } from "../../lib/near";
import { layoutWords, roomyWords, stepFields } from "../../lib/plan";
import { placeText, type Fields } from "../../lib/url";

/** A layout that opens in the Step view. */
export function LayoutLink({ flags, fields }: { flags: string; fields: Fields }) {
  return (
    <a href={placeText({ view: "step", fields: stepFields(fields, flags) })} title="Open in Step">
      {layoutWords(flags)}
    </a>
  );
}

export function Best({ plan, fields }: { plan: PlanDocument; fields: Fields }) {
  const close = plan.best.map((each, i) => (each.undecided ? i + 1 : 0)).filter((each) => each > 0);
  const roomy = roomyWords(plan);
  const first = plan.best[0]!;
  const money = plan.best.some((each) => each.cost_dollars !== null);
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label="Table of the best layouts">
        <table data-table="best">
          <caption>The best of each kind; a layout opens in Step</caption>
          <thead>
            <tr>
              <th scope="col" class="n">
                #
              </th>
              <th scope="col" class="n">
                Step
              </th>
              <th scope="col">Layout</th>
              <th scope="col">Range</th>
              <th scope="col" class="n">
                MFU
              </th>
              <th scope="col" class="n">
                Memory
              </th>
              <th scope="col" class="n">
                Tokens/s each
              </th>
              <th scope="col" class="n">
                Energy
              </th>
              {money && (
                <th scope="col" class="n">
                  Cost
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {plan.best.map((each, i) => (
              <tr key={each.index}>
                <td class="n">{i + 1}</td>
                <td class="n">{seconds(each.step_time_s)}</td>
                <td class="words">
                  <LayoutLink flags={each.flags} fields={fields} />
                </td>
                <td class="range">
                  {each.interval_step_time_s &&
                    `${seconds(each.interval_step_time_s[0])} to ${seconds(each.interval_step_time_s[1])}`}
                </td>
                <td class="n">{percent(each.mfu)}</td>
                <td class="n">{bytes(each.memory_that_must_fit_bytes)}</td>
                <td class="n">{number(each.tokens_per_s_per_gpu)}</td>
                <td class="n">{si(each.energy_j, "J")}</td>
                {money && <td class="n">{each.cost_dollars !== null && `$${number(each.cost_dollars)}`}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="soft">
        Range: in such a one lay 80 % of the runs that we had not seen. {nearWords(first.interval_from, plan.job.framework)} MFU: model FLOPs without recomputation over peak.
        Memory: what must fit, on the fullest rank.
      </p>
      <ul class="notes said">
        {close.length > 0 && (
          <li>
            Undecided: the intervals of 1 and {close.join(", ")} meet. Which is fastest only the machine can say: try
            these.
          </li>
        )}
        {plan.binds.length > 0 && (
          <li>
            What binds 1: {plan.binds.map(({ what, share }) => `${what} ${percent(share)}`).join(", ")} of the step.
          </li>
        )}
        {roomy && (
          <li>
            Memory binds: with more of it than the {bytes(first.capacity_bytes)} there are, {roomy} (
            {layoutWords(plan.with_endless_memory!.flags)}).
          </li>
        )}
      </ul>
    </>
  );
}
