import { readFileSync } from "node:fs";

import type { Page } from "@playwright/test";

import { bytes, count, percent, seconds } from "../src/lib/format";
import type { TracedDocument } from "../src/timeline/traced";
import type { ComparedDocument, ExpectedDocument, MeasuredDocument, StudyDocument } from "../src/views/comms/documents";
import { headway, repository } from "./command";
import { beginTask, choose, expect, expectAccessible, expectForAll, expectNoSidewaysScroll, hold, kServed, open, test, unfold } from "./page";

const kRun = "model=llama-2-7b&cluster=dgx-a100-80gb&gpus=8&seq=4096&global-batch=64";
const kWords = "--model llama-2-7b --cluster dgx-a100-80gb --gpus 8 --seq 4096 --global-batch 64".split(" ");
const kTraces = [0, 1].map((rank) => `${repository}examples/ddp-rank${rank}.json`);
const said = (...more: string[]) => headway<ExpectedDocument>("comms", ...kWords, ...more);

const fact = (page: Page, name: string) =>
  page
    .locator(".numbers > div")
    .filter({ has: page.locator("dt", { hasText: name }) })
    .locator("dd");

test("a run sends what the command line says", async ({ page }) => {
  await open(page, `#/comms?${kRun}&tp=2`);
  const document = said("--tp", "2");
  const { all, by_group } = document.mean_rank;
  await expect(fact(page, "a rank sends, a step")).toHaveText(bytes(all.wire_bytes));
  await expect(fact(page, "their time")).toHaveText(seconds(all.time_s));
  const groups = page.getByRole("list", { name: /^By group/ });
  for (const [name, sums] of Object.entries(by_group)) {
    await expect(groups.getByRole("listitem").filter({ hasText: new RegExp(`^${name}`) })).toContainText(
      bytes(sums.wire_bytes),
    );
  }
  await page.getByLabel("Count", { exact: true }).selectOption("exposed");
  for (const [name, sums] of Object.entries(by_group)) {
    await expect(groups.getByRole("listitem").filter({ hasText: new RegExp(`^${name}`) })).toContainText(
      seconds(sums.exposed_s),
    );
  }
});

test("a changed degree gives the command line's volume, and back leads back", async ({ page }) => {
  await open(page, `#/comms?${kRun}&tp=2`);
  await expect(fact(page, "a rank sends, a step")).toHaveText(bytes(said("--tp", "2").mean_rank.all.wire_bytes));
  await page.getByLabel("Tensor", { exact: true }).fill("4");
  await expect(fact(page, "a rank sends, a step")).toHaveText(bytes(said("--tp", "4").mean_rank.all.wire_bytes));
  await page.goBack();
  await expect(fact(page, "a rank sends, a step")).toHaveText(bytes(said("--tp", "2").mean_rank.all.wire_bytes));
});

test("by logarithms the smallest messages are seen beside the largest", async ({ page }) => {
  await open(page, `#/comms?${kRun}&tp=2`);
  const plot = page.getByRole("group", { name: /^By size of the message: .* Arrow keys read its columns/ });
  const least = () => plot.locator("rect").evaluateAll((all) => Math.min(...all.map((each) => Number(each.getAttribute("height")))));
  await expect(plot).toBeVisible();
  expect(await least()).toBeLessThan(2); // pixels
  await page.getByRole("button", { name: "log height" }).click();
  const columns = await plot.locator("g[opacity]").evaluateAll((all) =>
    all.map((each) => [...each.querySelectorAll("rect")].reduce((sum, rect) => sum + Number(rect.getAttribute("height")), 0)),
  );
  for (const height of columns.filter((each) => each > 0)) expect(height).toBeGreaterThan(5);
});

test("where no layout fits, it says so and nothing of the run before; the search says that it is under way", kServed, async ({ page }) => {
  await open(page, `#/comms?${kRun}`);
  await expect(fact(page, "a rank sends, a step")).toBeVisible();
  const answer = page.locator("#answer");
  await expect(answer).toHaveAttribute("aria-busy", "false");
  const release = await hold(page, "**/api/plan");
  await choose(page, "Model", "llama-3.1-405b");
  await expect(answer).toHaveAttribute("aria-busy", "true");
  await release();
  await expect(page.getByRole("alert", { name: "It does not fit" })).toContainText("llama-3.1-405b");
  await expect(answer.locator(".numbers")).toHaveCount(0);
  await expect(answer).toHaveAttribute("aria-busy", "false");
});

