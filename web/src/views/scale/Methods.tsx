// The same run by each method of training, side by side.
import { Figure } from "../../charts/Figure";
import { kPartCategories } from "../../charts/palette";
import { StackedBars } from "../../charts/StackedBars";
import { numbers, type Column } from "../../charts/table";
import { Unfolded } from "../../app/Unfolded";
import { DataTable } from "../../charts/DataTable";
import { bytes, change, seconds } from "../../lib/format";
import { nearWords } from "../../lib/near";
import { placeText, type Fields } from "../../lib/url";
import { byTime, bytesBetween, dataWords, headline, isApart, isOfOneCluster, methodRequest, trainsWhole, type MethodRow } from "./methods";

export function Methods({ rows, fields }: { rows: readonly MethodRow[]; fields: Fields }) {
  const base = rows.find(({ method }) => method === null)?.step;
  if (!base) return null;
  const apart = isApart(fields);
  const all = byTime(rows, apart);
  const told = all.filter(({ step }) => step !== null);
  const refused = all.filter(({ step }) => step === null);
  const near = nearWords(base.interval_from, base.job.framework);
  return (
    <>
      <section class="panel whole-table" aria-labelledby="methods-headline" aria-live="polite">
        <h2 id="methods-headline">{headline(rows, apart, seconds)}</h2>
        <p class="soft">
          All by the layout that is shown, of {base.model} on {base.cluster}. A step is the mean over a cycle of meetings; exchanged: bytes of it{apart ? " over the link between replicas" : " between data-parallel ranks"}. The cost is of
          a step, whatever it teaches: how much data a method takes for the same loss stands beside it, or that nobody published it.
          {apart && " Methods that know no link between replicas stand below, told as if all were in one cluster."} No measured run learns
          by these methods: the range of a step is that of synchronous runs.{near && ` ${near}`}
        </p>
        <DataTable caption="The run by each method of training" columns={columnsOf(base.step_time_s, fields)} rows={told} />
        {refused.length > 0 && (
          <>
            <p class="soft">Not told, for this layout and machine:</p>
            <ul class="notes">
              {refused.map(({ title, refused: why }) => (
                <li key={title}>
                  {title}: {why}
                </li>
              ))}
            </ul>
          </>
        )}
      </section>
      <div class="long">
        <Figure
        title="Where a step's time goes, by method"
        note="Communication: what nothing hides."
        file="headway-methods"
        document={told.map(({ method, step }) => ({ method: method?.name ?? "synchronous", predict: step }))}
      >
        <StackedBars
          title="Where a step's time goes, by method"
          rows={told.map(({ title, step }) => ({ label: title, parts: step!.parts_s }))}
          categories={kPartCategories}
          text={seconds}
        />
        </Figure>
      </div>
      <Unfolded summary="What each does, and what is known of its loss">
        {() => (
          <dl class="words">
            {all.flatMap(({ method }) =>
              method
                ? [
                    <dt key={method.name}>
                      {method.title} <code>{method.name}</code>
                    </dt>,
                    <dd key={`${method.name} means`}>
                      {method.what}. Data for the same loss: {method.penalty}. <small class="soft">{method.source}</small>
                    </dd>,
                  ]
                : [],
            )}
          </dl>
        )}
      </Unfolded>
    </>
  );
}

function columnsOf(base: number, fields: Fields): Column<MethodRow>[] {
  const apart = isApart(fields);
  return [
    {
      key: "method",
      head: "method",
      value: ({ method }) => method?.name ?? "synchronous",
      align: "left",
      cell: ({ method, title, step }) => {
        const address = { ...fields, method: String(methodRequest(fields, method).method ?? "") };
        const name = step ? <a href={placeText({ view: "step", fields: stepFields(address) })}>{title}</a> : title;
        return isOfOneCluster({ method }, apart) ? (
          <>
            {name} <small class="soft">one cluster</small>
          </>
        ) : (
          name
        );
      },
    },
    {
      key: "step_time_s",
      head: "step",
      value: ({ step }) => step?.step_time_s,
      text: ({ step }) => (step ? seconds(step.step_time_s) : "–"),
    },
    {
      key: "change",
      head: "against every step",
      value: ({ step }) => step && step.step_time_s / base,
      text: ({ method, step }) =>
        !step || !method || isOfOneCluster({ method }, apart) ? "–" : trainsWhole(method) ? change(step.step_time_s / base) : `${change(step.step_time_s / base)}, of less work`,
    },
    numbers("bytes", "exchanged", (row) => row.step && bytesBetween(row.step.calls, apart && !isOfOneCluster(row, apart)), bytes),
    numbers("exposed_s", "waits for it", ({ step }) => step?.parts_s.dp, seconds),
    {
      key: "memory_bytes",
      head: "memory",
      value: ({ step }) => step?.memory_bytes.total,
      cell: ({ step }) =>
        step ? (
          <span class={step.fits ? "" : "bad"}>
            {bytes(step.memory_bytes.total)}
            {step.fits ? "" : ", does not fit"}
          </span>
        ) : (
          "–"
        ),
    },
    {
      key: "sample_penalty",
      head: "data for the same loss",
      value: ({ method }) => method?.sample_penalty ?? 1,
      text: ({ method }) => (method ? dataWords(method) : "as it is"),
      align: "left",
    },
  ];
}

const kOwn = ["sweep", "between-replicas", "between-bandwidth", "between-latency"];
function stepFields(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !kOwn.includes(name)));
}
