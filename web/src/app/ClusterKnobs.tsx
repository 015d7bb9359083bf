// The run's machine changed by sliders, and saved as a file that can be dropped here again.
import { saveText } from "../charts/download";
import { baseOf, clusterKnobs, valueIn, withValue } from "../lib/cluster";
import { clusterNumbers } from "../lib/lists";
import { ownFiles } from "../lib/lines";
import { describedIn } from "../lib/run";
import { Slider } from "./Slider";
import { Unfolded } from "./Unfolded";

interface Props {
  /** The field of the cluster. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

export function ClusterKnobs(props: Props) {
  const described = describedIn(props.value);
  return (
    <div class="fields">
      <Unfolded summary={<>Change the machine by sliders {described && <span class="badge">changed</span>}</>}>{() => <Knobs {...props} />}</Unfolded>
    </div>
  );
}

function Knobs({ value, onChange }: Props) {
  const base = baseOf(value);
  const numbers = base === null ? undefined : clusterNumbers(base);
  if (!numbers) return <p class="soft">This machine builds on no built-in one: what it is stands in its file.</p>;
  const described = describedIn(value);
  const [file] = described ? ownFiles({ command: "predict", request: { cluster: described } }) : [];
  return (
    <>
      <p class="soft about">Of {base}; all else is as there.</p>
      {clusterKnobs(numbers).map((knob) => {
        const now = valueIn(value, knob);
        return (
          now !== null && (
            <Slider key={knob.key} knob={knob} value={now} problems={[]} flat={null} onChange={(next) => onChange(withValue(value, knob, next))} />
          )
        );
      })}
      {file && (
        <p class="buttons">
          <button type="button" onClick={() => saveText(file.name, "text/plain", file.text)}>
            Save as {file.name}
          </button>
        </p>
      )}
    </>
  );
}
