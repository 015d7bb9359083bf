// An answer in a few numbers, each with the convention that it follows.

export interface Fact {
  readonly name: string;
  readonly value: string;
  /** What is counted, or between what it may lie; several lines where they are several things. */
  readonly about?: string | readonly string[];
  readonly bad?: boolean;
}

export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl class="numbers">
      {facts.map(({ name, value, about, bad }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd class={bad ? "bad" : ""} data-number={name}>
            {value}
            {[about ?? []].flat().map((line) => line && <small key={line}>{line}</small>)}
          </dd>
        </div>
      ))}
    </dl>
  );
}
