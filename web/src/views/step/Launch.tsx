// The files that start a run, in the words of a framework.
import { useState } from "preact/hooks";

import { Copy } from "../../app/Copy";
import { Problems } from "../../app/Problems";
import type { Request } from "../../lib/api";
import { useAsking } from "../../lib/asking";
import type { LaunchDocument } from "../../lib/documents";
import { stepFields } from "../../lib/plan";
import { runRequest } from "../../lib/run";
import type { Fields } from "../../lib/url";

export const kLaunchers = ["megatron", "torchtitan", "deepspeed", "nanotron"] as const;
// The framework whose habits a launcher's runs have.
const kFrameworkOf: Readonly<Record<string, string>> = {
  megatron: "megatron",
  torchtitan: "fsdp",
  deepspeed: "deepspeed",
  nanotron: "nanotron",
};

/** `flags`: of a layout that a plan found, beside the fields of the run. */
export function Launch({ fields, flags = "" }: { fields: Fields; flags?: string }) {
  const request: Request = runRequest(flags ? stepFields(fields, flags) : fields);
  const [launcher, setLauncher] = useState("");
  const framework = request.framework ?? "megatron";
  const asked = launcher === "" ? null : { ...request, emit: launcher };
  const asking = useAsking<LaunchDocument>("predict", asked);
  const launch = launcher === "" || asking.problems.length > 0 ? undefined : asking.answer?.document;
  return (
    <>
      <p class="buttons">
        <label for="launcher">Configuration that starts it</label>
        <select
          id="launcher"
          class="narrow"
          value={launcher}
          onChange={(event) => setLauncher(event.currentTarget.value)}
        >
          <option value="">none</option>
          {kLaunchers.map((name) => (
            <option key={name} value={name}>
              {name}
              {kFrameworkOf[name] === framework ? "" : ` (predicted as ${framework})`}
            </option>
          ))}
        </select>
      </p>
      {launcher !== "" && <Problems problems={asking.problems} />}
      {launch?.files.map((file) => (
        <div key={file.name}>
          <header class="file">
            <h3>
              {file.name} <span class="soft">for {launch.framework} {launch.version}</span>
            </h3>
            <Copy text={file.text} what={file.name} />
          </header>
          <pre class="text" tabIndex={0}>
            {file.text}
          </pre>
        </div>
      ))}
    </>
  );
}
