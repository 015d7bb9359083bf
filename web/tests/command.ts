// The command line, whose answers the page must show.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

export const repository = fileURLToPath(new URL("../../", import.meta.url));
export const binary = process.env.HEADWAY_BINARY ?? `${repository}build/release/apps/cli/headway`;

/** The document that `headway ARGS --json` prints, also where nothing is feasible. */
export function headway<Document>(...args: string[]): Document {
  const done = spawnSync(binary, [...args, "--json"], { encoding: "utf8", cwd: repository, maxBuffer: 1 << 28 });
  if (done.status !== 0 && done.status !== 1) throw new Error(`headway ${args.join(" ")}: ${done.stderr}`);
  return JSON.parse(done.stdout) as Document;
}
