import { readFileSync } from "node:fs";

import type { Page } from "@playwright/test";

import type { PlanDocument, PredictDocument } from "../src/lib/documents";
import { seconds } from "../src/lib/format";
import { kPartMeaning } from "../src/lib/parts";
import type { SimulateDocument } from "../src/lib/simulated";
import { headway } from "./command";
import { at, expect, expectAccessible, expectForAll, kServed, open, test, unfold } from "./page";

const kRun = "model=llama-3.1-70b&cluster=dgx-h100&gpus=64&seq=8192&global-batch=128";
const kWords = "--model llama-3.1-70b --cluster dgx-h100 --gpus 64 --seq 8192 --global-batch 128".split(" ");
const kStepTime = '[data-number="Step time"]';

const said = (...more: string[]) => headway<PredictDocument>("predict", ...kWords, ...more);
const best = () => headway<PlanDocument>("plan", ...kWords, "--top", "1").best[0]!;

test("shows a step at once, and parts that sum to its time", async ({ page }) => {
  await open(page, "#/step");
  const time = seconds(best().step_time_s);
  await expect(page.locator(kStepTime)).toContainText(time);
  const bar = page.getByRole("region", { name: "Where the time goes" });
  await expect(bar.locator("tfoot td").first()).toHaveText(time);
});

test("the page of a newer headway is not hidden by the browser's cache", { tag: "@served" }, async ({ request }) => {
  const script = await request.get(at("assets/index.js"));
  expect(script.headers()["cache-control"]).toBe("no-cache");
  const again = await request.get(at("assets/index.js"), { headers: { "If-None-Match": script.headers().etag ?? "" } });
  expect(again.status()).toBe(304);
});

test("a changed degree gives the number of the command line", async ({ page }) => {
  await open(page, `#/step?${kRun}&tp=8`);
  await page.getByLabel("Pipeline", { exact: true }).fill("2");
  await expect(page.locator(kStepTime)).toContainText(seconds(said("--tp", "8", "--pp", "2").step_time_s));
  await page.getByLabel("Pipeline", { exact: true }).fill("8");
  await page.getByLabel("Tensor", { exact: true }).fill("4");
  const step = said("--tp", "4", "--pp", "8");
  await expect(page.locator(kStepTime)).toContainText(seconds(step.step_time_s));
  await expect(page.getByRole("region", { name: "Where the time goes" })).toContainText(seconds(step.parts_s.bubble));
  await expect(page).toHaveURL(/tp=4&pp=8$/);
  await page.goBack();
  await expect(page.locator(kStepTime)).toContainText(seconds(said("--tp", "8", "--pp", "8").step_time_s));
});

test("a field that changes faster than answers come is followed, by one question at a time", kServed, async ({ page }) => {
  await open(page, `#/step?${kRun}&tp=8&pp=8`);
  const time = page.locator(kStepTime);
  await expect(time).toContainText(seconds(said("--tp", "8", "--pp", "8").step_time_s));
  let asked = 0;
  let most = 0;
  let ended = 0;
  await page.route("**/api/predict", async (route) => {
    most = Math.max(most, ++asked);
    await new Promise((resolve) => setTimeout(resolve, 250));
    --asked;
    await route.continue().catch(() => {});
  });
  page.on("requestfailed", (request) => {
    if (request.url().endsWith("/api/predict")) ++ended; // long work is ended and asked anew
  });
  const seen = new Set<string>();
  for (let batch = 256; batch <= 256 + 64 * 20; batch += 64) {
    await page.getByLabel("Global batch").fill(String(batch));
    await page.waitForTimeout(60);
    seen.add(await time.innerText());
  }
  expect([most, ended]).toEqual([1, 0]);
  expect(seen.size).toBeGreaterThan(2);
  const last = headway<PredictDocument>("predict", ...kWords.slice(0, -1), String(256 + 64 * 20), "--tp", "8", "--pp", "8");
  await expect(time).toContainText(seconds(last.step_time_s));
});

test("what is wrong stands beside its field, and the last answer stays", async ({ page }) => {
  await open(page, `#/step?${kRun}&tp=8&cp=2`);
  const right = seconds(said("--tp", "8", "--cp", "2").step_time_s);
  await expect(page.locator(kStepTime)).toContainText(right);
  const field = page.getByLabel("Pipeline", { exact: true });
  await field.fill("no");
  await expect(field).toHaveAttribute("aria-invalid", "true");
  await expect(field).toHaveAccessibleDescription(/\w/);
  await expect(page.getByRole("alert")).toContainText("pp");
  await expect(page.locator(kStepTime)).toContainText(right);
  await expectAccessible(page, ".problems");
  await expectAccessible(page, ".wrong");
  await field.fill("2");
  await expect(page.getByRole("alert")).toBeEmpty();
  await expect(field).not.toHaveAttribute("aria-invalid", "true");
});

