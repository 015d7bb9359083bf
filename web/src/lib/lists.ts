// The built-in names, asked for once.
import { signal, type Signal } from "@preact/signals";

import { ask } from "./api";
import type { ClusterNumbers } from "./cluster";

export type ListKind = "models" | "clusters" | "accelerators" | "machines";

type ListDocument = Partial<Record<ListKind, readonly string[]>> & { readonly cluster_numbers?: readonly ClusterNumbers[] };

const numbers = signal<readonly ClusterNumbers[]>([]);
const lists = new Map<ListKind, Signal<readonly string[]>>();

/** The names of a kind; empty until they have come. Components that read it follow it. */
export function names(kind: ListKind): readonly string[] {
  let list = lists.get(kind);
  if (!list) {
    list = signal<readonly string[]>([]);
    lists.set(kind, list);
    const into = list;
    ask<ListDocument>("list", { what: kind })
      .then(({ document }) => {
        into.value = document[kind] ?? [];
        if (document.cluster_numbers) numbers.value = document.cluster_numbers;
      })
      .catch(() => lists.delete(kind)); // asked again with the next change
  }
  return list.value;
}

/** The numbers of a built-in cluster, once they have come. */
export function clusterNumbers(name: string): ClusterNumbers | undefined {
  names("clusters");
  return numbers.value.find((each) => each.name === name);
}
