// How large a training run can become before moving data stops it, for machines as they are and as the
// reader would have them.
import { useMemo, useState } from "preact/hooks";

import { Differences, PinBar } from "../../app/Pin";
import { Problems } from "../../app/Problems";
import { SameCommand } from "../../app/SameCommand";
import { PrintButton, SheetEnd } from "../../app/Sheet";
import { saveText } from "../../charts/download";
import { Columns } from "../../charts/Columns";
import { DataTable } from "../../charts/DataTable";
import { Figure } from "../../charts/Figure";
import { LineChart } from "../../charts/LineChart";
import { domainOf, type Axis } from "../../charts/scales";
import type { Request } from "../../lib/api";
import { useAsking } from "../../lib/asking";
import { useFollowing, type Followed, type Sooner } from "../../lib/followingAll";
import { percent } from "../../lib/format";
import { tomlText } from "../../lib/toml";
import { place, placeText, setFields } from "../../lib/url";
import { Choice, Edited } from "./Choice";
import {
  beside,
  degreesOf,
  kLimitParts,
  kMeasures,
  kModelColumns,
  kPrice,
  kSettingColumns,
  limitSentence,
  markersOf,
  modelRows,
  partRows,
  seriesOf,
  wallSentences,
  type Curve,
  type Measure,
} from "./curves";
import type { LimitsDocument, MachinesDocument } from "./documents";
import "./limits.css";
import { useFlat } from "./flat";
import { Knobs } from "./Knobs";
import { ownsOf, ownText, settingMembers, type OwnSetting } from "./settings";
import { changed, editedOf, editedWords, fieldsOf, kFirst, kPinned, lookOf, requestsOf } from "./state";

const kMachinesRequest: Request = { what: "machines" };

// The curve takes a third of the time that its limits between models take: it is drawn first, and until they have
// come those of the answer before stay, as everything does.
const kCurveFirst: Sooner<LimitsDocument> = {
  question: ({ smooth, ...rest }) => (smooth === true ? rest : null),
  shown: (curve, before) => ({
    ...curve,
    settings: curve.settings.map((setting, i) => {
      const smooth = before.settings[i]?.smooth;
      return smooth ? { ...setting, smooth } : setting;
    }),
  }),
};

const change: typeof setFields = (patch) => setFields(changed(place.value.fields, patch));