test("a search for the best layout that is refused is over", async ({ page }) => {
  await page.goto(at(`#/step?${kRun}`));
  await expect(page.locator(kStepTime)).toBeVisible();
  const batch = page.getByLabel("Global batch");
  await batch.fill("20,48");
  await expect(batch).toHaveAttribute("aria-invalid", "true");
  await expect(page.locator("#answer")).toHaveAttribute("aria-busy", "false");
});

test("an address restores what it was copied from", async ({ page, context }) => {
  await open(page, `#/step?${kRun}&pp=4&tp=2`);
  await page.getByLabel("Recompute", { exact: true }).selectOption("full");
  await page.getByLabel("No sequence parallelism").check();
  await page.getByLabel("Tensor", { exact: true }).fill("4");
  const time = seconds(said("--recompute", "full", "--no-sp", "--tp", "4", "--pp", "4").step_time_s);
  await expect(page.locator(kStepTime)).toContainText(time);
  const second = await context.newPage();
  await second.goto(page.url());
  await unfold(second);
  await expect(second.locator(kStepTime)).toContainText(time);
  await expect(second.getByLabel("No sequence parallelism")).toBeChecked();
});

const simulated = (...more: string[]) => headway<SimulateDocument>("simulate", ...kWords, ...more);
const kTimeline = ".timeline .chart-plot";

async function seen(page: Page): Promise<readonly [number, number]> {
  const words = await page.locator(".timeline").getAttribute("data-seen");
  const [from, to] = words!.split(" ").map(Number);
  return [from!, to!];
}

test("the timeline is the one that the command line simulates", async ({ page }) => {
  for (const more of ["tp=8", "tp=8&pp=4", "tp=8&pp=4&vpp=5", "tp=8&pp=4&schedule=zero-bubble", "tp=8&pp=4&schedule=dual-pipe"]) {
    await open(page, `#/step?${kRun}&${more}`);
    const words = more.split("&").flatMap((pair) => `--${pair}`.split("="));
    const step = simulated(...words);
    await expect(page.locator(`[data-timeline="${step.placed_s}"]`)).toContainText(seconds(step.step_time_s));
    await expect(page.locator(".timeline")).toHaveAttribute("data-stage", String(step.stage));
    const [from, to] = await seen(page);
    expect([from, to], more).toEqual([0, expect.closeTo(step.placed_s, 8)]);
  }
});

test("the timeline is carried away as a picture and for Perfetto", async ({ page }) => {
  await page.goto(at(`#/step?${kRun.replace("batch=128", "batch=16")}&tp=8&pp=4`));
  await expect(page.locator(kTimeline)).toBeVisible();
  const group = page.getByRole("group", { name: "Download Each stage, and the streams of one" });
  const saved = async (name: string) => {
    const download = page.waitForEvent("download");
    await group.getByRole("button", { name }).click();
    return readFileSync(await (await download).path(), "latin1");
  };
  expect(await saved("SVG")).toContain("data:image/png;base64,");
  const { traceEvents } = JSON.parse(await saved("Perfetto")) as { traceEvents: { ph: string; ts: number; dur: number }[] };
  const step = simulated("--global-batch", "16", "--tp", "8", "--pp", "4", "--timeline");
  const end = traceEvents.reduce((last, { ph, ts, dur }) => (ph === "X" ? Math.max(last, ts + dur) : last), 0);
  expect(end / 1e6).toBeCloseTo(step.placed_s, 8);
});

test("the bars of time and memory are carried away as pictures, with their numbers", async ({ page }) => {
  await page.goto(at(`#/step?${kRun}&tp=8&pp=4`));
  const step = said("--tp", "8", "--pp", "4");
  const time = page.getByRole("region", { name: "Where the time goes" });
  const group = time.getByRole("group", { name: /^Picture of: Seconds of one step/ });
  const saved = async (name: string) => {
    const download = page.waitForEvent("download");
    await group.getByRole("button", { name }).click();
    return readFileSync(await (await download).path());
  };
  const svg = (await saved("SVG")).toString();
  for (const text of ["compute", seconds(step.parts_s.compute), "bubble", seconds(step.parts_s.bubble)]) expect(svg).toContain(`>${text}<`);
  expect(svg).not.toContain("var(");
  expect((await saved("PNG")).readUInt32BE(16)).toBe(1280); // its width: twice that of the drawing
});

test("what the parts of the step are is said below them, not under a pointer alone", async ({ page }) => {
  await page.goto(at(`#/step?${kRun}&tp=8&pp=4`));
  const time = page.getByRole("region", { name: "Where the time goes" });
  await time.getByText("What the parts are").click();
  for (const meaning of Object.values(kPartMeaning)) await expect(time.locator(".meanings")).toContainText(meaning);
});

