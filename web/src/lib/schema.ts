// What the server says about the fields of a request: help and the values that are legal.
import { signal } from "@preact/signals";

import { door } from "./door";

interface FieldSchema {
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly oneOf?: readonly FieldSchema[];
  readonly anyOf?: readonly FieldSchema[];
}
export interface RequestSchema {
  readonly properties?: Readonly<Record<string, FieldSchema & { readonly const?: unknown }>>;
  /** Of `scale`: one for each of its commands. */
  readonly oneOf?: readonly RequestSchema[];
}

const known = signal<Readonly<Record<string, RequestSchema>>>({});
const asked = new Set<string>();

function schemaOf(command: string): RequestSchema {
  if (!asked.has(command)) {
    asked.add(command);
    door(`api/schema/${command}`)
      .then((response) => (response.ok ? response.json() : {}))
      .then((document: { request?: RequestSchema }) => {
        known.value = { ...known.value, [command]: document.request ?? {} };
      })
      .catch(() => asked.delete(command)); // asked again with the next change
  }
  return known.value[command] ?? {};
}

/** Of several requests, the one whose `sweep` is the word. */
export function chosenSchema(schema: RequestSchema, word: string | undefined): RequestSchema {
  return schema.oneOf?.find(({ properties }) => properties?.sweep?.const === word) ?? schema;
}

/** The schema of the request of a command, as "predict" or "scale run"; empty until it has come. Components
 * that read it follow it. */
export function requestSchema(words: string): RequestSchema {
  const [command, word] = words.split(" ");
  return chosenSchema(schemaOf(command!), word);
}

/** One line of help on a field. */
export function fieldHelp(command: string, name: string): string {
  return requestSchema(command).properties?.[name]?.description ?? "";
}

/** The legal values of a field that has a list of them. */
export function fieldChoices(command: string, name: string): readonly string[] {
  const field = requestSchema(command).properties?.[name];
  const lists = [field, ...(field?.anyOf ?? []), ...(field?.oneOf ?? [])].map((each) => each?.enum ?? []);
  return lists.flat().filter((each): each is string => typeof each === "string");
}
