// The best layout of every legal one. A search may take long, so it starts when it is asked for, says
// how far it is, and can be given up.
import { useEffect, useState } from "preact/hooks";

import { BatchOffer } from "../../app/BatchOffer";
import { AtAGlance } from "../../app/AtAGlance";
import { ClusterKnobs } from "../../app/ClusterKnobs";
import { Form } from "../../app/Form";
import { Own } from "../../app/Own";
import { Differences, PinBar } from "../../app/Pin";
import { Problems } from "../../app/Problems";
import { SameCommand } from "../../app/SameCommand";
import { PrintButton, SheetEnd } from "../../app/Sheet";
import { useAsking } from "../../lib/asking";
import type { Request } from "../../lib/api";
import type { Compared } from "../../lib/compared";
import type { PlanBest, PlanDocument } from "../../lib/documents";
import { bytes, count, dollars, percent, progressWords, seconds, si } from "../../lib/format";
import { layoutWords, kPlanGroups, kPlanNames, planProblem, planRequest } from "../../lib/plan";
import { kFirstRun } from "../../lib/run";
import { tellFound } from "../../lib/sharedRun";
import { go, pick, place, setFields } from "../../lib/url";
import { usePinned } from "../../lib/usePinned";
import { Launch } from "../step/Launch";
import { Best } from "./Best";
import { Front } from "./Front";
import { WhatIf } from "./WhatIf";

// What fields that were left empty came to.
function taken({ objective, headroom, job }: PlanDocument): Record<string, string> {
  return {
    objective,
    headroom: `${headroom * 100}%`,
    precision: job.precision,
    framework: job.framework,
    task: job.task,
    optimizer: job.optimizer,
    attention: job.attention,
  };
}

export function PlanView() {
  const given = place.value.fields;
  const fields = given.model ? given : { ...kFirstRun, ...given };
  const request = planRequest(fields);
  // It opens with its answer; what is changed is searched when it is asked for.
  const [asked, setAsked] = useState<Request | null>(request);
  const asking = useAsking<PlanDocument>("plan", asked, { long: true });
  const { answer, answered, busy, progress } = asking;
  const problems = asking.problems.map(planProblem);
  const current = answered !== null && JSON.stringify(answered) === JSON.stringify(request);
  const flags = current ? answer?.document.best[0]?.flags : undefined;
  useEffect(() => {
    if (flags !== undefined && given.model) tellFound(fields, flags); // of a run that somebody named
  }, [flags, given]);
  const best = current ? answer?.document.best[0] : undefined;
  const pinned = usePinned<PlanDocument>("plan", given, planRequest, { long: true })?.best[0];
  const search = () => {
    setFields(fields); // so that the address names what is asked for
    setAsked({ ...request });
  };
  return (
    <div class="view">
      <div>
        <Own fields={fields} onTake={(taken) => go("plan", pick(taken, [...kPlanNames, "pin"]))} />
        <div class="buttons searching">
          {busy ? (
            <button type="button" onClick={() => setAsked(null)}>
              Cancel
            </button>
          ) : (
            <button type="button" class="main" disabled={current && problems.length === 0} onClick={search}>
              Search
            </button>
          )}
          <span role="status">{busy ? <Progress progress={progress} /> : current ? "" : answer && "changed since"}</span>
        </div>
        <Form
          command="plan"
          groups={kPlanGroups}
          fields={fields}
          problems={problems}
          taken={answer ? taken(answer.document) : {}}
          onChange={(name, value) => {
            setAsked(null);
            setFields({ ...(given.model ? {} : kFirstRun), [name]: value });
          }}
        />
        <ClusterKnobs
          value={fields.cluster ?? ""}
          onChange={(cluster) => {
            setAsked(null);
            setFields({ ...(given.model ? {} : kFirstRun), cluster });
          }}
        />
      </div>
      <div class="answer" id="answer" tabIndex={-1} aria-busy={busy}>
        <Problems problems={problems} shown={kPlanNames} />
        {best && (
          <div class="bar no-print">
            <PinBar fields={fields} />
            <PrintButton />
          </div>
        )}
        {best && pinned && <Beside a={pinned} b={best} />}
        {answer && answered ? (
          <Answer
            plan={answer.document}
            asked={answered}
            busy={busy}
            onBatch={(batch) => {
              const next = { ...fields, "global-batch": batch };
              setFields(next);
              setAsked(planRequest(next));
            }}
          />
        ) : (
          problems.length === 0 && (
            <p class="soft">
              {busy
                ? "Every layout that the framework offers is being searched ..."
                : "Search: every layout that the framework offers is looked at, and the best is proven."}
            </p>
          )
        )}
      </div>
      {best && (
        <AtAGlance>
          <strong>{seconds(best.step_time_s)}</strong> a step · {layoutWords(best.flags)} · MFU {percent(best.mfu)}
        </AtAGlance>
      )}
    </div>
  );
}

