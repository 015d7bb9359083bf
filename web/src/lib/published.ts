// Published runs, by who trained them: presets to begin with.
import { signal } from "@preact/signals";

import { ask } from "./api";
import type { Fields } from "./url";

export interface Published {
  readonly name: string;
  readonly title: string;
  readonly tokens: number;
  readonly layout_published: boolean;
  readonly source: string;
  readonly remark: string;
  readonly run: Fields;
}

const list = signal<readonly Published[]>([]);
let asked = false;

/** Empty until they have come. */
export function published(): readonly Published[] {
  if (!asked) {
    asked = true;
    ask<{ runs: readonly Published[] }>("scale", { sweep: "published" })
      .then(({ document }) => {
        list.value = document.runs;
      })
      .catch(() => {
        asked = false;
      });
  }
  return list.value;
}

export function publishedGroups(): readonly { title: string; names: readonly Published[] }[] {
  const runs = published();
  return [
    { title: "As they were run", names: runs.filter((run) => run.layout_published) },
    { title: "Layout not published, chosen by rule", names: runs.filter((run) => !run.layout_published) },
  ].filter(({ names }) => names.length > 0);
}
