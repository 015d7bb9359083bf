// A page that a link of another site opened begins no long work before its reader does something: a
// link is no wish to search for minutes (docs/serve.md, "Who may ask").

/** Whether the server said of this opening that another site asked for it. */
function openedByAnotherSite(): boolean {
  if (typeof performance === "undefined" || !performance.getEntriesByType) return false;
  const [opening] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  return (opening?.serverTiming ?? []).some(({ name }) => name === "opened-by-another-site");
}

/** Lets work wait for the reader: what is asked before the first click or key begins with it. */
export class Gate {
  private waiting: (() => void)[] = [];
  constructor(private closed: boolean) {}

  get isClosed(): boolean {
    return this.closed;
  }

  /** Does the work now or once the gate opens; the answer takes it back. */
  whenOpen(work: () => void): () => void {
    if (!this.closed) {
      work();
      return () => undefined;
    }
    this.waiting.push(work);
    return () => {
      this.waiting = this.waiting.filter((each) => each !== work);
    };
  }

  open(): void {
    this.closed = false;
    const begun = this.waiting;
    this.waiting = [];
    for (const work of begun) work();
  }
}

/** The gate of this page. */
export const longWork: Gate = new Gate(openedByAnotherSite());

if (longWork.isClosed) {
  const open = (event: Event) => {
    if (!event.isTrusted) return;
    for (const kind of kDeeds) removeEventListener(kind, open, true);
    longWork.open();
  };
  const kDeeds = ["pointerdown", "keydown"];
  for (const kind of kDeeds) addEventListener(kind, open, true);
}
