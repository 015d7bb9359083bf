import type { Page } from "@playwright/test";

import { count, dollars, duration, energy, number, percent } from "../src/lib/format";
import type { RunDocument } from "../src/views/scale/documents";
import { factsOf } from "../src/views/scale/whole";
import { headway } from "./command";
import { expect, expectForAll, open, test, unfold } from "./page";

// Large enough that failures take their share.
const kRun = "model=llama-2-7b&cluster=dgx-h100&gpus=256&seq=4096&global-batch=1024&framework=fsdp&zero=3";
const kAddress = `#/scale?sweep=run&tokens=2T&${kRun}`;
const kWords = "--model llama-2-7b --cluster dgx-h100 --gpus 256 --seq 4096 --global-batch 1024 --framework fsdp --zero 3";
const said = (...more: string[]) => headway<RunDocument>("scale", "run", ...kWords.split(" "), ...more);

const fact = (page: Page, name: string) => page.locator(`[data-number="${name}"]`);
const table = (page: Page) => page.getByRole("region", { name: /by accelerators, in numbers$/ });

test("a whole run has the numbers of the command line", async ({ page }) => {
  await open(page, kAddress);
  const run = said("--tokens", "2T");
  await expect(fact(page, "Time")).toContainText(duration(run.time_s.total));
  const [low, high] = run.interval_time_s!;
  await expect(fact(page, "Time")).toContainText(`${duration(low)} to ${duration(high)}`);
  for (const each of factsOf(run)) await expect(fact(page, each.name)).toContainText(each.value);
  const parts = page.getByRole("region", { name: "Where the days go" }).getByRole("row");
  await expect(parts.filter({ hasText: "restarts" })).toContainText(duration(run.time_s.restarts));
  const joules = page.getByRole("region", { name: "Where the energy goes" }).getByRole("row");
  await expect(joules.filter({ hasText: "spare nodes" })).toContainText(energy(run.energy_j.spares));
  const rows = table(page).getByRole("row");
  await expect(rows).toHaveCount(run.by_gpus.length + 1);
  for (const [i, each] of run.by_gpus.entries()) {
    await expect(rows.nth(i + 1)).toContainText(count(each.gpus));
    await expect(rows.nth(i + 1)).toContainText(number(each.time_s.total / 86400));
    await expect(rows.nth(i + 1)).toContainText(percent(each.goodput));
  }
});

test("a sweep becomes a whole run, whose changes give the command line's money", async ({ page, context }) => {
  await open(page, `#/scale?sweep=strong&at=256&${kRun}`);
  await page.getByLabel("What changes").selectOption({ label: "Nothing: a whole run" });
  await expect(fact(page, "Cost")).toContainText(dollars(said("--tokens", "1T").price_usd!));
  await page.getByLabel(/^Train on/).fill("3T");
  await page.getByLabel(/^Price/).fill("1.75");
  await page.getByLabel(/^Between interruptions/).fill("5000 h");
  const run = said("--tokens", "3T", "--price", "1.75", "--mtbf", "5000 h");
  await expect(fact(page, "Cost")).toContainText(dollars(run.price_usd!));
  await expect(fact(page, "Interruptions")).toContainText(count(run.interruptions));
  await page.getByLabel("Show", { exact: true }).selectOption("price");
  await expect(page.getByText("cost (US dollars)").first()).toBeVisible();
  await expect(page).toHaveURL(/sweep=run.*tokens=3T.*price=1\.75/);

  const second = await context.newPage();
  await second.goto(page.url());
  await unfold(second);
  await expect(fact(second, "Cost")).toContainText(dollars(run.price_usd!));
  await expect(second.getByLabel("What changes")).toHaveValue("run");
  await expect(second.getByLabel(/^Between interruptions/)).toHaveValue("5000 h");
  await expect(second.getByLabel("Show", { exact: true })).toHaveValue("price");
});

test("what is wrong stands beside its field, and the last good run stays", async ({ page }) => {
  await open(page, kAddress);
  const days = duration(said("--tokens", "2T").time_s.total);
  await expect(fact(page, "Time")).toContainText(days);
  const tokens = page.getByLabel(/^Train on/);
  await tokens.fill("");
  await expect(tokens).toHaveAccessibleDescription("is missing");
  await tokens.fill("many");
  await expect(tokens).toHaveAccessibleDescription(/'many' is not a number/);
  await expect(page.getByRole("alert")).toContainText("tokens");
  await expect(fact(page, "Time")).toContainText(days);
  await tokens.fill("2T");
  await expect(page.getByRole("alert")).toBeEmpty();
  const mtbf = page.getByLabel(/^Between interruptions/);
  await mtbf.fill("5 min");
  await expect(mtbf).toHaveAccessibleDescription(/no checkpoint is reached/);
});

test("what a field stands for when it is empty is told, with help from the schema", async ({ page }) => {
  await open(page, kAddress);
  const price = said("--tokens", "2T").assumptions.find(({ name }) => name === "price")!.value;
  await expect(page.getByLabel(/^Price/)).toHaveAttribute("placeholder", price);
  await expect(page.getByLabel(/^Price/)).toHaveAccessibleDescription(/US dollars for an accelerator's hour/);
});

test("arrow keys read the points by accelerators", async ({ page }) => {
  await open(page, kAddress);
  const first = said("--tokens", "2T").by_gpus.find(({ batch_grown }) => !batch_grown)!;
  const plot = page.getByRole("group", { name: /^Time by accelerators/ });
  await plot.focus();
  await plot.press("Home");
  await expect(plot.locator('[aria-live="polite"]')).toContainText(`${count(first.gpus)} accelerators, same batch`);
  await expect(plot.locator('[aria-live="polite"]')).toContainText(number(first.time_s.total / 86400));
});

test("can be used by all, wide and narrow, with every detail open", async ({ page }) => {
  await open(page, kAddress);
  await expect(fact(page, "Time")).toBeVisible();
  await expectForAll(page);
});
