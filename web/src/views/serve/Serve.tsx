// What serving a model takes: what requests get, the best ways on as many accelerators, and the same
// way under ever more load.
import type { ComponentChildren } from "preact";

import { AtAGlance } from "../../app/AtAGlance";
import { Facts } from "../../app/Facts";
import { Form } from "../../app/Form";
import { Own } from "../../app/Own";
import { Differences, PinBar } from "../../app/Pin";
import { Problems } from "../../app/Problems";
import { SameCommand } from "../../app/SameCommand";
import { PrintButton, SheetEnd } from "../../app/Sheet";
import { SumBar } from "../../charts/SumBar";
import { useAsking, type Asking } from "../../lib/asking";
import { mostOf } from "../../lib/sentences";
import { bytes, count, number, progressWords, seconds } from "../../lib/format";
import { pick, place, setFields, type Fields } from "../../lib/url";
import { usePinned } from "../../lib/usePinned";
import { amountOf, Curve } from "./Curve";
import { isAnswered, type BestDocument, type CurveDocument, type MemoryDocument, type ServedDocument } from "./documents";
import { Front } from "./Front";
import { beside, factsOf, memoryParts, nearServed, ofPool, whyNot } from "./numbers";
import { Passes } from "./Passes";
import {
  bestRequest,
  curveOf,
  curveRequest,
  kServeGroups,
  kServeNames,
  poolWords,
  servedRequest,
  servingOf,
  splitWords,
} from "./questions";

// What fields that were left empty came to.
function taken({ gpus, layout, weights, cache, engine, step_tokens, prefill }: ServedDocument): Record<string, string> {
  const always = { gpus: String(gpus), weights, cache, engine };
  if (prefill) return always; // each part has its own
  const { tp, pp, ep, dp } = layout;
  return {
    ...always,
    "step-tokens": String(step_tokens),
    tp: String(tp),
    pp: String(pp),
    ep: String(ep),
    dp: String(dp),
  };
}

// A field that keeps changing is followed by the answer at once, by searches when it rests.
const kRest = 400; // milliseconds

export function ServeView() {
  const given = place.value.fields;
  const fields = servingOf(given);
  const request = servedRequest(fields);
  const asking = useAsking<ServedDocument>("infer", request);
  const served = asking.answer?.document;
  const wrong = asking.problems.length > 0;
  const best = useAsking<BestDocument>("infer", wrong ? null : bestRequest(fields), { long: true, rest: kRest });
  const curve = useAsking<CurveDocument>("infer", wrong ? null : curveRequest(fields), { long: true, rest: kRest });
  const pinned = usePinned<ServedDocument>("infer", given, servedRequest);
  const change = (name: string, value: string) => setFields({ ...(fields === given ? {} : fields), [name]: value });
  return (
    <div class="view">
      <div>
        <Own fields={fields} onTake={(own) => setFields({ ...fields, ...pick(own, ["model", "cluster"]) })} />
        <Form
          command="infer"
          groups={kServeGroups}
          fields={fields}
          problems={asking.problems}
          taken={served ? taken(served) : {}}
          onChange={change}
        />
        <p class="soft">
          Of a run of training its model and its machine are taken. Its layout and number of accelerators say nothing of
          serving: the best ways are searched beside.
        </p>
      </div>
      <div class="answer" id="answer" tabIndex={-1} aria-busy={asking.busy}>
        <Problems problems={asking.problems} shown={kServeNames} />
        {served && (
          <div class="bar no-print">
            <PinBar fields={fields} />
            <PrintButton />
          </div>
        )}
        {served && !wrong && pinned && <Differences rows={beside(pinned, served)} />}
        {served && <Served served={served} old={wrong} />}
        <Searched title="The best ways" asking={best} sentence={bestSentence} long>
          {(document) => <Front best={document} served={wrong ? undefined : served} fields={fields} />}
        </Searched>
        <Searched title="Under ever more load" asking={curve} sentence={curveSentence}>
          {(document) => (
            <Curve
              curve={document}
              here={served && !wrong && document.curve === curveOf(fields) ? amountOf(document.curve, served) : undefined}
            />
          )}
        </Searched>
        <SameOnTheCommandLine fields={fields} />
      </div>
      {served && isAnswered(served) && served.ttft_s !== undefined && (
        <AtAGlance>
          <strong>{seconds(served.ttft_s)}</strong> to the first token{served.tpot_s !== undefined && `, ${seconds(served.tpot_s)} for each after it`} ·{" "}
          {served.fits ? "fits" : "does not fit"}
        </AtAGlance>
      )}
    </div>
  );
}

