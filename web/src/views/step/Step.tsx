// One training step: how long it takes, where the time goes, whether it fits.
import { Copy } from "../../app/Copy";
import { Form } from "../../app/Form";
import { Problems } from "../../app/Problems";
import { SumBar } from "../../charts/SumBar";
import type { Request } from "../../lib/api";
import { useAsking } from "../../lib/asking";
import type { LayoutDocument, PredictDocument } from "../../lib/documents";
import { bytes, seconds } from "../../lib/format";
import { kMemory, kMemoryMeaning, kPartMeaning, kParts, memoryColour, partColour } from "../../lib/parts";
import { commandLine, kFirstRun, kRunGroups, kRunNames, runRequest } from "../../lib/run";
import { place, setFields } from "../../lib/url";
import { Calls } from "./Calls";
import { InTime } from "./InTime";
import { Launch } from "./Launch";
import { Numbers } from "./Numbers";

// What fields that were left empty came to.
function taken(layout: LayoutDocument, step: PredictDocument): Record<string, string> {
  return {
    gpus: String(layout.gpus),
    dp: String(layout.dp),
    tp: String(layout.tp),
    cp: String(layout.cp),
    pp: String(layout.pp),
    vpp: String(layout.vpp),
    ep: String(layout.ep),
    etp: String(layout.etp),
    "micro-batch": String(layout.micro_batch),
    zero: String(layout.zero),
    recompute: layout.recompute,
    "recompute-every": String(layout.recompute_every),
    schedule: layout.schedule,
    offload: layout.offload.join(",") || "none",
    "cp-exchange": layout.cp_exchange,
    order: layout.order,
    precision: step.job.precision,
    framework: step.job.framework,
    task: step.job.task,
    optimizer: step.job.optimizer,
    attention: step.job.attention,
    "attention-flops": step.attention_flops,
  };
}

export function StepView() {
  const given = place.value.fields;
  const fields = given.model ? given : { ...kFirstRun, ...given };
  const request = runRequest(fields);
  const asking = useAsking<PredictDocument>("predict", request);
  const step = asking.answer?.document;
  return (
    <div class="view">
      <Form
        command="predict"
        groups={kRunGroups}
        fields={fields}
        problems={asking.problems}
        taken={step ? taken(step.layout, step) : {}}
        onChange={(name, value) => setFields({ ...(given.model ? {} : kFirstRun), [name]: value })}
      />
      <div class="answer" aria-busy={asking.busy}>
        <Problems problems={asking.problems} shown={kRunNames} />
        {step && <Step step={step} request={request} old={asking.problems.length > 0} />}
        <section class="panel" aria-labelledby="same">
          <header>
            <h2 id="same">The same on the command line</h2>
            <Copy text={commandLine("predict", request)} what="command" />
          </header>
          <pre class="text command">
            {commandLine("predict", request)}
          </pre>
          <Launch fields={fields} />
        </section>
      </div>
    </div>
  );
}

function Step({ step, request, old }: { step: PredictDocument; request: Request; old: boolean }) {
  return (
    <>
      {old && <p class="soft">Below: the last run that could be predicted.</p>}
      <section class="panel" aria-label="The step in numbers" aria-live="polite">
        <Numbers step={step} />
      </section>
      <div class="pair">
        <section class="panel" aria-labelledby="time">
          <h2 id="time">Where the time goes</h2>
          <SumBar
            title="Seconds of one step on the rank that sets the pace; communication: what nothing hides"
            whole="time"
            parts={kParts.map((name) => ({
              name,
              value: step.parts_s[name],
              colour: partColour(name),
              meaning: kPartMeaning[name],
            }))}
            text={seconds}
            interval={step.interval_step_time_s}
          />
        </section>
        <section class="panel" aria-labelledby="memory">
          <h2 id="memory">Memory</h2>
          <SumBar
            title="Bytes on the fullest rank"
            whole="memory"
            parts={kMemory.map((name) => ({
              name,
              value: step.memory_bytes[name],
              colour: memoryColour(name),
              meaning: kMemoryMeaning[name],
            }))}
            text={bytes}
            limit={{ name: "capacity", value: step.memory_bytes.capacity }}
            interval={step.interval_memory_bytes}
          />
          <p class={step.fits ? "good" : "bad"}>
            {step.fits
              ? "It fits."
              : `It does not fit: ${bytes(step.memory_bytes.total - step.memory_bytes.capacity)} too much.`}
          </p>
        </section>
      </div>
      <section class="panel" aria-labelledby="in-time">
        <h2 id="in-time">The step in time</h2>
        <InTime step={step} request={old ? null : request} />
      </section>
      <section class="panel" aria-labelledby="calls">
        <h2 id="calls">Calls of one rank</h2>
        <Calls calls={step.calls} />
      </section>
      {step.notes.length > 0 && (
        <section class="panel" aria-labelledby="notes">
          <h2 id="notes">Notes and assumptions</h2>
          <ul class="notes">
            {step.notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}
