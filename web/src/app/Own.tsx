// Where a run may begin: one that was published, or a file of the reader's own, dropped, chosen or pasted.
import { useRef, useState } from "preact/hooks";

import { ask, problemsOfError, type Problem } from "../lib/api";
import { kReader } from "../lib/door";
import { readGiven, textOf } from "../lib/own";
import { published, publishedGroups } from "../lib/published";
import { kRunNames } from "../lib/run";
import { without, type Fields } from "../lib/url";
import { useDropped } from "./dropped";

interface Props {
  readonly fields: Fields;
  /** Takes the fields of another run. */
  readonly onTake: (fields: Fields) => void;
}

const kExpected =
  "Expected: a config.json of Hugging Face, a model or cluster .toml of Headway, a run file, a launch script of Megatron-LM or DeepSpeed, or a configuration of torchtitan or nanotron.";

export function Own(props: Props) {
  // A file takes its time to be read: what it gives is put into what stands there when it comes.
  const now = useRef(props);
  now.current = props;
  const takeRun = (run: (fields: Fields) => Fields) => {
    const { fields, onTake } = now.current;
    onTake({ ...without(fields, kRunNames), ...run(fields) });
  };
  // What a closed part would show is not asked for.
  const [open, setOpen] = useState(false);
  const [problems, setProblems] = useState<readonly Problem[]>([]);
  const [said, setSaid] = useState("");
  const take = async (text: string, name: string) => {
    try {
      const { document } = await ask<{ given: Record<string, unknown>; notes: readonly string[] }>("list", { what: "fields", of: text });
      takeRun((fields) => readGiven(document.given, fields, name));
      setProblems([]);
      setSaid([`${name} was read.`, ...document.notes].join(" "));
    } catch (error) {
      setSaid("");
      setProblems(problemsOfError(error));
    }
  };
  const taken = useRef(""); // a text that was pasted is not read again when its field is left
  const takeText = (text: string) => {
    taken.current = text;
    if (text.trim() !== "") void take(text, "The text");
  };
  const read = async (file: File | undefined) => {
    if (!file) return;
    const text = await textOf(file);
    if ("wrong" in text) {
      setSaid("");
      setProblems([{ where: file.name, message: text.wrong }]);
    } else await take(text.text, file.name);
  };
  const { over, listens } = useDropped((files) => {
    setOpen(true); // what was read, or is wrong, is said there
    void read(files[0]);
  });
  return (
    <details class={`own ${over ? "over" : ""}`} open={open} onToggle={(event) => setOpen(event.currentTarget.open)} {...listens}>
      <summary>Begin with a published run or a file of yours</summary>
      <div class="field wide">
        <label for="own-published">A published run</label>
        <select
          id="own-published"
          value=""
          onChange={(event) => {
            const run = published().find(({ name }) => name === event.currentTarget.value);
            if (run) takeRun((fields) => ({ ...run.run, ...("tokens" in fields ? { tokens: String(run.tokens) } : {}) }));
            setSaid(run ? `${run.title}: ${run.source}. ${run.remark}` : "");
          }}
        >
          <option value="">choose…</option>
          {(open ? publishedGroups() : []).map(({ title, names }) => (
            <optgroup label={title} key={title}>
              {names.map((run) => (
                <option key={run.name} value={run.name}>
                  {run.title}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
      </div>
      <p class="soft">Or drop a file here. {kReader} reads it; it goes nowhere else.</p>
      <label class="file">
        Choose a file
        <input
          type="file"
          onChange={(event) => {
            void read(event.currentTarget.files?.[0]);
            event.currentTarget.value = "";
          }}
        />
      </label>
      <div class="field wide">
        <label for="own-text">Or paste its text</label>
        <textarea
          id="own-text"
          rows={3}
          spellcheck={false}
          onInput={(event) => event.inputType === "insertFromPaste" && takeText(event.currentTarget.value)}
          onChange={({ currentTarget: { value } }) => value !== taken.current && takeText(value)}
        />
      </div>
      <p role="status" class="soft">
        {said}
      </p>
      {problems.length > 0 && (
        <div role="alert" class="problems">
          {problems.map(({ where, message }) => (
            <p key={where + message}>
              {where && where !== "of" && <code>{where}</code>} {message}
            </p>
          ))}
          <p>{kExpected} What stood here before is still shown.</p>
        </div>
      )}
    </details>
  );
}
