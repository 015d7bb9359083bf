// The command line, whose answers the page must show.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

export const repository = fileURLToPath(new URL("../../", import.meta.url));
export const binary = process.env.HEADWAY_BINARY ?? `${repository}build/release/apps/cli/headway`;

const said = new Map<string, string>();

/** The document that `headway ARGS --json` prints, also where nothing is feasible. The same question has the same
 * answer: it is asked once, unless it names files, which a test may write anew. */
export function headway<Document>(...args: string[]): Document {
  const key = args.some((arg) => /\.(toml|json)$/.test(arg)) ? null : args.join("\n");
  const text = (key !== null && said.get(key)) || ask(args);
  if (key !== null) said.set(key, text);
  return JSON.parse(text) as Document;
}

function ask(args: readonly string[]): string {
  const done = spawnSync(binary, [...args, "--json"], { encoding: "utf8", cwd: repository, maxBuffer: 1 << 28 });
  if (done.status !== 0 && done.status !== 1) throw new Error(`headway ${args.join(" ")}: ${done.stderr}`);
  return done.stdout;
}