test("a slot says what it is, how long it takes and what it waited for", async ({ page }) => {
  await open(page, `#/step?${kRun}&tp=8&pp=4`);
  const plot = page.locator(kTimeline);
  await plot.scrollIntoViewIfNeeded();
  const box = (await plot.boundingBox())!;
  await page.mouse.move(box.x + 136, box.y + 10);
  const tip = page.locator(".chart-tooltip");
  await expect(tip).toContainText("forward of micro-batch 0, stage 0");
  await expect(tip).toContainText("waited fornothing");
  const one = simulated("--tp", "8", "--pp", "4", "--timeline").timeline!.stages[0]!;
  const first = one.program.findIndex((program) => program >= 0);
  await expect(tip).toContainText(seconds(one.end_s[first]! - one.begin_s[first]!));
});

test("the timeline is read, moved and made closer by keys", async ({ page }) => {
  await open(page, `#/step?${kRun}&tp=8&pp=4`);
  const plot = page.locator(kTimeline);
  await plot.focus();
  const whole = await seen(page);
  await page.keyboard.press("+");
  const closer = await seen(page);
  expect(closer[1] - closer[0]).toBeCloseTo((whole[1] - whole[0]) / 2);
  await page.keyboard.press("PageDown");
  expect((await seen(page))[0]).toBeGreaterThan(closer[0]);
  await page.keyboard.press("0");
  expect(await seen(page)).toEqual(whole);
  await page.keyboard.press("w");
  expect(await seen(page)).toEqual(closer);
  await page.keyboard.press("d");
  expect((await seen(page))[0]).toBeGreaterThan(closer[0]);
  await page.keyboard.press("a");
  const before = await seen(page);
  for (const another of ["Control+s", "Alt+s", "Meta+s"]) await page.keyboard.press(another); // not the timeline's
  expect(await seen(page)).toEqual(before);
  await page.keyboard.press("s");
  expect(await seen(page)).toEqual(whole);

  const said = page.locator(".timeline [aria-live]");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Home");
  for (let i = 0; i < 4; ++i) await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowDown");
  await expect(said).toContainText("forward of micro-batch 0, stage 1");
  await expect(said).toContainText("waited for: forward of micro-batch 0 on stage 0");
  await page.keyboard.press("p");
  await expect(said).toContainText("forward of micro-batch 0, stage 0");
  await page.keyboard.press("Enter");
  const near = await seen(page);
  expect(near[1] - near[0]).toBeLessThan((whole[1] - whole[0]) / 10);
  // Down from the rows of the stages to the kernels of the one that was chosen.
  for (let i = 0; i < 4; ++i) await page.keyboard.press("ArrowDown");
  await expect(said).toContainText("in: forward of micro-batch");
  await page.keyboard.press("c");
  await expect(page.getByRole("button", { name: "critical path" })).toHaveAttribute("aria-pressed", "true");
});

test("the timeline is dragged, and closer under the pointer", async ({ page }) => {
  await open(page, `#/step?${kRun}&tp=8&pp=4`);
  const plot = page.locator(kTimeline);
  await plot.scrollIntoViewIfNeeded();
  const box = (await plot.boundingBox())!;
  const middle = { x: box.x + 132 + (box.width - 132) / 2, y: box.y + 30 };
  await page.mouse.move(middle.x, middle.y);
  const before = await seen(page);
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -400);
  await page.keyboard.up("Control");
  await expect.poll(async () => (await seen(page))[0]).toBeGreaterThan(before[0]);
  const zoomed = await seen(page);
  expect((zoomed[0] + zoomed[1]) / (before[0] + before[1])).toBeCloseTo(1, 2);
  await page.mouse.down();
  await page.mouse.move(middle.x + 100, middle.y, { steps: 5 });
  await page.mouse.up();
  const dragged = await seen(page);
  expect(dragged[1] - dragged[0]).toBeCloseTo(zoomed[1] - zoomed[0], 6);
  expect((zoomed[0] - dragged[0]) / ((zoomed[1] - zoomed[0]) * (100 / (box.width - 132)))).toBeCloseTo(1, 1);
  // A click, unlike a drag, chooses a stage.
  const stage = simulated("--tp", "8", "--pp", "4").stage;
  await expect(page.locator(".timeline")).toHaveAttribute("data-stage", String(stage));
  await page.mouse.click(middle.x, box.y + 10);
  await expect(page.locator(".timeline")).toHaveAttribute("data-stage", "0");
});

