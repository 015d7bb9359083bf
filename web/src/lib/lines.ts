// The same question elsewhere: a line of the command line, a line of Python, and the files that the former names.
import type { Request } from "./api";
import { tomlText } from "./toml";

/** A question as the server is asked it. */
export interface Asked {
  readonly command: string;
  readonly request: Request;
}

export interface OwnFile {
  readonly name: string;
  readonly text: string;
}

type Members = Readonly<Record<string, unknown>>;
const isDescribed = (value: unknown): value is Members => typeof value === "object" && value !== null && !Array.isArray(value);

// The command line reads descriptions from files: a configuration of Hugging Face's as it came, others as Headway's own.
function ownFile(field: string, described: Members): OwnFile {
  const { name, _name_or_path, title } = described;
  const called = [name, _name_or_path, title, field].find((each): each is string => typeof each === "string" && each !== "")!;
  // A file of a model has no name in it: it is called as its file is.
  const { name: _, ...rest } = described;
  const stem = called.replace(/[^\w.-]+/g, "-").replace(/^[-.]+/, "") || field;
  return "architectures" in described || "model_type" in described
    ? { name: `${stem}.json`, text: `${JSON.stringify(described, null, 2)}\n` }
    : { name: `${stem}.toml`, text: tomlText(field === "model" ? rest : described) };
}

// Descriptions that stand on the command line without a flag: a stream of jobs, settings of limits.
const kOperands = new Set(["stream", "settings"]);

// The descriptions that a field holds: files on the command line.
const filesOf = (field: string, value: unknown): readonly OwnFile[] =>
  field === "fix" ? [] : (Array.isArray(value) ? value : [value]).filter(isDescribed).map((each) => ownFile(field, each));

/** The files that the line of a question names, with what must stand in them. */
export function ownFiles({ request }: Asked): OwnFile[] {
  return Object.entries(request).flatMap(([field, value]) => filesOf(field, value));
}

function quoted(text: string): string {
  return /^[\w.,:%/=+@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function wordsOf(field: string, value: unknown): string[] {
  const files = filesOf(field, value);
  if (files.length > 0) return files.map(({ name }) => name);
  if (isDescribed(value)) return Object.entries(value).map(([name, each]) => `${name}=${String(each)}`); // fix
  return (Array.isArray(value) ? value : [value]).map(String);
}

/** The question as a line of the command line. */
export function commandLine({ command, request }: Asked): string {
  const { sweep, ...flags } = request;
  const words = ["headway", command, ...(typeof sweep === "string" ? [sweep] : [])];
  for (const [field, value] of Object.entries(flags)) {
    if (value === false) continue;
    if (!kOperands.has(field)) words.push(`--${field}`);
    if (value !== true) words.push(...wordsOf(field, value).map(quoted));
  }
  return words.join(" ");
}

function python(value: unknown): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
  if (isDescribed(value)) return `{${Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}: ${python(each)}`).join(", ")}}`;
  return JSON.stringify(value); // numbers and strings are written alike
}

/** The question as a line of Python, with the package headway imported as hw. */
export function pythonLine({ command, request }: Asked): string {
  const { sweep, ...fields } = request;
  const operands = typeof sweep === "string" ? [python(sweep)] : [];
  const named = Object.entries(fields).map(([field, value]) => `${field.replaceAll("-", "_")}=${python(value)}`);
  return `hw.${command}(${[...operands, ...named].join(", ")})`;
}
