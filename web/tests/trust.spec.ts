import { readFileSync } from "node:fs";

import type { Page } from "@playwright/test";

import { change, count, percent } from "../src/lib/format";
import type { TrustDocument } from "../src/views/trust/documents";
import { headway } from "./command";
import { at, expect, expectAccessible, expectForAll, kServed, test } from "./page";

const said = (by: string) => headway<TrustDocument>("validate", "--by", by);
const fact = (page: Page, name: string) =>
  page
    .locator(".numbers > div")
    .filter({ has: page.locator("dt", { hasText: name }) })
    .locator("dd");

// The corpus takes the server seconds.
test.setTimeout(90_000);
const kLong = { timeout: 60_000 };

// The corpus does not change either: a page that asks for it again has what the server said before.
const answered = new Map<string, string>();
test.beforeEach(({ context }) =>
  context.route("**/api/validate", async (route) => {
    const asked = route.request().postData() ?? "";
    const known = answered.get(asked);
    if (known !== undefined) return route.fulfill({ contentType: "application/x-ndjson", body: known });
    const response = await route.fetch();
    if (response.ok()) answered.set(asked, await response.text()); // a refusal comes with its status
    return route.fulfill({ response });
  }),
);

test("errors over all runs and by group are the command line's", async ({ page }) => {
  await page.goto(at("#/trust?by=accelerator"));
  const { all, groups, aims } = said("accelerator");
  await expect(fact(page, "error, median")).toHaveText(percent(all.step_time_error.median_share!), kLong);
  await expect(fact(page, "runs shown")).toHaveText(count(all.step_time_error.rows));
  await expect(fact(page, "90th percentile")).toHaveText(percent(all.step_time_error.p90_share!));
  await expect(fact(page, "inside")).toContainText(percent(all.interval!.inside_share!));
  const table = page.getByRole("region", { name: "Errors by accelerator" });
  for (const group of groups.filter(({ step_time_error }) => step_time_error.rows > 0)) {
    const cells = table
      .getByRole("row")
      .filter({ has: page.getByRole("button", { name: group.name, exact: true }) })
      .getByRole("cell");
    await expect(cells.nth(1)).toHaveText(count(group.step_time_error.rows));
    await expect(cells.nth(2)).toHaveText(percent(group.step_time_error.median_share!));
    await expect(cells.nth(3)).toHaveText(percent(group.step_time_error.p90_share!));
    await expect(cells.nth(4)).toHaveText(change(1 + group.step_time_error.bias_share!));
  }
  await expect(page.getByRole("region", { name: /^Aims/ }).getByRole("row")).toHaveCount(aims.length + 1);
});

test("a filter leaves the runs of a source, and the address restores it", async ({ page, context }) => {
  await page.goto(at("#/trust"));
  await page.getByLabel("source").selectOption("dgxc", kLong);
  const group = said("source").groups.find(({ name }) => name === "dgxc")!;
  await expect(fact(page, "runs shown")).toHaveText(count(group.step_time_error.rows));
  await expect(fact(page, "error, median")).toHaveText(percent(group.step_time_error.median_share!));
  await page.getByLabel("What is compared").selectOption("memory");
  await page.getByLabel("source").selectOption("flagperf");
  const memory = said("source").groups.find(({ name }) => name === "flagperf")!.memory_error;
  await expect(fact(page, "error, median")).toHaveText(percent(memory.median_share!));
  const second = await context.newPage();
  await second.goto(page.url());
  await expect(fact(second, "error, median")).toHaveText(percent(memory.median_share!), kLong);
  await expect(second.getByLabel("source")).toHaveValue("flagperf");
});

test("a point says which run it is and where it was published", async ({ page }) => {
  await page.goto(at("#/trust?source=llmfoundry"));
  const plot = page.getByRole("group", { name: /^Predicted against measured/ });
  await plot.focus(kLong);
  await plot.press("ArrowRight");
  const told = plot.locator('[aria-live="polite"]');
  await expect(told).toContainText(/llmfoundry-\d+/);
  await expect(told).toContainText("source: github:mosaicml/llm-foundry");
  await plot.press("Enter");
  const id = /row=(llmfoundry-\d+)/.exec(page.url())![1]!;
  const card = page.getByRole("region", { name: `Run ${id}` });
  await expect(card.getByRole("link")).toHaveAttribute("href", /^https:\/\/github\.com\/mosaicml\/llm-foundry\/blob\//);
  await page.reload();
  await expect(card).toBeVisible(kLong);
  await expectAccessible(page, ".row-card");
});

test("the rows come as a table to take along", async ({ page }) => {
  await page.goto(at("#/trust?source=dgxc"));
  const button = page.getByRole("button", { name: "CSV" });
  await expect(button).toBeVisible(kLong);
  const download = page.waitForEvent("download");
  await button.click();
  const lines = readFileSync(await (await download).path(), "utf8")
    .trim()
    .split("\n");
  const group = said("source").groups.find(({ name }) => name === "dgxc")!;
  expect(lines).toHaveLength(group.step_time_error.rows + 1);
});

test("says what went wrong", kServed, async ({ page }) => {
  await page.route("**/api/validate", (route) =>
    route.fulfill({ status: 400, json: { problems: [{ where: "data", message: "no measurements in this folder" }] } }),
  );
  await page.goto(at("#/trust"));
  await expect(page.getByRole("alert")).toContainText("no measurements in this folder");
});

test("can be used by all, wide and narrow, with every detail open", async ({ page }) => {
  await page.goto(at("#/trust"));
  await expect(fact(page, "runs shown")).toBeVisible(kLong);
  await expectForAll(page);
});
