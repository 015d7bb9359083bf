import { readFileSync } from "node:fs";

import type { Page } from "@playwright/test";

import type { PredictDocument } from "../src/lib/documents";
import { count, percent, seconds } from "../src/lib/format";
import type { SweepDocument } from "../src/views/scale/documents";
import { headway } from "./command";
import { expect, expectForAll, expectNoSidewaysScroll, open, test, unfold } from "./page";

const kRun = "model=llama-2-7b&cluster=dgx-h100&gpus=32&seq=4096&global-batch=256&framework=fsdp&zero=3";
const kWords = "--model llama-2-7b --cluster dgx-h100 --gpus 32 --seq 4096 --global-batch 256 --framework fsdp --zero 3".split(
  " ",
);
const said = (sweep: string, ...more: string[]) => headway<SweepDocument>("scale", sweep, ...kWords, ...more);

const table = (page: Page) =>
  page.getByRole("region", { name: /by accelerators|by sequence length|by degree|by ranks|by model/ });
const point = (page: Page, label: string) =>
  table(page)
    .getByRole("row")
    .filter({ has: page.getByRole("cell", { name: label, exact: true }) })
    .first();

test("a sweep has the points of the command line, with their intervals", async ({ page }) => {
  await open(page, `#/scale?sweep=strong&${kRun}&at=32,64,128`);
  const points = said("strong", "--at", "32,64,128").series[0]!.points;
  expect(points).toHaveLength(3);
  for (const each of points) {
    await expect(point(page, each.label)).toContainText(count(each.tokens_per_s));
    await expect(point(page, each.label)).toContainText(percent(each.mfu));
  }
  await expect(page.locator("path[fill-opacity]").first()).toBeAttached();
  await expect(page.getByRole("region", { name: "To the same loss" })).toBeVisible();
});

test("another sweep and another number give the command line's points", async ({ page }) => {
  await open(page, `#/scale?sweep=strong&${kRun}&at=32,64`);
  await expect(point(page, "64")).toBeVisible();
  await page.getByLabel("What changes").selectOption("context");
  await page.getByLabel(/^Tokens, as/).fill("2048,8192");
  await page.getByLabel("Global batch").fill("512");
  const other = headway<SweepDocument>(
    "scale",
    "context",
    ...kWords.map((w) => (w === "256" ? "512" : w)),
    "--at",
    "2048,8192",
  );
  for (const each of other.series[0]!.points) {
    await expect(point(page, each.label)).toContainText(count(each.tokens_per_s));
  }
  await expect(page.getByText("sequence length (tokens)").first()).toBeVisible();
  await page.getByLabel("Show", { exact: true }).selectOption("mfu");
  await expect(page.getByText(/MFU: model FLOPs without recomputation/).first()).toBeVisible();
});

test("splitting the model shows where it overtakes", async ({ page }) => {
  await open(page, `#/scale?sweep=layout&${kRun}&at=2`);
  const document = said("layout", "--at", "2");
  const found = document.crossover;
  await expect(
    page.getByText(found ? new RegExp(`${count(found.gpus)} accelerators`) : /not overtaken/).first(),
  ).toBeVisible();
  for (const series of document.series.filter(({ points }) => points.length > 0)) {
    await expect(table(page).getByRole("cell", { name: series.name, exact: true }).first()).toBeVisible();
  }
});

test("what is wrong stands beside its field, and the last points stay", async ({ page }) => {
  await open(page, `#/scale?sweep=strong&${kRun}&at=32,64`);
  await expect(point(page, "64")).toBeVisible();
  const field = page.getByLabel(/^Accelerators, as/);
  await field.fill("32,many");
  await expect(field).toHaveAttribute("aria-invalid", "true");
  await expect(page.getByRole("alert")).toContainText("at");
  await expect(point(page, "64")).toBeVisible();
  await field.fill("32,64");
  await expect(page.getByRole("alert")).toBeEmpty();
});

