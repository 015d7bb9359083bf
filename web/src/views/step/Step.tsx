// One training step: how long it takes, where the time goes, whether it fits.
import { ClusterKnobs } from "../../app/ClusterKnobs";
import { Form } from "../../app/Form";
import { AtAGlance } from "../../app/AtAGlance";
import { Kept } from "../../app/Kept";
import { LaidOutBy, Unfit } from "../../app/LaidOutBy";
import { Own } from "../../app/Own";
import { Differences, PinBar } from "../../app/Pin";
import { Problems } from "../../app/Problems";
import { SameCommand } from "../../app/SameCommand";
import { PrintButton, SheetEnd } from "../../app/Sheet";
import { SumBar } from "../../charts/SumBar";
import type { Request } from "../../lib/api";
import { useAsking } from "../../lib/asking";
import type { Compared } from "../../lib/compared";
import type { LayoutDocument, PredictDocument } from "../../lib/documents";
import { bytes, count, percent, seconds, si } from "../../lib/format";
import { kMemory, kMemoryMeaning, kPartMeaning, kPartNames, kParts, memoryColour, partColour } from "../../lib/parts";
import { answerOf, useLaidOut } from "../../lib/laidOut";
import { nearWords } from "../../lib/near";
import { mostOf } from "../../lib/sentences";
import { kLayoutNames, layoutFields } from "../../lib/plan";
import { kFirstRun, kRunGroups, kRunNames, runRequest } from "../../lib/run";
import { go, place, setFields, type Fields } from "../../lib/url";
import { usePinned } from "../../lib/usePinned";
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
  const laid = useLaidOut(fields);
  const request = laid.fields && runRequest(laid.fields);
  const asking = useAsking<PredictDocument>("predict", request);
  const pinned = usePinned<PredictDocument>("predict", given, runRequest);
  const { document: step, problems, busy } = answerOf(laid, asking);
  const change = (name: string, value: string) => {
    // Who changes one degree of the best layout keeps the others.
    const found = kLayoutNames.has(name) && laid.searched ? laid.plan?.best[0]?.flags : undefined;
    setFields({ ...(given.model ? {} : kFirstRun), ...(found ? layoutFields(found) : {}), [name]: value });
  };
  return (
    <div class="view">
      <div>
        <Own fields={fields} onTake={(taken) => go("step", taken)} />
        <Form
          command="predict"
          groups={kRunGroups}
          fields={fields}
          problems={problems}
          taken={step ? taken(step.layout, step) : {}}
          onChange={change}
        />
        <ClusterKnobs value={fields.cluster ?? ""} onChange={(value) => change("cluster", value)} />
      </div>
      <div class="answer" id="answer" tabIndex={-1} aria-busy={busy}>
        <Problems problems={problems} shown={kRunNames} />
        <LaidOutBy laid={laid} fields={fields} />
        {step && (
          <div class="bar no-print">
            <PinBar fields={laid.fields} />
            <PrintButton />
          </div>
        )}
        {step && pinned && <Beside a={pinned} b={step} />}
        {step && <Step step={step} request={request} fields={fields} old={problems.length > 0} />}
        {request && (
          <SameCommand asked={[{ command: "predict", request }]}>
            <Launch fields={laid.fields!} />
            <SheetEnd />
          </SameCommand>
        )}
      </div>
      {step && (
        <AtAGlance>
          <strong>{seconds(step.step_time_s)}</strong> a step ·{" "}
          <span class={step.fits ? "good" : "bad"}>{step.fits ? "fits" : "does not fit"}</span> · MFU {percent(step.mfu)}
        </AtAGlance>
      )}
    </div>
  );
}

