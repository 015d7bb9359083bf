// How large a training run can become before moving data stops it, for machines as they are and as the
// reader would have them.
import { useMemo } from "preact/hooks";

import { Problems } from "../../app/Problems";
import { Columns } from "../../charts/Columns";
import { DataTable } from "../../charts/DataTable";
import { Figure } from "../../charts/Figure";
import { LineChart } from "../../charts/LineChart";
import { domainOf, type Axis } from "../../charts/scales";
import type { Request } from "../../lib/api";
import { useAsking } from "../../lib/asking";
import { useFollowing, type Followed } from "../../lib/followingAll";
import { percent } from "../../lib/format";
import { place, placeText, setFields } from "../../lib/url";
import { Choice, Edited } from "./Choice";
import {
  kLimitParts,
  kModelColumns,
  kSettingColumns,
  markersOf,
  modelRows,
  partRows,
  seriesOf,
  type Curve,
} from "./curves";
import type { LimitsDocument, MachinesDocument } from "./documents";
import "./limits.css";
import { Knobs } from "./Knobs";
import { ownsOf, ownText, type OwnSetting } from "./settings";
import { changed, editedOf, fieldsOf, kFirst, lookOf, requestsOf } from "./state";

const kMachinesRequest: Request = { what: "machines" };

const change: typeof setFields = (patch) => setFields(changed(place.value.fields, patch));

export function LimitsView() {
  const fields = fieldsOf(place.value.fields);
  const machines = useAsking<MachinesDocument>("list", kMachinesRequest);
  const numbers = machines.answer?.document.numbers ?? [];
  const edited = editedOf(fields);
  const machine = edited ? numbers.find((each) => each.name === edited.own.base) : undefined;

  const edit = (own: OwnSetting) => edited && change({ [edited.id]: ownText(own) });

  const requests = requestsOf(fields);
  const answers = useFollowing<LimitsDocument>("limits", requests);
  const owns = ownsOf(fields);
  const ids = [...requests.keys()];
  // Drawn anew with an answer, not with each move of a slider.
  const drawn = [ids.join(), owns.map(({ own }) => own.base).join(), ...ids.map((id) => answers.get(id)?.answer)];
  const curves = useMemo(() => curvesOf(ids, owns, answers), drawn);
  const all = [...answers.values()];
  const problems = all.flatMap((each) => each.problems).concat(machines.problems);
  const own = edited && answers.get(edited.id);
  const shown =
    curves.find((curve) => curve.id === fields.show) ??
    curves.find((curve) => edited && curve.id.startsWith(`${edited.id}/`)) ??
    curves[0];
  const pictures = useMemo(
    () => shown && <Pictures curves={curves} shown={shown} onShow={(id) => change({ show: id })} />,
    [curves, shown],
  );
  return (
    <div class="view">
      <form class="fields" onSubmit={(event) => event.preventDefault()} autocomplete="off">
        <Choice fields={fields} machines={numbers} change={change} />
        {edited && <Edited own={edited.own} machines={numbers} machine={machine} onChange={edit} />}
        {edited && machine && (
          <Knobs own={edited.own} machine={machine} problems={own?.problems ?? []} onChange={edit} />
        )}
        {own?.took != null && <p class="soft took">answered in {Math.round(own.took)} ms</p>}
      </form>
      <div class="answer" id="answer" tabIndex={-1} aria-busy={all.some((each) => each.answer === null && each.problems.length === 0)}>
        <Problems problems={problems} />
        {pictures}
        {ids.length === 0 && <Empty />}
      </div>
    </div>
  );
}

function Empty() {
  return (
    <section class="panel" aria-labelledby="empty">
      <h2 id="empty">No settings</h2>
      <p>
        Under “Settings side by side” add a machine, one of the published comparisons, or a setting of your own, whose
        numbers have sliders. Each is a curve here: how large a training run it can do, and how well it is used.
      </p>
      <p>
        <a href={placeText({ view: "limits", fields: kFirst })}>Begin with an H100 and one like it to change</a>
      </p>
    </section>
  );
}

function curvesOf(
  ids: readonly string[],
  owns: readonly { id: string; own: OwnSetting }[],
  answers: ReadonlyMap<string, Followed<LimitsDocument>>,
): Curve[] {
  const out: Curve[] = [];
  for (const id of ids) {
    const base = owns.find((each) => each.id === id)?.own.base;
    for (const setting of answers.get(id)?.answer?.document.settings ?? []) {
      const machine = base && setting.machine !== base ? `${base}, changed` : setting.machine;
      out.push({ id: `${id}/${setting.name}`, setting, machine, ...lookOf(out.length) });
    }
  }
  return out;
}

interface PicturesProps {
  curves: readonly Curve[];
  shown: Curve;
  onShow: (id: string) => void;
}

function Pictures({ curves, shown, onShow }: PicturesProps) {
  const series = curves.map(seriesOf);
  const x: Axis = {
    label: "training compute (FLOP)",
    kind: "log",
    domain: domainOf(
      curves.flatMap((c) => c.setting.rows.map((row) => row.training_flop)),
      "log",
    ),
  };
  const highest = Math.max(...curves.flatMap((c) => c.setting.rows.map((row) => row.utilization)), 0.1);
  const y: Axis = {
    label: "utilisation (share of the dense peak)",
    kind: "linear",
    domain: [0, Math.min(1, highest * 1.2)],
    format: (v) => `${Math.round(v * 100)} %`,
  };
  return (
    <>
      <Figure
        title="Utilisation against training compute"
        note="Best layout at each size, run within the time allowed. Ring: first model at or below the linear share. Square: last feasible."
        file="headway-limits"
        table={{ columns: kModelColumns, rows: modelRows(curves) }}
        document={curves.map((curve) => curve.setting)}
      >
        <LineChart
          title="Utilisation against training compute"
          x={x}
          y={y}
          series={series}
          markers={markersOf(shown)}
          height={380}
        />
      </Figure>
      <section class="panel">
        <h2>Limits</h2>
        <DataTable
          caption="Limits of each setting"
          columns={kSettingColumns}
          rows={curves}
          selected={(curve) => curve === shown}
        />
      </section>
      <Figure
        title={`Where a step goes: ${shown.setting.name}`}
        note="Shares of the step of the best layout. Arithmetic is at the sustained rate."
        file="headway-limits-parts"
      >
        {curves.length > 1 && (
          <p>
            <label for="limits-shown">of setting</label>{" "}
            <select
              id="limits-shown"
              class="inline"
              value={shown.id}
              onChange={(event) => onShow(event.currentTarget.value)}
            >
              {curves.map((curve) => (
                <option key={curve.id} value={curve.id}>
                  {curve.setting.name}
                </option>
              ))}
            </select>
          </p>
        )}
        <Columns
          title="Where a step goes"
          xLabel="training compute (FLOP)"
          y={{ label: "share of the step", kind: "linear", domain: [0, 1], format: (v) => `${Math.round(v * 100)} %` }}
          rows={partRows(shown.setting)}
          categories={kLimitParts}
          text={percent}
          height={240}
          gap={0.1}
        />
      </Figure>
    </>
  );
}
