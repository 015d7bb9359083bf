// What every browser test does with the page.
import AxeBuilder from "@axe-core/playwright";
import { expect, test as base, type Page } from "@playwright/test";

import { parsePlace, type Fields } from "../src/lib/url";
import { touched, withFirst } from "./touched";

/** Of a test that holds back or counts what the page asks a server: a static site asks none. */
export const kServed = { tag: "@served" };

/** The address of a view. */
export function at(path: string): string {
  return `${process.env.HEADWAY_URL}${path}`;
}

/** Fails a test whose page asks another machine for anything or reports an error. */
export const test = base.extend<{ page: Page }>({
  page: async ({ page }, use) => {
    const wrong: string[] = [];
    const own = new URL(process.env.HEADWAY_URL!).origin;
    page.on("request", (request) => {
      const url = new URL(request.url());
      if (url.origin !== own && url.protocol !== "blob:") wrong.push(`asks ${request.url()}`);
    });
    page.on("pageerror", (error) => wrong.push(String(error)));
    page.on("console", (message) => {
      // A refused request is an answer, which the page shows.
      const refused = /status of 4\d\d|net::ERR_FAILED/.test(message.text()); // ... or a test's own doing
      if (message.type() === "error" && !refused) wrong.push(message.text());
    });
    await use(page);
    expect(wrong).toEqual([]);
  },
});

export { expect };

// What axe looks at takes its time: options are drawn by the browser, hundreds of them; and a row of a table is as
// the rows before it, unless it stands out.
const kAlike = ["option", "tbody tr:nth-child(n+4):not(.selected)"];

/** No finding of axe in light; in dark the same holds, but for what depends on colours. `part`: a
 * selector, where the rest was looked at before. */
export async function expectAccessible(page: Page, part = "body"): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    const axe = new AxeBuilder({ page }).include(part).setLegacyMode(true).options({ resultTypes: ["violations"] });
    for (const alike of kAlike) axe.exclude(alike);
    if (colorScheme === "dark") axe.withRules(["color-contrast"]);
    const { violations } = await axe.analyze();
    const found = violations.map((each) => `${each.id} (${each.impact}): ${each.nodes[0]?.html}`);
    expect(found, `axe, ${colorScheme}`).toEqual([]);
  }
}

/** Nothing wider than the window. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(wider).toBeLessThanOrEqual(0);
}

/** A view can be used by all: with every detail open axe finds nothing, and nothing is wider than small windows. */
export async function expectForAll(page: Page): Promise<void> {
  await expect(page.locator('[aria-busy="true"]')).toHaveCount(0); // what comes later has details, too
  await page.evaluate(() => document.querySelectorAll("details").forEach((each) => each.setAttribute("open", "")));
  await expect(page.locator("details:not([open])")).toHaveCount(0);
  await expectAccessible(page);
  for (const width of [400, 320]) {
    await page.setViewportSize({ width, height: 800 });
    await expectNoSidewaysScroll(page);
  }
}

/** Opens a view with all its fields in sight. */
export async function open(page: Page, path: string): Promise<void> {
  await page.goto(at(path));
  await unfold(page);
}

/** Unfolds every group of fields. */
export async function unfold(page: Page): Promise<void> {
  await page.locator("form.fields").first().waitFor();
  await page.evaluate(() => document.querySelectorAll("form.fields details").forEach((each) => each.setAttribute("open", "")));
}

/** Chooses a built-in name by typing it. */
export async function choose(page: Page, label: string, name: string): Promise<void> {
  const field = page.getByLabel(label, { exact: true });
  await field.fill(name);
  await field.press("Enter");
}

/** Holds back what is asked from now on; the function that it gives lets it go. */
export async function hold(page: Page, asked: string): Promise<() => Promise<void>> {
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route(asked, async (route) => {
    await held;
    await route.continue().catch(() => {}); // a question that was given up meanwhile
  });
  return async () => {
    release();
    await page.unroute(asked);
  };
}

/** A question of a person, from the page that is open to its answer: which fields of the address were touched and
 * how long it took, which the report of the tests has. */
export function beginTask(page: Page, first: Fields = {}): (expected: readonly string[]) => void {
  const fields = () => withFirst(parsePlace(new URL(page.url()).hash).fields, first);
  const before = fields();
  const begun = Date.now();
  return (expected) => {
    expect(touched(before, fields())).toEqual([...expected].sort());
    const description = `${Date.now() - begun} ms, touched: ${expected.join(", ") || "nothing"}`;
    test.info().annotations.push({ type: "time to the answer", description });
  };
}