test("an address restores what it was copied from", async ({ page, context }) => {
  await open(page, `#/scale?sweep=weak&${kRun}&at=32,64`);
  await page.getByLabel("Show", { exact: true }).selectOption("each");
  await page.getByLabel("Tensor", { exact: true }).fill("2");
  const last = said("weak", "--at", "32,64", "--tp", "2").series[0]!.points[1]!;
  await expect(point(page, last.label)).toContainText(count(last.tokens_per_s_per_gpu));
  const second = await context.newPage();
  await second.goto(page.url());
  await unfold(second);
  await expect(point(second, last.label)).toContainText(count(last.tokens_per_s_per_gpu));
  await expect(second.getByLabel("What changes")).toHaveValue("weak");
  await expect(second.getByLabel("Show", { exact: true })).toHaveValue("each");
});

test("the points come as a table to take along", async ({ page }) => {
  await open(page, `#/scale?sweep=strong&${kRun}&at=32,64`);
  await expect(point(page, "64")).toBeVisible();
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "CSV" }).first().click();
  const lines = readFileSync(await (await download).path(), "utf8")
    .trim()
    .split("\n");
  const column = lines[0]!.split(",").indexOf("tokens_per_s");
  const numbers = lines.slice(1).map((line) => Number(line.split(",")[column]));
  expect(numbers).toEqual(said("strong", "--at", "32,64").series[0]!.points.map((each) => each.tokens_per_s));
});

test("can be used by all, wide and narrow, with every detail open", async ({ page }) => {
  await open(page, `#/scale?sweep=strong&${kRun}&at=32,64`);
  await expect(point(page, "64")).toBeVisible();
  await expectForAll(page);
  await open(page, `#/scale?sweep=layout&${kRun}&at=2`);
  await expect(table(page).getByRole("cell", { name: "hybrid", exact: true }).first()).toBeVisible();
  await expectNoSidewaysScroll(page);
});

test("methods of training stand side by side, each as the command line predicts it", async ({ page }) => {
  // Gradients that are sharded block by block cannot travel otherwise: ZeRO 1.
  const words = "--model llama-2-7b --cluster dgx-h100 --gpus 32 --seq 4096 --global-batch 256 --zero 1 --dp 32".split(" ");
  await open(page, "#/scale?sweep=methods&model=llama-2-7b&cluster=dgx-h100&gpus=32&seq=4096&global-batch=256&zero=1&dp=32");
  const rows = page.getByRole("region", { name: "The run by each method of training" }).getByRole("row");
  for (const [title, method] of [
    ["meeting in every step", ""],
    ["DiLoCo", "diloco"],
    ["gradients in 8 bit", "fp8-exchange"],
  ] as const) {
    const given = method === "" ? [] : ["--method", method];
    const step = headway<PredictDocument>("predict", ...words, ...given);
    const row = rows.filter({ has: page.getByRole("link", { name: title, exact: true }) });
    await expect(row).toContainText(seconds(step.step_time_s));
  }
  await expect(rows.filter({ hasText: "gradients in 8 bit" })).toContainText("no published number");
  const { methods } = headway<{ methods: string[] }>("list", "methods");
  // Each is told, or it is said why not.
  await expect(rows.locator("nth=0")).toBeVisible();
  const told = (await rows.count()) - 2; // the heading, and meeting in every step
  await expect(page.locator('[aria-labelledby="methods-headline"] ul.notes li')).toHaveCount(methods.length - told);
});

test("sites with a link between them are told to the methods that know one", async ({ page }) => {
  await open(page, "#/scale?sweep=methods");
  const words = "--model llama-2-7b --cluster dgx-h100 --gpus 128 --seq 4096 --global-batch 512 --dp 128 --zero 1".split(" ");
  const link = "replicas=2,bandwidth=10Gb/s,latency=10ms";
  const [all, seldom] = [`local-sgd:every=1,${link}`, `streaming-diloco:${link}`].map(
    (method) => headway<PredictDocument>("predict", ...words, "--method", method).step_time_s,
  );
  await expect(page.locator("#methods-headline")).toContainText(seconds(all!));
  await expect(page.locator("#methods-headline")).toContainText(seconds(seldom!));
  await expect(page.getByText("one cluster", { exact: true }).first()).toBeVisible();
  await expectNoSidewaysScroll(page);
  await expectForAll(page);
});