// The best of the pinned run and the best of the present one.
function Beside({ a, b }: { a: PlanBest; b: PlanBest }) {
  const rows: Compared[] = [
    { name: "step time of the best", a: a.step_time_s, b: b.step_time_s, text: seconds },
    { name: "MFU", a: a.mfu, b: b.mfu, text: percent },
    { name: "memory that must fit", a: a.memory_that_must_fit_bytes, b: b.memory_that_must_fit_bytes, text: bytes },
    { name: "tokens/s of each", a: a.tokens_per_s_per_gpu, b: b.tokens_per_s_per_gpu, text: count },
    { name: "energy of a step", a: a.energy_j, b: b.energy_j, text: (value) => si(value, "J") },
    ...(a.cost_dollars !== null || b.cost_dollars !== null
      ? [{ name: "cost of a step", a: a.cost_dollars, b: b.cost_dollars, text: dollars }]
      : []),
  ];
  return (
    <>
      <Differences rows={rows} />
      <p class="soft">
        A: {layoutWords(a.flags)}. Now: {layoutWords(b.flags)}.
      </p>
    </>
  );
}

function Progress({ progress }: { progress: { done: number; of: number | null; what: string } | null }) {
  if (!progress) return <>searching ...</>;
  const { done, of } = progress;
  return (
    <>
      {of !== null && <progress value={done} max={of} aria-label="Progress of the search" />} {progressWords(progress)}
    </>
  );
}

interface AnswerProps {
  plan: PlanDocument;
  asked: Request;
  busy: boolean;
  onBatch: (batch: string) => void;
}

function Answer({ plan, asked, busy, onBatch }: AnswerProps) {
  const best = plan.best[0];
  // The fields as the address would have them, for links to the Step view.
  const fields: Record<string, string> = {};
  for (const [name, value] of Object.entries(asked)) if (typeof value !== "object") fields[name] = String(value);
  return (
    <>
      <section class="panel" aria-labelledby="best">
        <h2 id="best">{best ? `The best takes ${seconds(best.step_time_s)} a step: ${layoutWords(best.flags)}` : "No layout fits"}</h2>
        <p class="soft">
          {plan.model} on {count(plan.gpus)} accelerators of {plan.cluster}, {plan.job.framework}, {plan.job.precision},{" "}
          {count(plan.job.global_batch)} sequences of {count(plan.job.seq)} tokens. {count(plan.layouts)} layouts searched
          for the best {plan.objective}:{" "}
          {plan.proven ? "proven" : busy ? "this is the best of a part of them, until all are searched" : "not proven, as not all of them were looked at"}.
        </p>
        <BatchOffer plan={plan} onTake={onBatch} />
        {best && <Best plan={plan} fields={fields} />}
      </section>
      {plan.pareto.length > 0 && (
        <section class="panel" aria-label="Time against memory">
          <Front plan={plan} fields={fields} />
        </section>
      )}
      <WhatIf plan={plan} fields={fields} />
      {plan.notes.length > 0 && (
        <section class="panel" aria-labelledby="notes">
          <h2 id="notes">What this rests on</h2>
          <ul class="notes">
            {plan.notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </section>
      )}
      <SameCommand asked={[{ command: "plan", request: asked }]}>
        {best && <Launch fields={fields} flags={best.flags} />}
        <SheetEnd />
      </SameCommand>
    </>
  );
}
