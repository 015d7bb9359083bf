import type { Page } from "@playwright/test";

import { change, count, number, percent, seconds } from "../src/lib/format";
import type { BestDocument, CurveDocument, GainedDocument, ServedDocument } from "../src/views/serve/documents";
import { offerWords, splitWords } from "../src/views/serve/questions";
import { headway } from "./command";
import { at, expect, expectForAll, open, test } from "./page";

// Small, so that searches take a moment.
const kServed = "model=llama-3-8b&cluster=dgx-h100&input-len=500&output-len=50";
const kWords = "--model llama-3-8b --cluster dgx-h100 --input-len 500 --output-len 50".split(" ");
const kAddress = `#/serve?${kServed}&concurrency=8&tp=2`;

const said = <Document = ServedDocument & GainedDocument>(...more: string[]) =>
  headway<Document>("infer", ...kWords, ...more);
const fact = (page: Page, name: string) => page.locator(`[data-number="${name}"]`);
const region = (page: Page, name: string) => page.getByRole("region", { name });
const front = (page: Page) => region(page, "The best ways").locator("tbody tr");

test("shows what requests get at once, as the command line says", async ({ page }) => {
  await page.goto(at("#/serve"));
  const words = "--model llama-3-70b --cluster dgx-h100 --input-len 1000 --output-len 500 --concurrency 64 --tp 8";
  const served = headway<ServedDocument & GainedDocument>("infer", ...words.split(" "));
  await expect(fact(page, "First token")).toContainText(seconds(served.ttft_s));
  await expect(fact(page, "Each token after it")).toContainText(seconds(served.quantiles!.tpot_s.p99));
  await expect(fact(page, "Output tokens/s")).toContainText(count(served.throughput_output_tok_s));
  await expect(region(page, "Where a pass goes").locator("tfoot")).toContainText(
    seconds(Object.values(served.parts_s!.decode).reduce((all, part) => all + part, 0)),
  );
  await expect(region(page, "Memory")).toContainText(`${count(served.kv_tokens)} tokens of cache fit`);
});

test("a changed field gives the number of the command line, and stands in the address", async ({ page }) => {
  await open(page, kAddress);
  await expect(fact(page, "First token")).toContainText(seconds(said("--concurrency", "8", "--tp", "2").ttft_s));
  await page.getByLabel("Weights").selectOption("fp8");
  await page.getByLabel(/^Clients/).fill("32");
  const changed = said("--concurrency", "32", "--tp", "2", "--weights", "fp8");
  await expect(fact(page, "First token")).toContainText(seconds(changed.ttft_s));
  await expect(page).toHaveURL(/concurrency=32&tp=2&weights=fp8$/);
  await page.goBack();
  await expect(page.getByLabel(/^Clients/)).toHaveValue("8");
});

test("the front has the ways that the command line finds, and a click shows one", async ({ page }) => {
  await page.goto(at(`${kAddress}&gpus=4&dp=2`));
  const best = said<BestDocument>("--best", "--gpus", "4");
  await expect(front(page)).toHaveCount(best.front.length);
  for (const [i, way] of best.front.entries()) {
    await expect(front(page).nth(i)).toContainText(splitWords(way.layout));
    await expect(front(page).nth(i)).toContainText(number(way.tokens_per_s_per_gpu));
  }
  const last = best.front[best.front.length - 1]!;
  await front(page).last().getByRole("link").click();
  await expect(fact(page, "First token")).toContainText(seconds(last.ttft_s));
  await expect(fact(page, "Output tokens/s")).toContainText(count(last.throughput_output_tok_s));
  await expect(page.getByLabel(/^Clients/)).toHaveValue(String(last.concurrency));
});

