// Trace files of one run, dropped or chosen.
import { useDropped } from "../../app/dropped";
import { kReader } from "../../lib/door";
import { bytes } from "../../lib/format";
import { namesOf, withMore } from "./files";

interface Props {
  files: readonly File[];
  onChange: (files: readonly File[]) => void;
}

export function Drop({ files, onChange }: Props) {
  const add = (more: FileList | null | undefined) => {
    if (!more || more.length === 0) return;
    onChange(withMore(files, [...more]));
  };
  const names = namesOf(files);
  const { over, listens } = useDropped(add);
  return (
    <fieldset class={`drop ${over ? "over" : ""}`} {...listens}>
      <legend>Traces</legend>
      <p class="soft">
        Drop the traces or logs of one run here (profiler traces, NCCL logs, nccl-tests, ...). {kReader} reads them;
        they go nowhere else.
      </p>
      <label class="file">
        Choose files
        <input
          type="file"
          multiple
          onChange={(event) => {
            add(event.currentTarget.files);
            event.currentTarget.value = ""; // the same file may be chosen again
          }}
        />
      </label>
      {files.length > 0 && (
        <ul class="chosen">
          {files.map((file, i) => (
            <li key={names[i]}>
              <span>
                {names[i]} <small class="soft">{bytes(file.size)}</small>
              </span>
              <button
                type="button"
                class="quiet"
                aria-label={`Remove ${names[i]}`}
                onClick={() => onChange(files.filter((each) => each !== file))}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      )}
    </fieldset>
  );
}
