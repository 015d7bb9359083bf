// One run along one axis, and where more brings little; or a whole run, in days and money.
import { Form } from "../../app/Form";
import { LaidOutBy } from "../../app/LaidOutBy";
import { Own } from "../../app/Own";
import { Problems } from "../../app/Problems";
import { SameCommand } from "../../app/SameCommand";
import { useAsking } from "../../lib/asking";
import { progressWords } from "../../lib/format";
import { answerOf, useLaidOut } from "../../lib/laidOut";
import { kRunNames } from "../../lib/run";
import { go, place, setFields, without } from "../../lib/url";
import { isRun, type ScaleDocument } from "./documents";
import { isWholeRun, kFirstSweep, kFirstWhole, kSweeps, kWholeRun, scaleGroups, scaleRequest, sweepOf } from "./sweeps";
import { Swept } from "./Swept";
import { Whole } from "./Whole";

// What a whole run is trained on where nothing was said yet: as much as a sweep takes.
const kUsualTokens = "1T";

export function ScaleView() {
  const given = place.value.fields;
  const first = isWholeRun(given) ? kFirstWhole : kFirstSweep;
  const fields = given.model ? given : { ...first, ...given };
  const whole = isWholeRun(fields);
  const chosen = whole ? kWholeRun : sweepOf(fields).id;
  // What tries layouts by itself needs none.
  const laid = useLaidOut(fields, chosen !== "layout" && fields.best !== "true");
  const request = laid.fields && scaleRequest(laid.fields);
  const asking = useAsking<ScaleDocument>("scale", request, { long: !whole, rest: 250 });
  const { document, problems, busy } = answerOf(laid, asking);
  const change: typeof setFields = (patch) => setFields({ ...(given.model ? {} : first), ...patch });
  const choose = (sweep: string) =>
    change(sweep === kWholeRun && !fields.tokens ? { sweep, tokens: kUsualTokens } : { sweep });
  const onMetric = (metric: string) => change({ metric });
  const groups = scaleGroups(fields);
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
            <option value={kWholeRun}>Nothing: a whole run</option>
          </select>
        </div>
        <Form
          command={`scale ${chosen}`}
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
          {asking.busy &&
            (progress ? progressWords(progress) : "asking…")}
        </p>
        <LaidOutBy laid={laid} fields={fields} />
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
            <SameCommand asked={[{ command: "scale", request }]} />
          </>
        )}
      </div>
    </div>
  );
}