function Served({ served, old }: { served: ServedDocument; old: boolean }) {
  const why = whyNot(served);
  return (
    <>
      {old && <p class="soft">Below: the last way of serving that could be answered.</p>}
      <section class="panel" aria-label="What requests get" aria-live="polite">
        {isAnswered(served) && <h2>{headline(served)}</h2>}
        <p class="soft">
          {served.model} on {count(served.gpus)} accelerators of {served.cluster}, {wordsOf(served)},{" "}
          {served.weights} weights, {served.cache} cache, {served.engine}.
        </p>
        {why !== null && <p class="bad">{why}</p>}
        {isAnswered(served) && <Facts facts={factsOf(served)} />}
        {nearServed(served.interval_from) && <p class="soft">{nearServed(served.interval_from)}</p>}
      </section>
      <div class="pair">
        {served.prefill && served.decode ? (
          <>
            <Memory name="Memory of prefill" served={ofPool(served, served.prefill, 0)} />
            <Memory name="Memory of decode" served={ofPool(served, served.decode, served.sequences ?? 0)} />
          </>
        ) : (
          <Memory name="Memory" served={served} />
        )}
        {served.parts_s && <Passes prefill={served.parts_s.prefill} decode={served.parts_s.decode} />}
      </div>
    </>
  );
}

// What a request gets, in a sentence.
function headline({ ttft_s, tpot_s, throughput_output_tok_s: rate }: ServedDocument): string {
  const first = ttft_s === undefined ? [] : [`waits ${seconds(ttft_s)} for its first token`];
  const after = tpot_s === undefined ? [] : [`gets another every ${seconds(tpot_s)}`];
  const all = rate === undefined ? "" : `, ${count(rate)} tokens/s for all`;
  return `A request ${[...first, ...after].join(" and ") || "is answered"}${all}.`;
}

// "tp 8", or of prefill and decode apart both.
function wordsOf({ layout, prefill, decode }: ServedDocument): string {
  if (!prefill || !decode) return splitWords(layout);
  return `prefill on ${poolWords(prefill.layout, prefill.copies)}, decode on ${poolWords(decode.layout, decode.copies)}`;
}

function Memory({ name, served }: { name: string; served: ServedDocument }) {
  return (
    <section class="panel" aria-label={name}>
      <h2>{mostOf(`the ${name.toLowerCase()}`, memoryParts(served))}</h2>
      <SumBar
        title="Bytes of the fullest rank, as the engine takes them"
        whole="memory"
        parts={memoryParts(served)}
        text={bytes}
        limit={{ name: "capacity", value: served.memory_bytes.capacity }}
      />
      <p class="soft">
        {count(served.kv_tokens)} tokens of cache fit: {whatIsHeld(served.memory_bytes)}.
      </p>
    </section>
  );
}

function whatIsHeld({ cache_of_token, state_of_sequence }: MemoryDocument): string {
  const state = state_of_sequence > 0 ? [`${bytes(state_of_sequence)} a sequence`] : [];
  const cache = cache_of_token > 0 ? [`${bytes(cache_of_token)} a token`] : [];
  return [...cache, ...state].join(" and ");
}

function bestSentence({ front, gpus, tried, would_fit_gpus }: BestDocument): string {
  const users = front.flatMap(({ tokens_per_s_per_user }) => tokens_per_s_per_user ?? []);
  if (front.length === 0 && tried > 0) return "No way of serving keeps to the limits.";
  if (front.length === 0) {
    return `No way of serving fits${would_fit_gpus ? `; of ${count(would_fit_gpus)} accelerators some would` : ""}.`;
  }
  const [fast, much] = [Math.max(...users), Math.max(...front.map(({ tokens_per_s_per_gpu }) => tokens_per_s_per_gpu))];
  const user = users.length > 0 ? `up to ${number(fast)} tokens/s for a user, or ` : "";
  return `On ${count(gpus)} accelerators the best ways give ${user}up to ${number(much)} tokens/s an accelerator.`;
}

function curveSentence({ points, capacity_requests_per_s: capacity, binds }: CurveDocument): string {
  if (points.length === 0) return "Under no load can this way answer.";
  const most = Math.max(...points.map(({ throughput_output_tok_s }) => throughput_output_tok_s));
  const bears = capacity === undefined ? "" : `, which bears ${number(capacity)} requests/s${binds ? ` (${binds} binds)` : ""}`;
  return `Under ever more load this way${bears} gives up to ${count(most)} tokens/s.`;
}

interface SearchedProps<Document> {
  title: string;
  asking: Asking<Document>;
  sentence: (document: Document) => string;
  /** Too long for paper. */
  long?: boolean;
  children: (document: Document) => ComponentChildren;
}

// What takes a moment: it says how far it is, and its last good answer stays meanwhile.
function Searched<Document>({ title, asking, sentence, long, children }: SearchedProps<Document>) {
  const { answer, busy, progress, problems } = asking;
  if (!answer && !busy && problems.length === 0) return null;
  return (
    <section class={`panel ${long ? "long" : ""}`} aria-label={title} aria-busy={busy}>
      <header>
        <h2>{answer ? sentence(answer.document) : title}</h2>
        <span role="status" class="soft">
          {busy && (progress ? progressWords(progress) : "asking…")}
        </span>
      </header>
      {problems.length > 0 && <Problems problems={problems} />}
      {answer && children(answer.document)}
    </section>
  );
}

function SameOnTheCommandLine({ fields }: { fields: Fields }) {
  const best = bestRequest(fields);
  const curve = curveRequest(fields);
  const requests = [servedRequest(fields), ...(best ? [best] : []), curve];
  return (
    <SameCommand asked={requests.map((request) => ({ command: "infer", request }))}>
      <SheetEnd of="prices, measured servings and constants" />
    </SameCommand>
  );
}
