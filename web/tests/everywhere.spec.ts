// What holds for every view: compare, print, small screens, a server that goes away, keys.
import { readFileSync } from "node:fs";

import type { PredictDocument } from "../src/lib/documents";
import { change, seconds } from "../src/lib/format";
import { headway, repository } from "./command";
import { at, expect, expectAccessible, hold, kServed, open, test, unfold } from "./page";

const kStepTime = '[data-number="Step time"]';
const kRun = "model=llama-2-7b&cluster=dgx-h100&gpus=64&seq=4096&global-batch=256&tp=2&pp=2";
const kWords = "--model llama-2-7b --cluster dgx-h100 --gpus 64 --seq 4096 --global-batch 256 --pp 2".split(" ");

test("a pinned run stands beside the changed one, and the address holds both", async ({ page, context }) => {
  await open(page, `#/step?${kRun}`);
  await page.getByRole("button", { name: "Pin as A" }).click();
  await page.getByLabel("Tensor", { exact: true }).fill("4");
  const [a, b] = ["2", "4"].map((tp) => headway<PredictDocument>("predict", ...kWords, "--tp", tp).step_time_s);
  const row = (of: typeof page) => of.locator('[data-table="differences"] tbody tr').first();
  for (const text of [seconds(a!), seconds(b!), change(b! / a!)]) await expect(row(page)).toContainText(text);
  await expect(page.locator(".pin")).toContainText("tp 2 → 4");
  const second = await context.newPage();
  await second.goto(page.url());
  await expect(row(second)).toContainText(change(b! / a!));
  await page.getByRole("button", { name: "Back to A" }).click();
  await expect(page.locator(kStepTime)).toContainText(seconds(a!));
  await expect(page.locator('[data-table="differences"]')).toHaveCount(0);
});

test("beside a run stands nothing of one that was pinned before", kServed, async ({ page }) => {
  const pinned = (tp: string) => `#/step?${kRun}&pin=${encodeURIComponent(kRun.replace("tp=2", `tp=${tp}`))}`;
  const time = (tp: string) => seconds(headway<PredictDocument>("predict", ...kWords, "--tp", tp).step_time_s);
  const table = page.locator('[data-table="differences"]');
  await open(page, pinned("4"));
  await expect(table).toContainText(time("4"));
  const release = await hold(page, "**/api/predict");
  await page.goto(at(pinned("8")));
  await expect(page.locator(".pin")).toContainText("tp 8 → 2");
  await expect(table).toHaveCount(0);
  await release();
  await expect(table).toContainText(time("8"));
});

test("a server that went away is tried again by itself, and by a button", kServed, async ({ page }) => {
  await open(page, `#/step?${kRun}`);
  await expect(page.locator(kStepTime)).toBeVisible();
  await page.route("**/api/**", (route) => route.abort());
  await page.getByLabel("Tensor", { exact: true }).fill("4");
  await expect(page.getByRole("alert").first()).toContainText("does not answer");
  await expect(page.locator(kStepTime)).toBeVisible();
  await page.unroute("**/api/**");
  await page.getByRole("button", { name: "Try again" }).click();
  const time = seconds(headway<PredictDocument>("predict", ...kWords, "--tp", "4").step_time_s);
  await expect(page.locator(kStepTime)).toContainText(time);
  await expect(page.getByText("does not answer")).toHaveCount(0);
  await page.route("**/api/**", (route) => route.abort());
  await page.getByLabel("Tensor", { exact: true }).fill("8");
  await expect(page.getByText("does not answer").first()).toBeVisible();
  await page.unroute("**/api/**");
  const other = seconds(headway<PredictDocument>("predict", ...kWords, "--tp", "8").step_time_s);
  await expect(page.locator(kStepTime)).toContainText(other);
});

test("limits and traces are asked for again where the server is back", kServed, async ({ page }) => {
  const away = page.getByText("does not answer").first();
  await page.goto(at("#/limits?gpu=h100-sxm"));
  const settings = page.getByRole("region", { name: "Limits of each setting" });
  await expect(settings).toContainText("h100-sxm");
  await page.route("**/api/**", (route) => route.abort());
  await page.goto(at("#/limits?gpu=h100-sxm,gb200-nvl72"));
  await expect(away).toBeVisible();
  await page.unroute("**/api/**");
  await expect(settings).toContainText("gb200-nvl72");
  await expect(away).toHaveCount(0);

  await page.goto(at(`#/comms?${kRun}&traces=alone`));
  await page.route("**/api/**", (route) => route.abort());
  await page.getByLabel("Choose files").setInputFiles(`${repository}examples/ddp-rank0.json`);
  await expect(away).toBeVisible();
  await page.unroute("**/api/**");
  await expect(page.getByRole("region", { name: "Calls of all recorded ranks together" })).toBeVisible();
  await expect(away).toHaveCount(0);
});

