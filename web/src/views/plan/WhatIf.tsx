// What each kind of parallelism is worth, what other hardware would change, and what would make a run fit.
import type { PlanDocument, PlanPoint } from "../../lib/documents";
import { bytes, change, seconds } from "../../lib/format";
import type { Fields } from "../../lib/url";
import { LayoutLink } from "./Best";

interface RowOfTable {
  readonly name: string;
  readonly best: PlanPoint | null;
  /** What the winner takes then. */
  readonly winner?: number | null;
}

interface TableProps {
  readonly title: string;
  readonly sentence: string;
  readonly caption: string;
  readonly head: string;
  readonly rows: readonly RowOfTable[];
  readonly first: PlanPoint | undefined;
  readonly fields: Fields;
  readonly withWinner?: boolean;
}

function Table({ title, sentence, caption, head, rows, first, fields, withWinner }: TableProps) {
  if (rows.length === 0) return null;
  const id = title.toLowerCase().replace(/\W+/g, "-");
  const against = (time: number) => (first ? ` ${change(time / first.step_time_s)}` : "");
  return (
    <section class={`panel ${first ? "long" : ""}`} aria-label={title}>
      <h2>{sentence}</h2>
      <div class="scroll" tabIndex={0} role="region" aria-label={`Table: ${title}`}>
        <table data-table={id}>
          <caption>{caption}</caption>
          <thead>
            <tr>
              <th scope="col">{head}</th>
              {withWinner && (
                <th scope="col" class="n">
                  1 takes
                </th>
              )}
              <th scope="col" class="n">
                {withWinner ? "Best then" : "Step"}
              </th>
              <th scope="col" class="n">
                Memory
              </th>
              <th scope="col">Layout then</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ name, best, winner }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {withWinner && <td class="n">{winner == null ? "does not fit" : seconds(winner) + against(winner)}</td>}
                <td class="n">{best ? seconds(best.step_time_s) + against(best.step_time_s) : "none fits"}</td>
                <td class="n">{best ? bytes(best.memory_that_must_fit_bytes) : ""}</td>
                <td class="words">
                  {best === null ? (
                    ""
                  ) : withWinner && best.index === first?.index ? (
                    "still 1"
                  ) : (
                    <LayoutLink flags={best.flags} fields={fields} />
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

interface Otherwise {
  readonly name: string;
  readonly time: number | null;
}

// What the best layout has to thank most.
function dearest(rows: readonly Otherwise[], first: PlanPoint | undefined): string {
  const none = rows.find(({ time }) => time === null);
  if (rows.length === 0) return ""; // and no table
  if (!first || none) return `Without ${none?.name ?? "it"} nothing fits.`;
  const most = rows.reduce((a, b) => (b.time! > a.time! ? b : a), rows[0]!);
  return most.time! > first.step_time_s * 1.0005
    ? `The best layout owes most to ${most.name}: without it a step takes ${change(most.time! / first.step_time_s)}.`
    : "No kind of parallelism alone is worth anything to the best layout.";
}

// What other hardware would bring most.
function gains(rows: readonly Otherwise[], first: PlanPoint | undefined): string {
  const timed = rows.filter(({ time }) => time !== null);
  const best = timed.reduce<Otherwise | null>((a, b) => (a === null || b.time! < a.time! ? b : a), null);
  if (!first || !best || best.time! > first.step_time_s * 0.9995) return "No change of the hardware that was tried makes a step shorter.";
  return `Of changed hardware ${best.name} brings most: ${change(best.time! / first.step_time_s)} a step.`;
}

export function WhatIf({ plan, fields }: { plan: PlanDocument; fields: Fields }) {
  const first = plan.best[0];
  return (
    <>
      <Table
        title="Without"
        sentence={dearest(plan.without.map(({ feature, best }) => ({ name: feature, time: best?.step_time_s ?? null })), first)}
        caption="The best layout that does without; step against that of 1"
        head="Without"
        rows={plan.without.map(({ feature, best }) => ({ name: feature, best }))}
        first={first}
        fields={fields}
      />
      <Table
        title="If"
        sentence={gains(plan.sensitivity.map(({ change: name, best }) => ({ name, time: best?.step_time_s ?? null })), first)}
        caption="On changed hardware: what layout 1 takes, and the best layout then; against 1 as it is"
        head="If"
        rows={plan.sensitivity.map(({ change: name, step_time_s, best }) => ({ name, best, winner: step_time_s }))}
        first={first}
        fields={fields}
        withWinner
      />
      <Table
        title="Remedies"
        sentence={`It would fit ${plan.remedies[0]?.change ?? ""}.`}
        caption="Changes after which a layout fits"
        head="With"
        rows={plan.remedies.map(({ change: name, best }) => ({ name, best }))}
        first={first}
        fields={fields}
      />
    </>
  );
}