test("traces on their own show what they hold", async ({ page }) => {
  await open(page, `#/comms?${kRun}&traces=alone`);
  await page.getByLabel("Choose files").setInputFiles(kTraces);
  const document = headway<MeasuredDocument>("comms", ...kTraces);
  const calls = page.getByRole("region", { name: "Calls of all recorded ranks together" });
  for (const each of document.calls_by_group) {
    await expect(calls.getByRole("row").filter({ hasText: each.op })).toContainText(bytes(each.bytes));
  }
  await expect(page.getByText(document.format)).toBeVisible();
  await expectAccessible(page, "#answer");
});

test("why is my trace slow: its files beside the run give the command line's verdict, and nothing else is touched", async ({ page }) => {
  const document = headway<ComparedDocument>("comms", ...kWords, "--trace", ...kTraces);
  await open(page, `#/comms?${kRun}`);
  const answered = beginTask(page);
  await page.getByLabel("Choose files").setInputFiles(kTraces);
  await expect(page.getByText(document.verdict, { exact: true })).toBeVisible();
  for (const finding of document.findings) await expect(page.getByText(finding.text).first()).toBeVisible();
  answered([]);
  await page.getByRole("button", { name: "Remove ddp-rank1.json" }).click();
  const one = headway<ComparedDocument>("comms", ...kWords, "--trace", kTraces[0]!);
  await expect(page.getByText(one.verdict, { exact: true })).toBeVisible();
});

test("files can be dropped", async ({ page }) => {
  await open(page, `#/comms?${kRun}&traces=alone`);
  const data = await page.evaluateHandle(
    ([name, text]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([text!], name!, { type: "application/json" }));
      return transfer;
    },
    ["rank0.json", readFileSync(kTraces[0]!, "utf8")] as const,
  );
  await page.getByRole("group", { name: "Traces" }).dispatchEvent("drop", { dataTransfer: data });
  await expect(page.getByText("rank0.json")).toBeVisible();
  await expect(page.getByText(headway<MeasuredDocument>("comms", kTraces[0]!).format)).toBeVisible();
});

