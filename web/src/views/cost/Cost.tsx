// What a whole run costs: days, accelerator-hours, money, energy and CO2, on several machines beside each other.
import { AtAGlance } from "../../app/AtAGlance";
import { Combobox } from "../../app/Combobox";
import { ClusterKnobs } from "../../app/ClusterKnobs";
import { Form } from "../../app/Form";
import { LaidOutBy } from "../../app/LaidOutBy";
import { Own } from "../../app/Own";
import { Differences, PinBar } from "../../app/Pin";
import { Problems } from "../../app/Problems";
import { SameCommand } from "../../app/SameCommand";
import { PrintButton, SheetEnd } from "../../app/Sheet";
import { SumBar } from "../../charts/SumBar";
import { useAsking } from "../../lib/asking";
import type { Compared } from "../../lib/compared";
import { count, dollars, duration, energy, many, mass, percent } from "../../lib/format";
import { answerOf, useLaidOut, type LaidOut } from "../../lib/laidOut";
import { names } from "../../lib/lists";
import { nearOfAll } from "../../lib/near";
import { mostOf } from "../../lib/sentences";
import { grouped } from "../../lib/makers";
import { nameOf } from "../../lib/run";
import { go, place, setFields, type Fields } from "../../lib/url";
import { usePinned } from "../../lib/usePinned";
import type { Problem } from "../../lib/api";
import type { RunDocument } from "../scale/documents";
import { energyParts, stepInterval, timeParts } from "../scale/whole";
import { Assumed } from "../scale/Assumed";
import { cheaper, costRequest, kCostGroups, kCostNames, kFirstCost, kMostOthers, moneyInterval, onOther, othersOf } from "./cost";

interface Costed {
  readonly cluster: string;
  readonly laid: LaidOut;
  readonly run: RunDocument | undefined;
  readonly problems: readonly Problem[];
  readonly busy: boolean;
}

// null: no machine stands there.
function useCosted(fields: Fields | null): Costed {
  const laid = useLaidOut(fields ?? {}, fields !== null);
  const asking = useAsking<RunDocument>("scale", fields && laid.fields && costRequest(laid.fields));
  const { document, problems, busy } = answerOf(laid, asking);
  // What was answered last may be of another machine, that stood in this place before.
  const same = fields !== null && JSON.stringify(asking.answered?.cluster) === JSON.stringify(costRequest(fields).cluster);
  return { cluster: nameOf(fields?.cluster ?? ""), laid, run: same ? document : undefined, problems, busy };
}

export function CostView() {
  const given = place.value.fields;
  const fields: Fields = given.model ? { tokens: kFirstCost.tokens!, ...given } : { ...kFirstCost, ...given };
  const change = (patch: Readonly<Record<string, string | undefined>>) => setFields({ ...fields, ...patch });
  const others = othersOf(fields);
  const other = (i: number) => (others[i] ? onOther(fields, others[i]) : null);
  const first = useCosted(fields);
  const costed = [first, useCosted(other(0)), useCosted(other(1)), useCosted(other(2))].slice(0, 1 + others.length);
  const pinned = usePinned<RunDocument>("scale", given, costRequest);
  const runs = costed.flatMap(({ run }) => (run ? [run] : []));
  const busy = costed.some((each) => each.busy);
  const asked = costed.flatMap(({ laid }) => (laid.fields ? [{ command: "scale", request: costRequest(laid.fields) }] : []));
  return (
    <div class="view">
      <div>
        <Own fields={fields} onTake={(taken) => go("cost", { tokens: fields.tokens!, beside: fields.beside ?? "", ...taken })} />
        <Form
          command="scale run"
          groups={kCostGroups}
          fields={fields}
          problems={first.problems}
          taken={Object.fromEntries((first.run?.assumptions ?? []).map(({ name, value }) => [name, value]))}
          onChange={(name, value) => change({ [name]: value })}
        />
        <ClusterKnobs value={fields.cluster ?? ""} onChange={(value) => change({ cluster: value })} />
        <fieldset class="fields">
          <legend>Beside it, the same run on</legend>
          {others.map((name) => (
            <p class="buttons" key={name}>
              <span>{name}</span>
              <button type="button" class="quiet" aria-label={`Remove ${name}`} onClick={() => change({ beside: others.filter((each) => each !== name).join(",") })}>
                ×
              </button>
            </p>
          ))}
          {others.length < kMostOthers && (
            <div class="field wide">
              <label for="cost-beside">Add a machine</label>
              <Combobox
                key={others.join()}
                input={{ id: "cost-beside", placeholder: "type to find, as b200" }}
                value=""
                groups={grouped("clusters", names("clusters").filter((name) => name !== fields.cluster && !others.includes(name)))}
                onChange={(name) => names("clusters").includes(name) && change({ beside: [...others, name].join(",") })}
              />
            </div>
          )}
        </fieldset>
      </div>
      <div class="answer" id="answer" tabIndex={-1} aria-busy={busy}>
        <Problems problems={first.problems} shown={kCostNames} />
        <LaidOutBy laid={first.laid} fields={fields} />
        {runs.length > 0 && (
          <section class="panel" aria-labelledby="cost-headline" aria-live="polite">
            <h2 id="cost-headline">{headline(costed, runs)}</h2>
            <Table costed={costed} />
            <p class="soft">
              From and to: as the step's own range has it, in which lay 80 % of the runs we had not seen. Each machine has the best layout for it
              {first.laid.searched ? "" : "; the first has the one given"}. Prices are the machines' own unless one is given.{" "}
              {nearOfAll(runs.map((run) => [run.cluster, run.interval_from]), "this framework")}
            </p>
          </section>
        )}
        <div class="bar no-print">
          <PinBar fields={first.laid.fields} />
          <PrintButton />
        </div>
        {pinned && first.run && <Beside a={pinned} b={first.run} />}
        <div class="pair">
          {runs.map((run, i) => (
            <section class="panel" key={i} aria-label={`Where the days go on ${run.cluster}`}>
              <h2>{mostOf(`the time on ${run.cluster}`, timeParts(run))}</h2>
              <SumBar title="Expected time of the run" whole="time" parts={timeParts(run)} text={duration} />
            </section>
          ))}
          {first.run && (
            <section class="panel" aria-label="Where the energy goes">
              <h2>{mostOf(`the energy on ${first.run.cluster}`, energyParts(first.run))}</h2>
              <SumBar title="Energy, hosts and cooling included" whole="energy" parts={energyParts(first.run)} text={energy} />
            </section>
          )}
        </div>
        {first.run && <Assumed assumptions={first.run.assumptions} notes={first.run.notes} />}
        {asked.length > 0 && (
          <SameCommand asked={asked}>
            <SheetEnd of="prices, measurements and constants" />
          </SameCommand>
        )}
      </div>
      {first.run && (
        <AtAGlance>
          <strong>{first.run.price_usd === null ? "no price" : dollars(first.run.price_usd)}</strong> · {duration(first.run.time_s.total)} ·{" "}
          {first.run.fits ? "fits" : "does not fit"}
        </AtAGlance>
      )}
    </div>
  );
}