test("arrow keys read the points of the front, and Enter shows one", async ({ page }) => {
  await page.goto(at(`${kAddress}&gpus=4&dp=2`));
  const best = said<BestDocument>("--best", "--gpus", "4");
  const slowest = best.front[best.front.length - 1]!;
  const plot = page.getByRole("group", { name: /^A user's speed against/ });
  await plot.focus();
  await plot.press("Home"); // the leftmost: of the slowest user
  await expect(plot.locator('[aria-live="polite"]')).toContainText(`${number(1 / slowest.tpot_s)} tokens/s`);
  await plot.press("Enter");
  await expect(page).toHaveURL(new RegExp(`concurrency=${slowest.concurrency}(&|$)`));
  await expect(fact(page, "First token")).toContainText(seconds(slowest.ttft_s));
});

test("says where four of five measured ones lie, of an answer and of every way of the front", async ({ page }) => {
  await page.goto(at(`${kAddress}&gpus=2`));
  const interval = said("--concurrency", "8", "--tp", "2").interval!;
  await expect(fact(page, "First token")).toContainText(`${seconds(interval.ttft_s![0])} to ${seconds(interval.ttft_s![1])}`);
  await expect(fact(page, "Output tokens/s")).toContainText(`to ${count(interval.throughput_output_tok_s![1])}`);
  const best = said<BestDocument>("--best", "--gpus", "2");
  await expect(front(page).first()).toContainText(seconds(best.front[0]!.interval!.tpot_s![1]));
});

test("the best are among formats where these are asked for, and a click shows one", async ({ page }) => {
  await open(page, `${kAddress}&gpus=2`);
  await page.getByLabel(/^Best among/).fill("fp8/fp8,int4");
  const best = said<BestDocument>("--best", "--gpus", "2", "--formats", "fp8/fp8,int4");
  await expect(front(page)).toHaveCount(best.front.length);
  await expect(front(page).first()).toContainText(best.front[0]!.weights);
  await expect(fact(page, "First token")).toContainText(seconds(said("--concurrency", "8", "--tp", "2").ttft_s));
  await front(page).first().getByRole("link").click();
  await expect(fact(page, "First token")).toContainText(seconds(best.front[0]!.ttft_s));
  await expect(page.getByLabel("Weights")).toHaveValue(best.front[0]!.weights);
});

test("prefill and decode apart are two ways with their own memory, and searched as such", async ({ page }) => {
  await page.goto(at(`#/serve?${kServed}&concurrency=8&prefill=tp%3D1,copies%3D2&decode=tp%3D2`));
  const apart = said<ServedDocument & GainedDocument>(
    ..."--concurrency 8 --prefill tp=1,copies=2 --decode tp=2".split(" "),
  );
  await expect(fact(page, "First token")).toContainText(seconds(apart.ttft_s));
  await expect(page.getByText("prefill on 2 x one accelerator, decode on 1 x tp 2")).toBeVisible();
  await expect(region(page, "Memory of prefill")).toContainText(`${count(apart.prefill!.kv_tokens)} tokens of cache fit`);
  await expect(region(page, "Memory of decode")).toContainText(`${count(apart.decode!.kv_tokens)} tokens of cache fit`);
  await expect(fact(page, "Prefill answers")).toContainText(number(apart.prefill!.capacity_requests_per_s!));
  const curve = said<CurveDocument>(..."--curve concurrency --prefill tp=1,copies=2 --decode tp=2".split(" "));
  const more = region(page, "Under ever more load");
  await more.getByText("Numbers").first().click();
  await expect(more.locator("thead").first()).toContainText("clients of all copies");
  await expect(more.locator("tbody tr")).toHaveCount(curve.points.length);
  const best = said<BestDocument>("--best", "--disaggregate", "--gpus", "4");
  await expect(front(page)).toHaveCount(best.front.length);
  const last = best.front[best.front.length - 1]!;
  await expect(front(page).last()).toContainText(offerWords(last));
  await front(page).last().getByRole("link").click();
  await expect(fact(page, "First token")).toContainText(seconds(last.ttft_s));
  await expect(fact(page, "Output tokens/s")).toContainText(count(last.throughput_output_tok_s));
});

test("curves go along the load that is given, up to capacity", async ({ page }) => {
  await open(page, `#/serve?${kServed}&rate=20&tp=2&ttft=20+ms`);
  const curve = said<CurveDocument>("--curve", "rate", "--tp", "2", "--ttft", "20 ms");
  const more = region(page, "Under ever more load");
  await expect(more.getByText(`capacity: ${number(curve.capacity_requests_per_s!)}`).first()).toBeVisible();
  await more.getByText("Numbers").first().click();
  const rows = more.locator("tbody tr");
  await expect(rows).toHaveCount(curve.points.length);
  const last = curve.points[curve.points.length - 1]!;
  await expect(rows.last()).toContainText(seconds(last.quantiles!.ttft_s.p90));
  await expect(rows.last()).toContainText(percent(last.share_within_limits!));
  await expect(fact(page, "Within the limits")).toContainText(
    percent(said("--rate", "20", "--tp", "2", "--ttft", "20 ms").share_within_limits!),
  );
  await page.getByLabel(/^Rate/).fill("");
  await page.getByLabel(/^Batch/).fill("4");
  await page.getByLabel(/^TTFT/).fill("");
  const alike = said<CurveDocument>("--curve", "batch", "--tp", "2");
  await expect(rows).toHaveCount(alike.points.length);
});

test("where it does not fit, or is not stable, it says so", async ({ page }) => {
  await page.goto(at("#/serve?model=llama-3-70b&cluster=dgx-h100&input-len=100&output-len=50&batch=1"));
  await expect(page.getByText("It does not fit: the weights alone are too large")).toBeVisible();
  await expect(region(page, "The best ways")).toContainText("No way of serving it on 1 accelerator fits");
  await page.goto(at(`#/serve?${kServed}&rate=1000000`));
  const capacity = said("--rate", "1000000").capacity_requests_per_s!;
  await expect(page.getByText(`Not stable: at most ${number(capacity)} requests/s`)).toBeVisible();
});

test("everything that is wrong stands beside its field, and the last good answer stays", async ({ page }) => {
  await open(page, kAddress);
  const first = seconds(said("--concurrency", "8", "--tp", "2").ttft_s);
  await expect(fact(page, "First token")).toContainText(first);
  await page.getByLabel("Tensor").fill("3");
  await page.getByLabel(/^Prompt/).fill("9000000");
  await page.getByLabel(/^TPOT/).fill("soon");
  await expect(page.getByLabel("Tensor")).toHaveAttribute("aria-invalid", "true");
  await expect(page.getByLabel(/^TPOT/)).toHaveAccessibleDescription(/'soon'/);
  await expect(page.getByRole("alert")).toContainText("output-len");
  await expect(fact(page, "First token")).toContainText(first);
});

test("a model and a cluster of another view are served as usual", async ({ page }) => {
  await page.goto(at("#/step?model=llama-3-8b&cluster=dgx-a100-80gb&gpus=64&seq=4096&global-batch=64"));
  await page.getByRole("link", { name: "Serve" }).click();
  await expect(page.getByLabel("Model")).toHaveValue("llama-3-8b");
  await expect(page.getByLabel("Cluster")).toHaveValue("dgx-a100-80gb");
  await expect(fact(page, "First token")).toBeVisible();
});

test("a pinned way of serving stands beside the changed one, and the address holds both", async ({ page }) => {
  await page.goto(at(kAddress));
  await page.getByRole("button", { name: "Pin as A" }).click();
  await page.getByLabel(/^Clients/).fill("32");
  const [a, b] = ["8", "32"].map((clients) => said("--concurrency", clients, "--tp", "2"));
  const row = (name: string) => page.locator('[data-table="differences"] tbody tr').filter({ hasText: name });
  const expectBoth = async () => {
    for (const text of [seconds(a!.tpot_s), seconds(b!.tpot_s), change(b!.tpot_s / a!.tpot_s)]) {
      await expect(row("each token after it")).toContainText(text);
    }
    await expect(row("output tokens/s")).toContainText(count(b!.throughput_output_tok_s));
    await expect(page.locator(".pin")).toContainText("concurrency 8 → 32");
  };
  await expectBoth();
  await page.reload();
  await expectBoth();
});

test("the commands below give the same", async ({ page }) => {
  await page.goto(at(kAddress));
  const commands = page.locator("pre.command");
  await expect(commands).toContainText("--concurrency 8 --tp 2");
  const lines = (await commands.innerText()).trim().split("\n");
  expect(lines).toHaveLength(3);
  const [own, best, curve] = lines.map((line) => headway<Record<string, unknown>>(...line.split(" ").slice(1)));
  expect(own).toEqual(said("--concurrency", "8", "--tp", "2"));
  expect(best).toHaveProperty("front");
  expect(curve).toHaveProperty("points");
});

test("can be used by all, wide and narrow, with every detail open", async ({ page }) => {
  await page.goto(at(`#/serve?${kServed}&rate=20&tp=2&ttft=200+ms`));
  await expect(page.getByText(/^capacity:/).first()).toBeVisible();
  await expect(front(page).first()).toBeVisible();
  await expectForAll(page);
});
