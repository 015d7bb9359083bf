// The frame around every view: its name, the tabs, light or dark.
import { useEffect } from "preact/hooks";

import { theme, toggleTheme } from "../lib/theme";
import { longWork } from "../lib/opened";
import { opensWith, seen } from "../lib/sharedRun";
import { place, placeText } from "../lib/url";
import { kViews, type View } from "./views";
import { WordList } from "./WordList";

function Tab({ view, current }: { view: View; current: boolean }) {
  // Each tab follows the address: with the run that it holds every other view opens, too.
  const { fields: own } = place.value;
  const fields = current ? own : opensWith(view.id, view);
  return (
    <a href={placeText({ view: view.id, fields })} aria-current={current ? "page" : undefined}>
      {view.title}
    </a>
  );
}

export function App() {
  const view = kViews.find((each) => each.id === place.value.view) ?? kViews[0]!;
  seen(view.id, view, place.value.fields);
  useEffect(() => {
    document.title = `${view.title} - Headway`;
  }, [view]);
  const other = theme.value === "dark" ? "light" : "dark";
  return (
    <>
      <a class="skip" href="#content" onClick={skip}>
        Skip to the answer
      </a>
      <header class="top">
        <a class="brand" href="#/">
          Headway
        </a>
        <nav aria-label="Views">
          {kViews.map((each) => (
            <Tab key={each.id} view={each} current={each === view} />
          ))}
        </nav>
        <WordList />
        <button type="button" class="quiet" onClick={toggleTheme} title={`Switch to ${other}`}>
          {other === "dark" ? "Dark" : "Light"}
        </button>
      </header>
      <main id="content" tabIndex={-1}>
        <h1>
          {view.title} <small>{view.purpose}</small>
        </h1>
        {longWork.holds.value && (
          <p role="status" class="panel">
            Another site opened this page, so nothing long is searched yet: it begins with your first click or key.
          </p>
        )}
        <view.Page key={view.id} />
      </main>
    </>
  );
}

// The address after '#' is the page's state, so the jump is made by hand.
function skip(event: Event): void {
  event.preventDefault();
  (document.querySelector<HTMLElement>("#content .answer") ?? document.getElementById("content"))?.focus();
}
