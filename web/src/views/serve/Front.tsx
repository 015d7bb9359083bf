// What a user gets against what an accelerator makes: the ways that no other beats in both.
import { Figure } from "../../charts/Figure";
import { Scatter, type ScatterPoint } from "../../charts/Scatter";
import { domainOf, type Axis } from "../../charts/scales";
import { numbers, type Column } from "../../charts/table";
import { count, dollars, number, seconds } from "../../lib/format";
import { go, placeText, type Fields } from "../../lib/url";
import { isAnswered, type BestDocument, type OfferDocument, type ServedDocument } from "./documents";
import { offerFields, offerWords, splitWords } from "./questions";

const userOf = (at: { tpot_s: number }) => 1 / at.tpot_s;

/** A column of where four of five measured ones lie, its ends apart in the .csv. */
function heldColumns(
  key: "ttft_s" | "tpot_s" | "throughput_output_tok_s",
  head: string,
  text: (value: number) => string,
): Column<OfferDocument>[] {
  return [
    numbers(`${key}_from`, `${head}, 80 % from`, (at: OfferDocument) => at.interval?.[key]?.[0], text),
    numbers(`${key}_to`, "to", (at: OfferDocument) => at.interval?.[key]?.[1], text),
  ];
}

function columnsOf(fields: Fields, best: BestDocument): Column<OfferDocument>[] {
  const formats: Column<OfferDocument>[] =
    best.formats.length > 1
      ? [
          { key: "weights", head: "Weights", value: (at) => at.weights, align: "left" },
          { key: "cache", head: "Cache", value: (at) => at.cache, align: "left" },
        ]
      : [];
  return [
    {
      key: "split",
      head: "Split",
      value: offerWords,
      cell: (at) => (
        <a href={placeText({ view: "serve", fields: offerFields(fields, at) })} title="Show this way of serving">
          {offerWords(at)}
        </a>
      ),
      align: "left",
    },
    ...formats,
    numbers("step_tokens", "Step", (at) => at.prefill_step_tokens ?? at.step_tokens, count),
    numbers("concurrency", "Clients", (at) => at.concurrency, count),
    numbers("tokens_per_s_per_user", "User tokens/s", userOf, number),
    numbers("tokens_per_s_per_gpu", "Accelerator tokens/s", (at) => at.tokens_per_s_per_gpu, number),
    numbers("ttft_s", "First token", (at) => at.ttft_s, seconds),
    numbers("tpot_s", "Each token", (at) => at.tpot_s, seconds),
    ...heldColumns("ttft_s", "First", seconds),
    ...heldColumns("tpot_s", "Each", seconds),
    ...heldColumns("throughput_output_tok_s", "Output", count),
    numbers("price_per_million_tokens", "$/M tokens", (at) => at.price_per_million_tokens, dollars),
    { key: "binds", head: best.front.some((at) => at.prefill) ? "Binds" : "Most in", value: (at) => at.binds, align: "left" },
    { key: "bound", head: "Bound by", value: boundWords, align: "left" },
  ];
}

/** "memory, 64 %". */
function boundWords(at: OfferDocument): string {
  return `${at.bound}, ${Math.round(100 * (at.bound_shares[at.bound] ?? 0))} %`;
}

interface Props {
  best: BestDocument;
  /** The way that is shown above, where it is one on as many accelerators. */
  served: ServedDocument | undefined;
  fields: Fields;
}

export function Front({ best, served, fields }: Props) {
  const front = best.front.filter((at) => at.tpot_s > 0);
  if (front.length === 0) {
    const on = `on ${count(best.gpus)} ${best.gpus === 1 ? "accelerator" : "accelerators"}`;
    return (
      <p class="bad">
        {best.tried === 0
          ? `No way of serving it ${on} fits: more accelerators, or smaller formats.`
          : `None of the ${count(best.tried)} ways that fit ${on} keeps to the limits.`}
      </p>
    );
  }
  const points: ScatterPoint[] = front.map((at) => ({
    x: userOf(at),
    y: at.tokens_per_s_per_gpu,
    colour: "var(--series-1)",
    title: `${offerWords(at)}, ${count(at.concurrency)} clients ${at.prefill ? "of all" : "of a copy"}`,
    lines: [
      ["of a user", `${number(userOf(at))} tokens/s`],
      ["of an accelerator", `${number(at.tokens_per_s_per_gpu)} tokens/s`],
      ["first token", seconds(at.ttft_s)],
      ["weights, cache", `${at.weights}, ${at.cache}`],
      [at.prefill ? "what binds" : "most of a decode pass", at.binds],
      ["bound by", boundWords(at)],
      ["Enter or click", "shows it"],
    ],
  }));
  const asAsked = served && isAnswered(served) && served.tpot_s > 0 && served.gpus === best.gpus;
  if (asAsked) {
    points.push({
      x: userOf(served),
      y: served.tokens_per_s_per_gpu,
      colour: "var(--series-2)",
      title: `As asked: ${splitWords(served.layout)}`,
      lines: [
        ["of a user", `${number(userOf(served))} tokens/s`],
        ["of an accelerator", `${number(served.tokens_per_s_per_gpu)} tokens/s`],
      ],
    });
  }
  // Between two ways a user is as fast as promised only with the faster one.
  const path = front.flatMap((at, i): [number, number][] => {
    const slower = front[i + 1];
    const here: [number, number] = [userOf(at), at.tokens_per_s_per_gpu];
    return slower ? [here, [userOf(slower), at.tokens_per_s_per_gpu]] : [here];
  });
  const x: Axis = {
    label: "tokens/s of a user",
    kind: "linear",
    domain: domainOf([0, ...points.map((point) => point.x)], "linear", { zero: true }),
  };
  const y: Axis = {
    label: "output tokens/s an accelerator",
    kind: "linear",
    domain: domainOf([0, ...points.map((point) => point.y)], "linear", { zero: true }),
  };
  return (
    <Figure
      title="A user's speed against an accelerator's"
      note={`${count(best.tried)} ways of serving on ${count(best.gpus)} accelerators fit, ${count(best.placed)} are placed in time. None is both faster for a user and makes more of an accelerator than one on the blue line; ring: as asked.`}
      file="headway-serve-front"
      table={{ columns: columnsOf(fields, best), rows: front }}
      open
      document={best}
    >
      <Scatter
        title="A user's speed against an accelerator's"
        x={x}
        y={y}
        points={points}
        path={path}
        height={320}
        picked={asAsked ? front.length : null}
        onPick={(i) => {
          const at = i === null ? undefined : front[i];
          if (at) go("serve", offerFields(fields, at));
        }}
      />
    </Figure>
  );
}
