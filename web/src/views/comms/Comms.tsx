// Who sends what in a step: expected of a run, recorded in traces, the two beside each other, or the study.
import { useEffect, useState } from "preact/hooks";

import { Form } from "../../app/Form";
import { LaidOutBy } from "../../app/LaidOutBy";
import { Own } from "../../app/Own";
import { Problems } from "../../app/Problems";
import { askWithFiles, problemsOfError, type Answer, type Problem, type Request } from "../../lib/api";
import { useAsking } from "../../lib/asking";
import { answerOf, useLaidOut } from "../../lib/laidOut";
import { kFirstRun, kRunFields, kRunGroups, kRunNames, requestValue, runRequest, type RunField } from "../../lib/run";
import { returns } from "../../lib/server";
import { go, place, setFields, type Fields } from "../../lib/url";
import { Compared } from "./Compared";
import { isCompared, isMeasured, isStudy, kStudyParts, type CommsDocument } from "./documents";
import { Drop } from "./Drop";
import { Expected } from "./Expected";
import { Measured } from "./Measured";
import { Study } from "./Study";
import { kStudyNames, studyPart } from "./study";
import "./comms.css";

const kSmall: RunField = { name: "small", label: "Small is below", kind: "text", unit: "as 64 KiB" };
const kFields = [...kRunFields, kSmall];
const kGroups = [...kRunGroups.slice(0, -1), { title: "Messages", fields: [kSmall] }, ...kRunGroups.slice(-1)];

const kStudyRequest: Request = { study: true };

// The run where the address names none.
const kFirst = { ...kFirstRun, tp: "8", pp: "2", vpp: "5" };

export function CommsView() {
  const given = place.value.fields;
  const fields = given.model ? given : { ...kFirst, ...given };
  const [files, setFiles] = useState<readonly File[]>([]);
  const alone = files.length > 0 && fields.traces === "alone";
  const steps = fields["trace-steps"] ?? "";
  const more = steps === "" ? {} : { "trace-steps": requestValue({ name: "", label: "", kind: "count" }, steps) };
  const studied = fields.study !== undefined;
  const laid = useLaidOut(fields, !alone && !studied);
  const request = alone ? more : laid.fields && { ...runRequest(laid.fields, kFields), ...(files.length > 0 ? more : {}) };
  const withFiles = files.length > 0 && !studied;
  const asked = useAsking<CommsDocument>("comms", studied ? kStudyRequest : withFiles ? null : request);
  const traced = useTraces(studied ? kNoFiles : files, request);
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
              <label for="traces-steps">Steps in the traces</label>
              <input
                id="traces-steps"
                type="text"
                inputMode="numeric"
                placeholder="found by itself"
                value={steps}
                onInput={(event) => change({ "trace-steps": event.currentTarget.value.trim() })}
              />
            </div>
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

interface Traced {
  readonly answer: Answer<CommsDocument> | null;
  readonly problems: readonly Problem[];
  readonly busy: boolean;
}

const kNoFiles: readonly File[] = [];
const kNothing: Traced = { answer: null, problems: [], busy: false };

// Asks with the files whenever they or the run change, and when a server that was lost is back.
function useTraces(files: readonly File[], request: Request | null): Traced {
  const [state, setState] = useState<Traced>(kNothing);
  const text = JSON.stringify(request);
  useEffect(() => {
    if (files.length === 0 || request === null) {
      setState(kNothing);
      return;
    }
    const ending = new AbortController();
    setState((before) => ({ ...before, busy: true }));
    // Files are sent anew with each question: a number that is being typed waits until it stands.
    const timer = setTimeout(() => {
      askWithFiles<CommsDocument>("comms", JSON.parse(text) as Request, files, ending.signal).then(
        (answer) => setState({ answer, problems: [], busy: false }),
        (error: unknown) => {
          if (ending.signal.aborted) return;
          setState((before) => ({ ...before, problems: problemsOfError(error), busy: false }));
        },
      );
    }, 250);
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
  }, [files, text, returns.value]);
  return state;
}