test("what the timeline holds is found by its name, counted, and gone through by keys", async ({ page }) => {
  await open(page, `#/step?${kRun}&tp=8&pp=4`);
  const plot = page.locator(kTimeline);
  await plot.scrollIntoViewIfNeeded();
  const find = page.getByRole("search", { name: "The timeline" });
  const field = find.getByLabel("Find");
  const told = find.getByRole("status");
  await field.fill("backward stage 2");
  const { names, stages } = simulated("--tp", "8", "--pp", "4", "--timeline").timeline!;
  const all = stages[2]!.name.filter((name) => names[name] === "backward").length;
  await expect(told).toHaveText(`${all} found`);
  const said = page.locator(".timeline [aria-live]");
  await field.press("Enter");
  await expect(told).toHaveText(`1 of ${all}`);
  await expect(said).toContainText("backward of micro-batch 0, stage 2");
  await field.press("Enter");
  await expect(said).toContainText("backward of micro-batch 1, stage 2");
  await field.press("Shift+Enter");
  await expect(said).toContainText("backward of micro-batch 0, stage 2");
  await find.getByRole("button", { name: "previous" }).click();
  await expect(told).toHaveText(`${all} of ${all}`);

  // A call inside a slot is shown from so near that it is drawn by itself.
  await field.fill("all_reduce");
  if ((await told.textContent()) === "none") await field.fill("reduce");
  await field.press("Enter");
  await expect(said).toContainText("in: ");
  await field.fill("no such name");
  await expect(told).toHaveText("none");
  await expect(find.getByRole("button", { name: "next" })).toBeDisabled();
  await field.press("Escape");
  await expect(field).toHaveValue("");
});

test("a timeline that is too large is not drawn, and the page says why", async ({ page }) => {
  await open(page, `#/step?${kRun.replace("global-batch=128", "global-batch=65536")}&tp=8&pp=4`);
  await expect(page.getByRole("region", { name: "The step in time" })).toContainText("at most 200000");
});

test("the configuration that starts the run is the command line's", async ({ page }) => {
  await open(page, `#/step?${kRun}&tp=8&pp=2`);
  await page.getByLabel("Configuration that starts it").selectOption("megatron");
  const launch = headway<{ files: { text: string }[] }>("predict", ...kWords, "--tp", "8", "--pp", "2", "--emit", "megatron");
  await expect(page.locator("pre.text").last()).toHaveText(launch.files[0]!.text);
});

test("calls can be sorted by what is exposed", async ({ page }) => {
  await open(page, `#/step?${kRun}&tp=8&pp=4`);
  const calls = page.getByRole("region", { name: "Calls of one rank", exact: true });
  await calls.getByRole("button", { name: "Size" }).click();
  await calls.getByRole("button", { name: "Size" }).click();
  const largest = Math.max(...said("--tp", "8", "--pp", "4").calls.map((call) => call.bytes));
  await expect(calls.locator("tbody tr").first()).toContainText(`${(largest / 2 ** 30).toFixed(2)} GiB`);
});

test("a changed field is answered within 100 ms", kServed, async ({ page }) => {
  await open(page, `#/step?${kRun}&tp=8&pp=8`);
  await expect(page.locator(kStepTime)).not.toBeEmpty();
  for (const seq of [4096, 2048, 1024, 6144, 3072]) {
    const answered = page.waitForResponse("**/api/predict");
    await page.getByLabel("Sequence length").fill(String(seq));
    await (await answered).finished();
  }
  const durations = await page.evaluate(() =>
    performance
      .getEntriesByType("resource")
      .filter((entry) => entry.name.endsWith("/api/predict"))
      .map((entry) => entry.duration),
  );
  // The quickest: other tests compute at the same time.
  expect(Math.min(...durations)).toBeLessThan(100);
});

test("a changed field is asked about before the next picture is painted", kServed, async ({ page }) => {
  await open(page, `#/step?${kRun}&tp=8&pp=8`);
  await expect(page.locator(kStepTime)).not.toBeEmpty();
  const asked = await page.getByLabel("Sequence length").evaluate(async (field: HTMLInputElement) => {
    const asked: string[] = [];
    const { fetch } = window;
    window.fetch = (what, how) => {
      asked.push(String(what));
      return fetch(what, how);
    };
    field.value = "4096";
    field.dispatchEvent(new Event("input", { bubbles: true }));
    await new Promise(requestAnimationFrame); // runs before the paint
    return asked;
  });
  expect(asked.some((what) => what.endsWith("api/predict"))).toBe(true);
});

test("can be used by all, wide and narrow, with every detail open", async ({ page }) => {
  await open(page, `#/step?${kRun}&tp=8&pp=4`);
  await expect(page.locator(kTimeline)).toBeVisible();
  await expectForAll(page);
});