test("on small screens a line with step time, fit and MFU stays in sight while fields change", async ({ page }) => {
  await page.setViewportSize({ width: 400, height: 700 });
  await open(page, `#/step?${kRun}`);
  const line = page.locator(".glance");
  await page.getByLabel("Tensor", { exact: true }).fill("4");
  const step = headway<PredictDocument>("predict", ...kWords, "--tp", "4");
  await expect(line).toContainText(seconds(step.step_time_s));
  await expect(line).toContainText("fits");
  await expect(line).toBeInViewport();
});

test("the word list can be used by all, and is left by a key", async ({ page }) => {
  await page.goto(at(`#/step?${kRun}`));
  await page.getByRole("button", { name: "Words" }).click();
  await expect(page.getByRole("dialog")).toContainText("Model FLOPs utilisation");
  await expectAccessible(page, "dialog");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
});

test("keys alone lead to the answer, through the list of models, and to each field's help", async ({ page }) => {
  await page.goto(at(`#/step?${kRun}`));
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect(page.locator("#answer")).toBeFocused();
  const model = page.getByLabel("Model", { exact: true });
  await model.focus();
  await page.keyboard.type("meta 13b");
  await page.keyboard.press("ArrowDown");
  await expect(page.locator('.combobox [aria-selected="true"]')).toHaveText("llama-2-13b");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/model=llama-2-13b/);
  await unfold(page);
  const help = page.getByText("tensor-parallel degree; default: 1");
  await expect(help).toBeHidden();
  await page.getByLabel("Tensor", { exact: true }).focus();
  await expect(help).toBeVisible();
  await expect(page.getByLabel("Tensor", { exact: true })).toHaveAccessibleDescription(/tensor-parallel degree/);
});

test("a run prints on one page, with its bars, its range and its command", async ({ page }) => {
  await page.goto(at(`#/step?${kRun}`));
  await expect(page.locator(kStepTime)).toBeVisible();
  const pdf = (await page.pdf({ format: "A4", printBackground: true })).toString("latin1");
  expect(pdf.match(/\/Type\s*\/Page\b/g)).toHaveLength(1);
  await page.emulateMedia({ media: "print" });
  await expect(page.locator("form.fields")).toBeHidden();
  await expect(page.locator(".sumbar-part").first()).toBeVisible();
  await expect(page.locator("pre.command")).toBeVisible();
  const colour = await page.locator(".sumbar-part").first().evaluate((part) => getComputedStyle(part).printColorAdjust);
  expect(colour).toBe("exact");
});

test("a chart is carried away as SVG and as PNG", async ({ page }) => {
  await page.goto(at(`#/scale?sweep=strong&${kRun}&at=64,128`));
  for (const [kind, begins] of [
    ["SVG", "<svg"],
    ["PNG", "\u0089PNG"],
  ] as const) {
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: kind }).first().click();
    expect(readFileSync(await (await download).path(), "latin1").slice(0, 4)).toBe(begins);
  }
});

// Of each view what is printed beside its answer: its command, and where its numbers are from.
for (const [view, ready] of [
  ["plan", '[data-table="best"] tbody tr'],
  ["scale", "svg.chart-drawing"],
  ["scale?sweep=run", ".sumbar-part"],
  ["scale?sweep=methods", "#methods-headline"],
  ["cost", '[data-table="cost"] .money'],
  ["serve", "svg.chart-drawing"],
  ["jobs", "svg.chart-drawing"],
  ["limits", "svg.chart-drawing"],
  ["comms", "svg.chart-drawing"],
] as const) {
  test(`${view} prints on one page, with its command and its sources`, async ({ page }) => {
    await page.goto(at(`#/${view}`));
    await expect(page.locator(ready).first()).toBeVisible({ timeout: 50_000 });
    await expect(page.locator('[aria-busy="true"]')).toHaveCount(0, { timeout: 50_000 });
    await expect(page.getByRole("button", { name: "Print on one page" }).first()).toBeVisible();
    const pdf = (await page.pdf({ format: "A4", printBackground: true })).toString("latin1");
    expect(pdf.match(/\/Type\s*\/Page\b/g)).toHaveLength(1);
    await page.emulateMedia({ media: "print" });
    await expect(page.locator("pre.command")).toBeVisible();
    await expect(page.getByText(/with their sources: data\/ of Headway/)).toBeVisible();
    await expect(page.locator("form.fields").first()).toBeHidden();
  });
}

test("ranges say of how many measured runs they are, in every view that has them", async ({ page }) => {
  const told = /(is|are) told by ([\d,]+|measured servings)/;
  for (const [address, part] of [
    [`#/step?${kRun}`, "#answer"],
    [`#/plan?${kRun.replace("&tp=2&pp=2", "")}`, '[aria-labelledby="best"]'],
    [`#/scale?sweep=strong&${kRun}&at=64,128`, '[aria-label="The sweep in a sentence"]'],
    [`#/scale?sweep=run&tokens=1T&${kRun}`, '[aria-label="The run in numbers"]'],
    [`#/cost?tokens=1T&${kRun}`, '[aria-labelledby="cost-headline"]'],
    ["#/serve", '[aria-label="What requests get"]'],
  ] as const) {
    await page.goto(at(address));
    await expect(page.locator(part)).toContainText(told);
  }
});
