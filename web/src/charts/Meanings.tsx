// What the parts of a bar are, folded below its table.
import { Unfolded } from "../app/Unfolded";

interface Part {
  readonly name: string;
  readonly meaning?: string | undefined;
}

export function Meanings({ parts }: { parts: readonly Part[] }) {
  return (
    <Unfolded summary="What the parts are">
      {() => (
        <dl class="meanings">
          {parts.map((part) => (
            <div key={part.name}>
              <dt>{part.name}</dt>
              <dd>{part.meaning}</dd>
            </div>
          ))}
        </dl>
      )}
    </Unfolded>
  );
}
