// Copies a text to the clipboard, and says whether it did.
import { useEffect, useState } from "preact/hooks";

export function Copy({ text, what }: { text: string; what: string }) {
  const [said, setSaid] = useState("");
  useEffect(() => setSaid(""), [text]);
  const copy = () => {
    // Browsers offer the clipboard only to pages from this machine or over TLS.
    const done = navigator.clipboard?.writeText(text) ?? Promise.reject(new Error("no clipboard"));
    done.then(
      () => setSaid("copied"),
      () => setSaid("not allowed here: select the text"),
    );
  };
  return (
    <span class="buttons">
      <span class="soft" role="status">
        {said}
      </span>
      <button type="button" onClick={copy}>
        Copy {what}
      </button>
    </span>
  );
}
