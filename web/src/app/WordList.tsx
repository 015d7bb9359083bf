// The word list, in a dialog that every view can open.
import { useRef } from "preact/hooks";

import { kWordList } from "./words";

export function WordList() {
  const dialog = useRef<HTMLDialogElement>(null);
  return (
    <>
      <button type="button" class="quiet" onClick={() => dialog.current?.showModal()}>
        Words
      </button>
      <dialog ref={dialog} aria-labelledby="words" class="words-list">
        <form method="dialog">
          <h2 id="words">What the words mean</h2>
          <button autofocus>Close</button>
        </form>
        <dl tabIndex={0} aria-labelledby="words">
          {kWordList.map(([word, meaning]) => (
            <div key={word}>
              <dt>{word}</dt>
              <dd>{meaning}</dd>
            </div>
          ))}
        </dl>
      </dialog>
    </>
  );
}