export function LimitsView() {
  const fields = fieldsOf(place.value.fields);
  const machines = useAsking<MachinesDocument>("list", kMachinesRequest);
  const numbers = machines.answer?.document.numbers ?? [];
  const edited = editedOf(fields);
  const machine = edited ? numbers.find((each) => each.name === edited.own.base) : undefined;

  const edit = (own: OwnSetting) => edited && change({ [edited.id]: ownText(own) });

  const requests = requestsOf(fields);
  const answers = useFollowing<LimitsDocument>("limits", requests, kCurveFirst);
  const owns = ownsOf(fields);
  const ids = [...requests.keys()];
  // Drawn anew with an answer, not with each move of a slider.
  const drawn = [ids.join(), owns.map(({ own }) => own.base).join(), ...ids.map((id) => answers.get(id)?.answer)];
  const curves = useMemo(() => curvesOf(ids, owns, answers), drawn);
  const all = [...answers.values()];
  const problems = all.flatMap((each) => each.problems).concat(machines.problems);
  const own = edited && answers.get(edited.id);
  const curveOf = (id: string) => curves.find((curve) => curve.id.startsWith(`${id}/`));
  const shown =
    curves.find((curve) => curve.id === fields.show) ??
    (fields.show && curveOf(fields.show)) ??
    (edited && curveOf(edited.id)) ??
    curves[0];
  const pinned = curveOf(kPinned);
  const now = edited && curveOf(edited.id);
  const measure = kMeasures.find(({ id }) => id === fields.y) ?? kMeasures[0]!;
  const price = priceOf(fields.price);
  const pictures = useMemo(
    () =>
      shown && (
        <Pictures
          curves={curves}
          shown={shown}
          measure={measure}
          price={price}
          onShow={(id) => change({ show: id })}
          onMeasure={(id) => change({ y: id === kMeasures[0]!.id ? undefined : id })}
          onPrice={(text) => change({ price: text })}
        />
      ),
    [curves, shown, measure, price],
  );
  const same = useMemo(
    () =>
      curves.length > 0 && (
        <SameCommand asked={ids.filter((id) => id !== kPinned).map((id) => ({ command: "limits", request: requests.get(id)! }))}>
          <p class="soft">
            The model of the limits study is idealised and states no range: every limit is what cannot be passed, not what a run
            would take.
          </p>
          <SheetEnd of="machines" />
        </SameCommand>
      ),
    drawn,
  );
  const [touched, setTouched] = useState<string | null>(null);
  const flat = useFlat(edited && machine && touched ? { ...edited, machine, key: touched } : null, fields);
  return (
    <div class="view">
      <form class="fields" onSubmit={(event) => event.preventDefault()} autocomplete="off">
        <Choice fields={fields} machines={numbers} change={change} />
        {edited && <Edited own={edited.own} machines={numbers} machine={machine} onChange={edit} />}
        {edited && machine && (
          <Knobs
            own={edited.own}
            machine={machine}
            problems={own?.problems ?? []}
            flat={flat}
            onChange={(next, key) => {
              setTouched(key);
              edit(next);
            }}
          />
        )}
        {edited && (
          <p class="buttons">
            <button type="button" onClick={() => saveText("headway-setting.toml", "text/plain", tomlText(settingMembers(edited.own)))}>
              Save the setting as a file
            </button>
            <span class="soft">which `headway limits headway-setting.toml` reads</span>
          </p>
        )}
        {own?.took != null && <p class="soft took">answered in {Math.round(own.took)} ms</p>}
      </form>
      <div class="answer" id="answer" tabIndex={-1} aria-busy={all.some((each) => each.busy)}>
        <Problems problems={problems} />
        {edited && (
          <div class="bar no-print">
            <PinBar fields={fields} words={editedWords} />
          </div>
        )}
        {curves.length > 0 && (
          <div class="bar no-print">
            <PrintButton />
          </div>
        )}
        {pinned && now && <Differences rows={beside(pinned.setting, now.setting)} />}
        {pictures}
        {same}
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

// US$ of a GPU for an hour, as the address has it.
function priceOf(text: string | undefined): number {
  const value = Number(text);
  return text && Number.isFinite(value) && value > 0 ? value : kPrice;
}

interface PicturesProps {
  curves: readonly Curve[];
  shown: Curve;
  measure: Measure;
  price: number;
  onShow: (id: string) => void;
  onMeasure: (id: string) => void;
  onPrice: (text: string) => void;
}

function Pictures({ curves, shown, measure, price, onShow, onMeasure, onPrice }: PicturesProps) {
  const series = curves.map((curve) => seriesOf(curve, measure, price));
  const x: Axis = {
    label: "training compute (FLOP)",
    kind: "log",
    domain: domainOf(
      curves.flatMap((c) => c.setting.rows.map((row) => row.training_flop)),
      "log",
    ),
  };
  const values = series.flatMap(({ points }) => points.map((point) => point.y));
  const highest = Math.max(...values.map((value) => value ?? 0), 0.1);
  const y: Axis =
    measure.id === "share"
      ? {
          label: measure.label,
          kind: "linear",
          domain: [0, Math.min(1, highest * 1.2)],
          format: (v) => `${Math.round(v * 100)} %`,
        }
      : { label: measure.label, kind: "log", domain: domainOf(values, "log") };
  const degrees = degreesOf(shown.setting);
  const sentences = wallSentences(shown.setting);
  const name = measure.id === "share" ? "Utilisation" : measure.name[0]!.toUpperCase() + measure.name.slice(1);
  return (
    <>
      <Figure
        title={`${name} against training compute`}
        note="Best layout at each size, run within the time allowed. Ring: first model at or below the linear share. Square: last feasible."
        file="headway-limits"
        table={{ columns: kModelColumns, rows: modelRows(curves) }}
        document={curves.map((curve) => curve.setting)}
      >
        <p>
          <label for="limits-y">shown as</label>{" "}
          <select
            id="limits-y"
            class="inline"
            value={measure.id}
            onChange={(event) => onMeasure(event.currentTarget.value)}
          >
            {kMeasures.map((each) => (
              <option key={each.id} value={each.id}>
                {each.name}
              </option>
            ))}
          </select>{" "}
          {measure.id === "money" && (
            <>
              <label for="limits-price">at US$ of a GPU and hour</label>{" "}
              <input
                id="limits-price"
                class="inline"
                type="number"
                min="0.01"
                step="0.01"
                value={price}
                onChange={(event) => onPrice(event.currentTarget.value)}
              />
            </>
          )}
        </p>
        <LineChart
          title={`${name} against training compute`}
          x={x}
          y={y}
          series={series}
          markers={markersOf(shown, measure)}
          height={380}
        />
      </Figure>
      <section class="panel">
        <h2>{limitSentence(shown.setting)}</h2>
        <DataTable
          caption="Limits of each setting"
          columns={kSettingColumns}
          rows={curves}
          selected={(curve) => curve === shown}
        />
        <h3>What ends it: {shown.setting.name}</h3>
        <ul class="walls">
          {sentences.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      </section>
      <div class="long">
        <Figure
        title={`Degrees of the best layout: ${shown.setting.name}`}
        note="Ranks over which each model is split; their product is the number of GPUs."
        file="headway-limits-degrees"
      >
        <LineChart
          title="Degrees of the best layout"
          x={x}
          y={{
            label: "degree",
            kind: "log",
            base: 2,
            domain: domainOf([1, ...degrees.flatMap(({ points }) => points.map((point) => point.y))], "log"),
          }}
          series={degrees}
          height={280}
        />
        </Figure>
      </div>
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
