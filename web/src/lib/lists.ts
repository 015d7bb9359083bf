// The built-in names, asked for once.
import { signal, type Signal } from "@preact/signals";

import { ask } from "./api";

export type ListKind = "models" | "clusters" | "accelerators" | "machines";

const lists = new Map<ListKind, Signal<readonly string[]>>();

/** The names of a kind; empty until they have come. Components that read it follow it. */
export function names(kind: ListKind): readonly string[] {
  let list = lists.get(kind);
  if (!list) {
    list = signal<readonly string[]>([]);
    lists.set(kind, list);
    const into = list;
    ask<Record<string, readonly string[]>>("list", { what: kind })
      .then(({ document }) => {
        into.value = document[kind] ?? [];
      })
      .catch(() => lists.delete(kind)); // asked again with the next change
  }
  return list.value;
}
