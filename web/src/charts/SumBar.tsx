// One quantity as a bar of parts that add up to it, with a mark (a capacity), an interval, and a table
// that says the same in numbers.
import { Meanings } from "./Meanings";
import type { BarsPicture } from "./barsPicture";
import { PictureButtons } from "./PictureButtons";

export interface BarPart {
  readonly name: string;
  readonly value: number;
  /** A CSS colour. */
  readonly colour: string;
  /** What the part means. */
  readonly meaning?: string;
}

export interface SumBarProps {
  /** What the bar shows, with its unit and convention. */
  readonly title: string;
  readonly parts: readonly BarPart[];
  /** A value with its unit. */
  readonly text: (value: number) => string;
  /** What the sum is called. */
  readonly whole: string;
  /** A limit that the sum is held against. */
  readonly limit?: { readonly name: string; readonly value: number };
  /** Where four of five runs lay that the constants had not seen. */
  readonly interval?: readonly [number, number] | null;
}

export function SumBar({ title, parts, text, whole, limit, interval }: SumBarProps) {
  const sum = parts.reduce((all, part) => all + part.value, 0);
  const end = Math.max(sum, limit?.value ?? 0, interval?.[1] ?? 0) * 1.01;
  const share = (value: number) => `${((100 * value) / end).toFixed(3)}%`;
  const present = parts.filter((part) => part.value > 0);
  const over = limit !== undefined && sum > limit.value;
  const picture = (): BarsPicture => ({
    title,
    rows: [
      {
        label: whole,
        value: `${text(sum)}${interval ? `, ${text(interval[0])} to ${text(interval[1])}` : ""}${limit ? ` of ${text(limit.value)}` : ""}`,
        pieces: present.map((part) => ({ share: part.value / end, colour: part.colour })),
        ...(limit ? { mark: limit.value / end } : {}),
        ...(interval ? { range: [interval[0] / end, interval[1] / end] as const } : {}),
      },
    ],
    key: present.map((part) => ({ name: part.name, colour: part.colour, text: text(part.value) })),
  });
  return (
    <figure class="sumbar">
      <div class="sumbar-track" role="img" aria-label={`${title}: ${whole} ${text(sum)}; the table has the parts`}>
        {present.map((part) => (
          <span
            key={part.name}
            class="sumbar-part"
            title={`${part.name}: ${text(part.value)}${part.meaning ? ` (${part.meaning})` : ""}`}
            style={{ width: share(part.value), background: part.colour }}
          />
        ))}
        {limit && <span class={`sumbar-limit ${over ? "over" : ""}`} style={{ left: share(limit.value) }} />}
      </div>
      {interval && (
        <div class="sumbar-interval" aria-hidden="true">
          <span style={{ left: share(interval[0]), width: share(interval[1] - interval[0]) }} />
        </div>
      )}
      <table>
        <caption>
          {title}
          {interval && `; line: where 80 % of the runs lay that we had not seen, ${text(interval[0])} to ${text(interval[1])}`}
          {limit && `; mark: ${limit.name}, ${text(limit.value)}`}
        </caption>
        <thead>
          <tr>
            <th scope="col">Part</th>
            <th scope="col" class="n">
              {whole}
            </th>
            <th scope="col" class="n">
              Share
            </th>
          </tr>
        </thead>
        <tbody>
          {parts.map((part) => (
            <tr key={part.name} class={part.value > 0 ? "" : "nothing"}>
              <th scope="row">
                <span class="key" style={{ background: part.colour }} />
                {part.name}
              </th>
              <td class="n">{text(part.value)}</td>
              <td class="n">{sum > 0 ? `${((100 * part.value) / sum).toFixed(1)} %` : ""}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">sum</th>
            <td class="n">{text(sum)}</td>
            <td class="n">{limit ? `${((100 * sum) / limit.value).toFixed(1)} % of ${limit.name}` : "100.0 %"}</td>
          </tr>
        </tfoot>
      </table>
      {present.some((part) => part.meaning) && <Meanings parts={parts} />}
      <PictureButtons picture={picture} />
    </figure>
  );
}
