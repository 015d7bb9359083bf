// What is drawn again only where something that it is made of changed: a view is asked to draw itself with every
// key that is typed, and its pictures change with the answer alone.
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";

interface Props {
  /** All that the children are made of. */
  readonly of: readonly unknown[];
  readonly children: () => ComponentChildren;
}

export function Kept({ of, children }: Props) {
  return <>{useMemo(children, of)}</>;
}
