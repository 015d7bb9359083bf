// What a user gets against what an accelerator makes: the ways that no other beats in both.
import { Figure } from "../../charts/Figure";
import { Scatter, type ScatterPoint } from "../../charts/Scatter";
import { domainOf, type Axis } from "../../charts/scales";
import { numbers, type Column } from "../../charts/table";
import { count, dollars, number, seconds } from "../../lib/format";
import { go, placeText, type Fields } from "../../lib/url";
import { isAnswered, type BestDocument, type OfferDocument, type ServedDocument } from "./documents";
import { offerFields, splitWords } from "./questions";

const userOf = (at: { tpot_s: number }) => 1 / at.tpot_s;

function columnsOf(fields: Fields): Column<OfferDocument>[] {
  return [
    {
      key: "split",
      head: "Split",
      value: (at) => splitWords(at.layout),
      cell: (at) => (
        <a href={placeText({ view: "serve", fields: offerFields(fields, at) })} title="Show this way of serving">
          {splitWords(at.layout)}
        </a>
      ),
      align: "left",
    },
    numbers("concurrency", "Clients of a copy", (at) => at.concurrency, count),
    numbers("tokens_per_s_per_user", "Tokens/s of a user", userOf, number),
    numbers("tokens_per_s_per_gpu", "Tokens/s an accelerator", (at) => at.tokens_per_s_per_gpu, number),
    numbers("ttft_s", "First token", (at) => at.ttft_s, seconds),
    numbers("tpot_s", "Each token", (at) => at.tpot_s, seconds),
    numbers("price_per_million_tokens", "$ a million tokens", (at) => at.price_per_million_tokens, dollars),
    { key: "binds", head: "Most of a pass", value: (at) => at.binds, align: "left" },
  ];
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
    const why = best.tried === 0 ? "No way of serving it fits." : "No way keeps to the limits.";
    return (
      <p class="bad">
        {why} {count(best.tried)} ways on {count(best.gpus)} accelerators hold it in memory.
      </p>
    );
  }
  const points: ScatterPoint[] = front.map((at) => ({
    x: userOf(at),
    y: at.tokens_per_s_per_gpu,
    colour: "var(--series-1)",
    title: `${splitWords(at.layout)}, ${count(at.concurrency)} clients of a copy`,
    lines: [
      ["of a user", `${number(userOf(at))} tokens/s`],
      ["of an accelerator", `${number(at.tokens_per_s_per_gpu)} tokens/s`],
      ["first token", seconds(at.ttft_s)],
      ["most of a decode pass", at.binds],
      ["Enter or click", "shows it"],
    ],
  }));
  if (served && isAnswered(served) && served.tpot_s > 0 && served.gpus === best.gpus) {
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
      note={`${count(best.tried)} ways of serving on ${count(best.gpus)} accelerators fit. None is both faster for a user and makes more of an accelerator than one on the blue line; orange: as asked.`}
      file="headway-serve-front"
      table={{ columns: columnsOf(fields), rows: front }}
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
        onPick={(i) => {
          const at = i === null ? undefined : front[i];
          if (at) go("serve", offerFields(fields, at));
        }}
      />
    </Figure>
  );
}
