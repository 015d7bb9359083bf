// The answer in one line, in sight while fields change: on small screens alone, where the answer is below them.
import type { ComponentChildren } from "preact";

export function AtAGlance({ children }: { children: ComponentChildren }) {
  const down = (event: Event) => {
    event.preventDefault();
    document.getElementById("answer")?.scrollIntoView();
  };
  return (
    <p class="glance">
      <span>{children}</span>
      <button type="button" onClick={down}>
        Answer
      </button>
    </p>
  );
}
