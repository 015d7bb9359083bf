// Who sends what in a step: expected of a run, recorded in traces, or the two beside each other.
import { useEffect, useState } from "preact/hooks";

import { Form } from "../../app/Form";
import { Problems } from "../../app/Problems";
import { askWithFiles, problemsOfError, type Answer, type Problem, type Request } from "../../lib/api";
import { useAsking } from "../../lib/asking";
import { kFirstRun, kRunFields, kRunGroups, kRunNames, requestValue, runRequest, type RunField } from "../../lib/run";
import { place, setFields } from "../../lib/url";
import { Compared } from "./Compared";
import { isCompared, isMeasured, type CommsDocument } from "./documents";
import { Drop } from "./Drop";
import { Expected } from "./Expected";
import { Measured } from "./Measured";
import "./comms.css";

const kSmall: RunField = { name: "small", label: "Small is below", kind: "text", unit: "as 64 KiB" };
const kFields = [...kRunFields, kSmall];
const kGroups = [...kRunGroups.slice(0, -1), { title: "Messages", fields: [kSmall] }, ...kRunGroups.slice(-1)];

// The run where the address names none.
const kFirst = { ...kFirstRun, tp: "8", pp: "2", vpp: "5" };

export function CommsView() {
  const given = place.value.fields;
  const fields = given.model ? given : { ...kFirst, ...given };
  const [files, setFiles] = useState<readonly File[]>([]);
  const alone = files.length > 0 && fields.traces === "alone";
  const steps = fields["trace-steps"] ?? "";
  const more = steps === "" ? {} : { "trace-steps": requestValue({ name: "", label: "", kind: "count" }, steps) };
  const request = alone ? more : { ...runRequest(fields, kFields), ...(files.length > 0 ? more : {}) };
  const expected = useAsking<CommsDocument>("comms", files.length > 0 ? null : request);
  const traced = useTraces(files, request);
  const { answer, problems, busy } = files.length > 0 ? traced : expected;
  const document = answer?.document;
  const change: typeof setFields = (patch) => setFields({ ...(given.model ? {} : kFirst), ...patch });
  return (
    <div class="view">
      <div>
        <Drop files={files} onChange={setFiles} />
        {files.length > 0 && (
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
        {!alone && (
          <Form
            command="comms"
            groups={kGroups}
            fields={fields}
            problems={problems}
            onChange={(name, value) => change({ [name]: value })}
          />
        )}
      </div>
      <div class="answer" aria-busy={busy}>
        <Problems problems={problems} shown={kRunNames} />
        {busy && !document && <p role="status">asking…</p>}
        {document &&
          (isCompared(document) ? (
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

interface Traced {
  readonly answer: Answer<CommsDocument> | null;
  readonly problems: readonly Problem[];
  readonly busy: boolean;
}

const kNothing: Traced = { answer: null, problems: [], busy: false };

// Asks with the files whenever they or the run change.
function useTraces(files: readonly File[], request: Request): Traced {
  const [state, setState] = useState<Traced>(kNothing);
  const text = JSON.stringify(request);
  useEffect(() => {
    if (files.length === 0) {
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
  }, [files, text]);
  return state;
}
