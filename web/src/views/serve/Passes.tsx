// Where a pass goes: one over prompts, and one that makes a token of each sequence.
import { Meanings } from "../../charts/Meanings";
import type { BarPart } from "../../charts/SumBar";
import { mostOf } from "../../lib/sentences";
import { seconds } from "../../lib/format";
import type { PassDocument } from "./documents";
import { passParts } from "./numbers";

const sumOf = (parts: readonly BarPart[]) => parts.reduce((all, part) => all + part.value, 0);

function Track({ name, parts }: { name: string; parts: readonly BarPart[] }) {
  const sum = sumOf(parts);
  return (
    <>
      <p class="soft">
        {name}: {seconds(sum)}
      </p>
      <div class="sumbar-track" role="img" aria-label={`${name}: ${seconds(sum)}; the table has the parts`}>
        {parts
          .filter((part) => part.value > 0)
          .map((part) => (
            <span
              key={part.name}
              class="sumbar-part"
              title={`${part.name}: ${seconds(part.value)} (${part.meaning})`}
              style={{ width: `${((100 * part.value) / sum).toFixed(3)}%`, background: part.colour }}
            />
          ))}
      </div>
    </>
  );
}

/** Both bars, each to its own scale, over one table. */
export function Passes({ prefill, decode }: { prefill: PassDocument; decode: PassDocument }) {
  const before = passParts(prefill);
  const after = passParts(decode);
  return (
    <section class="panel" aria-label="Where a pass goes">
      <h2>{mostOf("a pass over prompts", before)} {mostOf("one that makes a token", after)}</h2>
      <figure class="sumbar">
        <Track name="Prefill, over prompts" parts={before} />
        <Track name="Decode, a token of each sequence" parts={after} />
        <table>
          <caption>Seconds of a pass at the mean context</caption>
          <thead>
            <tr>
              <th scope="col">Part</th>
              <th scope="col" class="n">
                prefill
              </th>
              <th scope="col" class="n">
                decode
              </th>
            </tr>
          </thead>
          <tbody>
            {after.map((part, i) => (
              <tr key={part.name} class={part.value > 0 || before[i]!.value > 0 ? "" : "nothing"}>
                <th scope="row">
                  <span class="key" style={{ background: part.colour }} />
                  {part.name}
                </th>
                <td class="n">{seconds(before[i]!.value)}</td>
                <td class="n">{seconds(part.value)}</td>
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row">sum</th>
              <td class="n">{seconds(sumOf(before))}</td>
              <td class="n">{seconds(sumOf(after))}</td>
            </tr>
          </tfoot>
        </table>
        <Meanings parts={after} />
      </figure>
    </section>
  );
}