function headline(costed: readonly Costed[], runs: readonly RunDocument[]): string {
  const first = runs[0]!;
  const cost = first.price_usd === null ? "has no price" : `costs ${dollars(first.price_usd)}`;
  const one = `${many(first.tokens)} tokens on ${count(first.gpus)} of ${first.cluster}: ${cost} and takes ${duration(first.time_s.total)}.`;
  const cheapest = runs.slice(1).flatMap((run) => cheaper(first, run) ?? []);
  const none = costed.filter(({ laid }) => laid.current && laid.fields === null).map(({ cluster }) => `On ${cluster} it does not fit.`);
  return [one, ...cheapest, ...none].join(" ");
}

const fromTo = (range: readonly [number, number] | null, text: (value: number) => string) =>
  range ? `${text(range[0])} to ${text(range[1])}` : "";

function Table({ costed }: { costed: readonly Costed[] }) {
  const most = Math.max(...costed.map(({ run }) => (run ? (moneyInterval(run)?.[1] ?? run.price_usd ?? 0) : 0)), 1);
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Table of machines">
      <table data-table="cost">
        <thead>
          <tr>
            {["Machine", "Money", "Time", "Accelerator-hours", "Energy", "CO2", "MFU"].map((head, i) => (
              <th scope="col" key={head} class={i > 0 ? "n" : ""}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {costed.map(({ cluster, run, problems, busy, laid }, i) => (
            <tr key={i}>
              <th scope="row">{cluster}</th>
              {run && problems.length === 0 ? (
                <>
                  <td class="n">
                    {run.price_usd === null ? "no price" : dollars(run.price_usd)}
                    <small class="from-to">{fromTo(moneyInterval(run), dollars)}</small>
                    {run.price_usd !== null && (
                      <span class="money" aria-hidden="true">
                        <span style={{ width: `${(100 * run.price_usd) / most}%` }} />
                      </span>
                    )}
                  </td>
                  <td class="n">
                    {duration(run.time_s.total)}
                    <small class="from-to">{fromTo(stepInterval(run), duration)}</small>
                  </td>
                  <td class="n">{count(run.gpu_hours)}</td>
                  <td class="n">{energy(run.energy_j.total)}</td>
                  <td class="n">{mass(run.co2_kg)}</td>
                  <td class="n">{percent(run.mfu)}</td>
                </>
              ) : (
                <td colSpan={6}>
                  {problems.length > 0
                    ? problems.map(({ where, message }) => `${where} ${message}`).join("; ")
                    : laid.current && laid.fields === null
                      ? "does not fit"
                      : busy
                        ? "being asked …"
                        : ""}
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Beside({ a, b }: { a: RunDocument; b: RunDocument }) {
  const rows: Compared[] = [
    { name: "money", a: a.price_usd, b: b.price_usd, text: dollars },
    { name: "time", a: a.time_s.total, b: b.time_s.total, text: duration },
    { name: "accelerator-hours", a: a.gpu_hours, b: b.gpu_hours, text: count },
    { name: "energy", a: a.energy_j.total, b: b.energy_j.total, text: energy },
    { name: "CO2", a: a.co2_kg, b: b.co2_kg, text: mass },
    { name: "goodput", a: a.goodput, b: b.goodput, text: percent },
    { name: "MFU", a: a.mfu, b: b.mfu, text: percent },
  ];
  return <Differences rows={rows} />;
}
