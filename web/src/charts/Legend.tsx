export interface Entry {
  id: string;
  name: string;
  colour: string;
  dash?: string | undefined;
  shape?: "line" | "box";
}

interface Props {
  entries: Entry[];
  hidden?: ReadonlySet<string>;
  onToggle?: (id: string) => void;
}

function Mark({ entry }: { entry: Entry }) {
  if (entry.shape === "box") return <span class="chart-swatch" style={{ background: entry.colour }} />;
  return (
    <svg class="chart-mark" width="20" height="8" aria-hidden="true">
      <line x1="0" x2="20" y1="4" y2="4" style={{ stroke: entry.colour }} stroke-dasharray={entry.dash} />
    </svg>
  );
}

/** What the colours mean. With onToggle each entry is a switch that shows or hides what it names. */
export function Legend({ entries, hidden, onToggle }: Props) {
  return (
    <ul class="chart-legend">
      {entries.map((entry) => (
        <li key={entry.id}>
          {onToggle ? (
            <button
              type="button"
              aria-pressed={!hidden?.has(entry.id)}
              title={hidden?.has(entry.id) ? `show ${entry.name}` : `hide ${entry.name}`}
              onClick={() => onToggle(entry.id)}
            >
              <Mark entry={entry} />
              {entry.name}
            </button>
          ) : (
            <span>
              <Mark entry={entry} />
              {entry.name}
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}