// The pinned run and the present one.
function Beside({ a, b }: { a: PredictDocument; b: PredictDocument }) {
  const rows: Compared[] = [
    { name: "step time", a: a.step_time_s, b: b.step_time_s, text: seconds },
    { name: "tokens/s", a: a.tokens_per_s, b: b.tokens_per_s, text: count },
    { name: "tokens/s of each", a: a.tokens_per_s_per_gpu, b: b.tokens_per_s_per_gpu, text: count },
    { name: "MFU", a: a.mfu, b: b.mfu, text: percent },
    { name: "memory", a: a.memory_bytes.total, b: b.memory_bytes.total, text: bytes },
    { name: "energy of a step", a: a.energy_j, b: b.energy_j, text: (value) => si(value, "J") },
    ...kParts
      .filter((name) => a.parts_s[name] > 0 || b.parts_s[name] > 0)
      .map((name) => ({ name: `time: ${name}`, a: a.parts_s[name], b: b.parts_s[name], text: seconds })),
  ];
  return <Differences rows={rows} />;
}

function headline(step: PredictDocument): string {
  const range = step.interval_step_time_s;
  const takes = `A step takes ${seconds(step.step_time_s)}`;
  return range
    ? `${takes}, between ${seconds(range[0])} and ${seconds(range[1])}: in such a range lay 80 % of the runs we had not seen.`
    : `${takes}; no measured runs say how far that may be off.`;
}

interface StepProps {
  step: PredictDocument;
  request: Request | null;
  fields: Fields;
  old: boolean;
}

function Step({ step, request, fields, old }: StepProps) {
  return (
    <>
      {old && <p class="soft">Below: the last run that could be predicted.</p>}
      {step.fits ? (
        <Kept of={[step]}>{() => <InNumbers step={step} />}</Kept>
      ) : (
        <>
          <Unfit what={step.model} needs={step.memory_bytes.total} capacity={step.memory_bytes.capacity} fields={fields} />
          <details class="panel">
            <summary>What it would do with memory enough</summary>
            <Numbers step={step} />
          </details>
        </>
      )}
      <Kept of={[step]}>{() => <Sums step={step} />}</Kept>
      <section class="panel long" aria-label="The step in time">
        <h2>What each stage does when, and what it waits for</h2>
        <InTime step={step} request={old ? null : request} />
      </section>
      <Kept of={[step]}>{() => <Told step={step} />}</Kept>
    </>
  );
}

function InNumbers({ step }: { step: PredictDocument }) {
  const near = nearWords(step.interval_from, step.job.framework);
  return (
    <section class="panel" aria-label="The step in numbers" aria-live="polite">
      <h2>{headline(step)}</h2>
      {near && <p class="soft">{near}</p>}
      <Numbers step={step} />
    </section>
  );
}

function Sums({ step }: { step: PredictDocument }) {
  const { total, capacity } = step.memory_bytes;
  return (
    <div class="pair">
      <section class="panel" aria-label="Where the time goes">
        <h2>{mostOf("the time", kParts.map((name) => ({ name: kPartNames[name], value: step.parts_s[name] })))}</h2>
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
      <section class="panel" aria-label="What the memory holds">
        <h2>{mostOf("the memory", kMemory.map((name) => ({ name: kMemoryMeaning[name], value: step.memory_bytes[name] })))}</h2>
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
          limit={{ name: "capacity", value: capacity }}
          interval={step.interval_memory_bytes}
        />
        <p class={step.fits ? "good" : "bad"}>
          {step.fits ? "It fits." : `It does not fit: ${bytes(total - capacity)} too much.`}
        </p>
      </section>
    </div>
  );
}

function callsSentence({ calls }: PredictDocument): string {
  if (calls.length === 0) return "One rank alone calls nobody.";
  const [all, exposed] = [calls.reduce((sum, call) => sum + call.count * call.seconds_each, 0), calls.reduce((sum, call) => sum + call.exposed_s, 0)];
  const most = calls.reduce((first, call) => (call.exposed_s > first.exposed_s ? call : first));
  const which = exposed > 0 ? `, most of it ${most.op} of ${most.group}` : "";
  return `A rank's calls take ${seconds(all)} a step; nothing hides ${seconds(exposed)} of it${which}.`;
}

function Told({ step }: { step: PredictDocument }) {
  return (
    <>
      <section class="panel long" aria-label="Calls of one rank">
        <h2>{callsSentence(step)}</h2>
        <Calls calls={step.calls} />
      </section>
      {step.notes.length > 0 && (
        <section class="panel" aria-labelledby="notes">
          <h2 id="notes">What this rests on</h2>
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
