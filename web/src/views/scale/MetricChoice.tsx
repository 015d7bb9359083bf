// Which quantity the curves show.

interface Props {
  metrics: readonly { readonly id: string; readonly label: string }[];
  chosen: string;
  onChoose: (id: string) => void;
}

export function MetricChoice({ metrics, chosen, onChoose }: Props) {
  return (
    <p class="no-print">
      <label for="scale-metric">Show</label>{" "}
      <select
        id="scale-metric"
        class="inline"
        value={chosen}
        onChange={(event) => onChoose(event.currentTarget.value)}
      >
        {metrics.map(({ id, label }) => (
          <option key={id} value={id}>
            {label.replace(/ \(.*/, "")}
          </option>
        ))}
      </select>
    </p>
  );
}
