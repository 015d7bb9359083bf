// Who sends what in a step: expected of a run, recorded in traces, the two beside each other, or the study.
import { useState } from "preact/hooks";

import { Form } from "../../app/Form";
import { LaidOutBy } from "../../app/LaidOutBy";
import { Own } from "../../app/Own";
import { Problems } from "../../app/Problems";
import { SameCommand } from "../../app/SameCommand";
import { PrintButton, SheetEnd } from "../../app/Sheet";
import type { Request } from "../../lib/api";
import { useAsking } from "../../lib/asking";
import { answerOf, useLaidOut } from "../../lib/laidOut";
import { kFirstRun, kRunFields, kRunGroups, kRunNames, requestValue, runRequest, type RunField } from "../../lib/run";
import { go, place, setFields, type Fields } from "../../lib/url";
import { Compared } from "./Compared";
import { isCompared, isMeasured, isStudy, kStudyParts, type CommsDocument } from "./documents";
import { Drop } from "./Drop";
import { Expected } from "./Expected";
import { TracesInTime } from "./InTime";
import { Measured } from "./Measured";
import { Study } from "./Study";
import { kStudyNames, studyPart } from "./study";
import { useTraces } from "./useTraces";
import "./comms.css";

const kSmall: RunField = { name: "small", label: "Small is below", kind: "text", unit: "as 64 KiB" };
const kFields = [...kRunFields, kSmall];
const kGroups = [...kRunGroups.slice(0, -1), { title: "Messages", fields: [kSmall] }, ...kRunGroups.slice(-1)];

const kStudyRequest: Request = { study: true };

const kNoFiles: readonly File[] = [];

// The run where the address names none.
const kFirst = { ...kFirstRun, tp: "8", pp: "2", vpp: "5" };

export function CommsView() {
  const given = place.value.fields;
  const fields = given.model ? given : { ...kFirst, ...given };
  const [files, setFiles] = useState<readonly File[]>([]);
  const alone = files.length > 0 && fields.traces === "alone";
  const steps = fields.steps ?? ""; // of the traces these alone
  const counted = alone ? "" : (fields["trace-steps"] ?? "");
  const more = {
    ...(steps === "" ? {} : { steps }),
    ...(counted === "" ? {} : { "trace-steps": requestValue({ name: "", label: "", kind: "count" }, counted) }),
  };
  const studied = fields.study !== undefined;
  const laid = useLaidOut(fields, !alone && !studied);
  const request = alone ? more : laid.fields && { ...runRequest(laid.fields, kFields), ...(files.length > 0 ? more : {}) };
  const withFiles = files.length > 0 && !studied;
  const asked = useAsking<CommsDocument>("comms", studied ? kStudyRequest : withFiles ? null : request);
  const traced = useTraces<CommsDocument>(studied ? kNoFiles : files, request);
  const asking = withFiles ? traced : asked;
  const { document, problems, busy } = answerOf(laid, asking);
  const change: typeof setFields = (patch) => setFields({ ...(given.model ? {} : kFirst), ...patch });
  return (
    <div class="view">
      <div>
        <StudyChoice fields={fields} />
        {!studied && <Drop files={files} onChange={setFiles} />}
        {!studied && !alone && <Own fields={fields} onTake={(taken) => go("comms", taken)} />}
        {withFiles && (
          <fieldset>
            <legend>Read them</legend>
            <div class="field">
              <label for="traces-how">How</label>
              <select
                id="traces-how"
                value={alone ? "alone" : "compared"}
                onChange={(event) => change({ traces: event.currentTarget.value === "alone" ? "alone" : "" })}
              >
                <option value="compared">against the run below</option>
                <option value="alone">on their own</option>
              </select>
            </div>
            <div class="field">
              <label for="traces-some">Only steps</label>
              <input
                id="traces-some"
                type="text"
                placeholder="all, or as 10..20"
                value={steps}
                onInput={(event) => change({ steps: event.currentTarget.value.trim() })}
              />
            </div>
            {!alone && (
              <div class="field">
                <label for="traces-steps">Steps in the traces</label>
                <input
                  id="traces-steps"
                  type="text"
                  inputMode="numeric"
                  placeholder="found by itself"
                  value={counted}
                  onInput={(event) => change({ "trace-steps": event.currentTarget.value.trim() })}
                />
              </div>
            )}
          </fieldset>
        )}
        {!alone && !studied && (
          <Form
            command="comms"
            groups={kGroups}
            fields={fields}
            problems={problems}
            onChange={(name, value) => change({ [name]: value })}
          />
        )}
      </div>
      <div class="answer" id="answer" tabIndex={-1} aria-busy={busy}>
        <Problems problems={problems} shown={kRunNames} />
        <LaidOutBy laid={laid} fields={fields} />
        {document && (
          <div class="bar no-print">
            <PrintButton />
          </div>
        )}
        {asking.busy && !document && <p role="status">asking…</p>}
        {document &&
          (isStudy(document) ? (
            <Study study={document} part={studyPart(fields.study)} />
          ) : isCompared(document) ? (
            <Compared document={document} />
          ) : isMeasured(document) ? (
            <Measured document={document} />
          ) : (
            <Expected document={document} />
          ))}
        {withFiles && document && (
          <section class="panel long" aria-labelledby="traces-in-time">
            <h2 id="traces-in-time">What each rank did when, and what it waited for</h2>
            <TracesInTime files={files} steps={steps} />
          </section>
        )}
        {document && !withFiles && (studied || request) && (
          <SameCommand asked={[{ command: "comms", request: studied ? kStudyRequest : request! }]}>
            <SheetEnd />
          </SameCommand>
        )}
        {document && withFiles && <SheetEnd of="the traces of this run; specifications, measurements and constants" />}
      </div>
    </div>
  );
}

// A run of the reader's own, or the study's.
function StudyChoice({ fields }: { fields: Fields }) {
  return (
    <>
      <div class="field wide sweep-choice">
        <label for="comms-what">What</label>
        <select
          id="comms-what"
          value={fields.study === undefined ? "" : "study"}
          onChange={(event) => setFields({ study: event.currentTarget.value === "study" ? kStudyParts[0] : undefined })}
        >
          <option value="">A run, or traces of one</option>
          <option value="study">The communication study</option>
        </select>
      </div>
      {fields.study !== undefined && (
        <div class="field wide">
          <label for="comms-part">Part</label>
          <select
            id="comms-part"
            value={studyPart(fields.study)}
            onChange={(event) => setFields({ study: event.currentTarget.value })}
          >
            {kStudyParts.map((part) => (
              <option key={part} value={part}>
                {kStudyNames[part]}
              </option>
            ))}
          </select>
        </div>
      )}
    </>
  );
}