test("two files of one name are both read, and what was not read is told in words", async ({ page }) => {
  await open(page, `#/comms?${kRun}&traces=alone`);
  const buffers = kTraces.map((path) => readFileSync(path));
  const trace = (buffer: Buffer) => ({ name: "trace.json", mimeType: "application/json", buffer });
  const choose = page.getByLabel("Choose files");
  await choose.setInputFiles(trace(buffers[0]!));
  await choose.setInputFiles([trace(buffers[1]!), { name: "holiday.txt", mimeType: "text/plain", buffer: Buffer.from("sun") }]);
  await expect(page.getByRole("button", { name: "Remove trace.json (1)" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Remove trace.json (2)" })).toBeVisible();
  await expect(page.getByText("2 ranks, 2 files.")).toBeVisible();
  const notes = page.locator("ul.notes");
  await expect(notes).toContainText("Not read: holiday.txt is no trace");
  await expect(notes).not.toContainText("{");
});

test("a file that is no trace, and a field that is wrong, are said so", async ({ page }) => {
  await open(page, `#/comms?${kRun}`);
  await page
    .getByLabel("Choose files")
    .setInputFiles({ name: "holiday.txt", mimeType: "text/plain", buffer: Buffer.from("sun") });
  await expect(page.getByRole("alert")).toContainText("holiday.txt");
  await page.getByRole("button", { name: "Remove holiday.txt" }).click();
  const field = page.getByLabel("Tensor", { exact: true });
  await field.fill("3");
  await expect(field).toHaveAttribute("aria-invalid", "true");
  await field.fill("");
  await expect(page.getByRole("alert")).toBeEmpty();
});

test("the communication study has the command line's numbers, in its address", async ({ page, context }) => {
  await open(page, `#/comms?${kRun}`);
  await page.getByLabel("What", { exact: true }).selectOption("study");
  const study = headway<StudyDocument>("comms", "--study");
  const models = page.getByRole("region", { name: "The models" }).getByRole("row");
  await expect(models).toHaveCount(study.models.length + 1);
  for (const [i, model] of study.models.entries()) {
    await expect(models.nth(i + 1)).toContainText(bytes(model.tensor_bytes_in_layers));
  }
  await page.getByLabel("Part", { exact: true }).selectOption("tensor");
  const runs = study.runs.filter(({ part }) => part === "tensor");
  const rows = page.getByRole("region", { name: /^Tensor parallelism in one node/ }).getByRole("row");
  await expect(rows).toHaveCount(runs.length + 1);
  for (const [i, run] of runs.entries()) {
    await expect(rows.nth(i + 1)).toContainText(bytes(run.wire_bytes));
    await expect(rows.nth(i + 1)).toContainText(percent(run.exposed_s / run.step_time_s));
  }
  await expect(page).toHaveURL(/study=tensor/);
  await expectAccessible(page, "#answer");
  const second = await context.newPage();
  await second.setViewportSize({ width: 400, height: 800 });
  await second.goto(page.url().replace("study=tensor", "study=sequence"));
  const plot = second.getByRole("group", { name: /^Sequence length/ });
  await plot.focus();
  await plot.press("Home");
  const first = study.runs.find(({ part }) => part === "sequence")!;
  await expect(plot.locator('[aria-live="polite"]')).toContainText(count(first.tokens_per_s_per_gpu));
  await expectNoSidewaysScroll(second);
  await second.getByLabel("What", { exact: true }).selectOption("");
  await expect(fact(second, "a rank sends, a step")).toBeVisible();
});

test("an address restores what it was copied from", async ({ page, context }) => {
  await open(page, `#/comms?${kRun}`);
  await page.getByLabel("Pipeline", { exact: true }).fill("2");
  await page.getByLabel("Count", { exact: true }).selectOption("time");
  const time = seconds(said("--pp", "2").mean_rank.all.time_s);
  await expect(fact(page, "their time")).toHaveText(time);
  const second = await context.newPage();
  await second.goto(page.url());
  await unfold(second);
  await expect(fact(second, "their time")).toHaveText(time);
  await expect(second.getByLabel("Count", { exact: true })).toHaveValue("time");
});

test("can be used by all, wide and narrow, with every detail open", async ({ page }) => {
  await open(page, `#/comms?${kRun}&tp=2&pp=2`);
  await expect(fact(page, "calls").first()).toBeVisible();
  await expectForAll(page);
});

test("traces in time: every rank and kernel, with search, keys, the critical path and Perfetto", async ({ page }) => {
  await open(page, `#/comms?${kRun}&traces=alone`);
  await page.getByLabel("Choose files").setInputFiles(kTraces);
  const { timeline } = headway<{ timeline: TracedDocument }>("comms", ...kTraces, "--timeline");
  const part = page.getByRole("region", { name: "What each rank did when, and what it waited for" });
  await expect(part.locator("[data-timeline]")).toContainText(seconds(timeline.time_s));
  const chart = part.getByRole("group", { name: /^Timeline of 2 ranks/ });
  await chart.focus();
  await chart.press("Home");
  const said = chart.locator('[aria-live="polite"]');
  await expect(said).toContainText(`${timeline.names[timeline.ranks[0]!.name[0]!]!}, rank 0`);
  const seen = part.locator("[data-seen]");
  const whole = await seen.getAttribute("data-seen");
  await chart.press("w");
  expect(await seen.getAttribute("data-seen")).not.toBe(whole);
  await chart.press("0");
  expect(await seen.getAttribute("data-seen")).toBe(whole);

  // A call of rank 0 that waited: found by its name, then what it waited for by a key.
  const calls = timeline.ranks.reduce((all, rank) => all + rank.part.filter((each) => timeline.parts[each] === "all_reduce").length, 0);
  await part.getByLabel("Find").fill("all_reduce");
  await expect(part.locator("[data-found]")).toHaveAttribute("data-found", String(calls));
  const first = timeline.ranks[0]!;
  const waits = first.waits_for.findIndex((each) => each >= 0);
  await part.getByLabel("Find").fill("all_reduce rank 0");
  await part.getByLabel("Find").press("Enter");
  await expect(said).toContainText(`waited for: all_reduce default_pg on rank ${first.waits_for_rank[waits]}, for ${seconds(first.waiting_s[waits]!)}`);
  await chart.press("p");
  await expect(said).toContainText("rank 1");
  await expect(part.locator("[data-stage]")).toHaveAttribute("data-stage", "1");
  await part.getByRole("button", { name: "critical path" }).click();
  await expect(part.getByRole("button", { name: "critical path" })).toHaveAttribute("aria-pressed", "true");

  const download = page.waitForEvent("download");
  await part.getByRole("button", { name: "Perfetto" }).click();
  const { traceEvents } = JSON.parse(readFileSync(await (await download).path(), "utf8")) as { traceEvents: { ph: string }[] };
  expect(traceEvents.filter(({ ph }) => ph === "X")).toHaveLength(timeline.ranks.reduce((all, rank) => all + rank.name.length, 0));
  await expectAccessible(page, "#answer");
});

test("beside a run the traces have their timeline, too, and some of their steps alone", async ({ page }) => {
  await open(page, `#/comms?${kRun}`);
  await page.getByLabel("Choose files").setInputFiles(kTraces);
  await expect(page.getByRole("group", { name: /^Timeline of 2 ranks/ })).toBeVisible();
  await page.getByLabel("Only steps").fill("99");
  await expect(page.getByRole("alert").first()).toContainText("'99' is not in the traces");
});
