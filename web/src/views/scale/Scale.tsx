// One run along one axis, and where more brings little; or a whole run, in days and money.
import { Form } from "../../app/Form";
import { LaidOutBy } from "../../app/LaidOutBy";
import { Own } from "../../app/Own";
import { Problems } from "../../app/Problems";
import { SameCommand } from "../../app/SameCommand";
import { PrintButton, SheetEnd } from "../../app/Sheet";
import { useAsking } from "../../lib/asking";
import { progressWords } from "../../lib/format";
import { answerOf, useLaidOut } from "../../lib/laidOut";
import { kRunNames } from "../../lib/run";
import { go, place, setFields, without } from "../../lib/url";
import { isRun, type ScaleDocument } from "./documents";
import { fastest, isApart, kFirstMethods, kMethodGroups, kMethods, methodRequest } from "./methods";
import { Methods } from "./Methods";
import { isWholeRun, kFirstSweep, kFirstWhole, kSweeps, kWholeRun, scaleGroups, scaleRequest, sweepOf } from "./sweeps";
import { Swept } from "./Swept";
import { useMethods } from "./useMethods";
import { Whole } from "./Whole";

// What a whole run is trained on where nothing was said yet: as much as a sweep takes.
const kUsualTokens = "1T";

export function ScaleView() {
  const given = place.value.fields;
  const first = given.sweep === kMethods ? kFirstMethods : isWholeRun(given) ? kFirstWhole : kFirstSweep;
  const fields = given.model ? given : { ...first, ...given };
  const whole = isWholeRun(fields);
  const byMethod = fields.sweep === kMethods;
  const chosen = byMethod ? kMethods : whole ? kWholeRun : sweepOf(fields).id;
  // What tries layouts by itself needs none.
  const laid = useLaidOut(fields, chosen !== "layout" && fields.best !== "true");
  const request = laid.fields && !byMethod ? scaleRequest(laid.fields) : null;
  const asking = useAsking<ScaleDocument>("scale", request, { long: !whole, rest: 250 });
  const methods = useMethods(byMethod ? laid.fields : null);
  const swept = answerOf(laid, asking);
  const document = byMethod ? undefined : swept.document;
  const { problems, busy } = byMethod && laid.problems.length === 0 ? methods : swept;
  const change: typeof setFields = (patch) => setFields({ ...(given.model ? {} : first), ...patch });
  const choose = (sweep: string) =>
    change(sweep === kWholeRun && !fields.tokens ? { sweep, tokens: kUsualTokens } : { sweep });
  const onMetric = (metric: string) => change({ metric });
  const groups = byMethod ? kMethodGroups : scaleGroups(fields);
  const { progress } = asking;
  return (
    <div class="view">
      <div>
        <Own fields={fields} onTake={(taken) => go("scale", { ...without(fields, kRunNames), ...taken })} />
        <div class="field wide sweep-choice">
          <label for="scale-sweep">What changes</label>
          <select id="scale-sweep" value={chosen} onChange={(event) => choose(event.currentTarget.value)}>
            {kSweeps.map(({ id, title }) => (
              <option key={id} value={id}>
                {title}
              </option>
            ))}
            <option value={kMethods}>The method of training</option>
            <option value={kWholeRun}>Nothing: a whole run</option>
          </select>
        </div>
        <Form
          command={byMethod ? "predict" : `scale ${chosen}`}
          groups={groups}
          fields={fields}
          problems={problems}
          taken={Object.fromEntries((document?.assumptions ?? []).map(({ name, value }) => [name, value]))}
          onChange={(name, value) => change({ [name]: value })}
        />
      </div>
      <div class="answer" id="answer" tabIndex={-1} aria-busy={busy}>
        <Problems problems={problems} shown={groups.flatMap((group) => group.fields.map(({ name }) => name))} />
        <p role="status" class="soft status">
          {(asking.busy || methods.busy) && (progress ? progressWords(progress) : "asking…")}
        </p>
        <LaidOutBy laid={laid} fields={fields} />
        {(document || methods.rows.length > 0) && (
          <div class="bar no-print">
            <PrintButton />
          </div>
        )}
        {byMethod && laid.fields && (
          <>
            <Methods rows={methods.rows} fields={laid.fields} />
            {methods.rows.length > 0 && (
              <SameCommand
                // The one that all are compared with, and the fastest of the others.
                asked={[null, fastest(methods.rows, isApart(laid.fields))?.method ?? null].map((method) => ({
                  command: "predict",
                  request: methodRequest(laid.fields!, method),
                }))}
              >
                <SheetEnd of="methods, measurements and constants" />
              </SameCommand>
            )}
          </>
        )}
        {document && request && (
          <>
            {isRun(document) ? (
              <Whole run={document} metric={fields.metric} onMetric={onMetric} />
            ) : (
              // An answer to another sweep is drawn as what it is until the new one comes.
              <Swept
                document={document}
                sweep={kSweeps.find(({ id }) => id === document.axis) ?? sweepOf(fields)}
                metric={fields.metric}
                onMetric={onMetric}
              />
            )}
            <SameCommand asked={[{ command: "scale", request }]}>
              <SheetEnd of="prices, measurements and constants" />
            </SameCommand>
          </>
        )}
      </div>
    </div>
  );
}
