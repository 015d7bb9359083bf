// Files of the reader's own, and published runs to begin with.
import { readFileSync, writeFileSync } from "node:fs";

import type { Page } from "@playwright/test";

import type { PlanDocument, PredictDocument } from "../src/lib/documents";
import { seconds } from "../src/lib/format";
import { kFirstRun } from "../src/lib/run";
import { parsePlace } from "../src/lib/url";
import { headway, repository } from "./command";
import { at, beginTask, choose, expect, kServed, test } from "./page";

const kStepTime = '[data-number="Step time"]';
const kSummary = "Begin with a published run or a file of yours";

async function give(page: Page, name: string, content: string | Buffer): Promise<void> {
  await page.locator(".own input[type=file]").setInputFiles({ name, mimeType: "", buffer: Buffer.from(content) });
}
const example = (name: string) => readFileSync(`${repository}examples/${name}`, "utf8");

// A config.json of Mistral 7B.
const kConfig = JSON.stringify({
  architectures: ["MistralForCausalLM"],
  model_type: "mistral",
  hidden_size: 4096,
  intermediate_size: 14336,
  num_attention_heads: 32,
  num_hidden_layers: 32,
  num_key_value_heads: 8,
  vocab_size: 32000,
  max_position_embeddings: 32768,
  tie_word_embeddings: false,
  torch_dtype: "bfloat16",
});

test("does my config.json fit on 8 H100: a file, and one field", async ({ page }) => {
  const file = test.info().outputPath("config.json");
  writeFileSync(file, kConfig);
  const words = `--model ${file} --cluster dgx-h100 --gpus 8 --seq 8192 --global-batch 128 --top 1`.split(" ");
  const best = headway<PlanDocument>("plan", ...words).best[0]!;
  await page.goto(at("#/step"));
  const answered = beginTask(page, kFirstRun);
  await page.getByText(kSummary).click();
  await give(page, "config.json", kConfig);
  await page.getByLabel("Accelerators", { exact: true }).fill("8");
  await expect(page.getByLabel("Model", { exact: true })).toHaveValue("own: config");
  await expect(page.locator(kStepTime)).toContainText(seconds(best.step_time_s));
  await expect(page.getByRole("region", { name: "What the memory holds" })).toContainText("It fits.");
  answered(["gpus", "model"]);
  // The address holds the model.
  await page.reload();
  await expect(page.locator(kStepTime)).toContainText(seconds(best.step_time_s));
});

test("a run of one's own is given by the command that the page shows, with the files that it saves", async ({ page }) => {
  const cluster = JSON.stringify({ name: "mine", base: "dgx-h100", levels: { fabric: { latency: "30 us" } } });
  const small = { name: "small", hidden: 512, heads: 8, layers: 4, vocabulary: 32000 };
  for (const model of [kConfig, JSON.stringify(small)]) {
    const fields = new URLSearchParams({ model, cluster, gpus: "16", seq: "1024", "global-batch": "32", tp: "2" });
    await page.goto(at(`#/step?${fields}`));
    const same = page.getByRole("region", { name: "The same on the command line" });
    let [, ...words] = (await same.locator("pre.command").innerText()).split(" ");
    for (const save of await same.getByRole("button", { name: /^Save / }).all()) {
      const download = page.waitForEvent("download");
      await save.click();
      const name = (await download).suggestedFilename();
      const path = test.info().outputPath(name);
      await (await download).saveAs(path);
      expect(words).toContain(name);
      words = words.map((word) => (word === name ? path : word));
    }
    await expect(page.locator(kStepTime)).toContainText(seconds(headway<PredictDocument>(...words).step_time_s));
  }
  await page.getByText("The same in Python").click();
  await expect(page.locator("pre.python")).toContainText('cluster={"name": "mine", "base": "dgx-h100"');
});

test("the machine is changed by sliders, saved as a file, and the file dropped again is that machine", async ({ page }) => {
  const run = "model=llama-2-7b&gpus=16&seq=4096&global-batch=64&tp=8&dp=2";
  await page.goto(at(`#/step?cluster=dgx-h100&${run}`));
  await page.getByText("Change the machine by sliders").click();
  const slider = page.getByRole("slider", { name: "fabric: bandwidth of each" });
  await slider.focus();
  for (let i = 0; i < 8; ++i) await slider.press("ArrowLeft"); // a quarter of a doubling each
  await expect(slider).toHaveAttribute("aria-valuetext", /×0\.25/);
  await expect(page.getByLabel("Cluster", { exact: true })).toHaveValue("own: dgx-h100-changed");
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save as dgx-h100-changed.toml" }).click();
  const path = test.info().outputPath("mine.toml");
  await (await download).saveAs(path);
  const words = "--model llama-2-7b --gpus 16 --seq 4096 --global-batch 64 --tp 8 --dp 2".split(" ");
  const changed = headway<PredictDocument>("predict", "--cluster", path, ...words);
  expect(changed.step_time_s).toBeGreaterThan(headway<PredictDocument>("predict", "--cluster", "dgx-h100", ...words).step_time_s);
  await expect(page.locator(kStepTime)).toContainText(seconds(changed.step_time_s));
  await page.goto(at(`#/step?cluster=dgx-a100-80gb&${run}`));
  await page.getByText(kSummary).click();
  await give(page, "mine.toml", readFileSync(path));
  await expect(page.getByLabel("Cluster", { exact: true })).toHaveValue("own: dgx-h100-changed");
  const { cluster } = parsePlace(new URL(page.url()).hash).fields;
  await page.goto(at(`#/step?${new URLSearchParams({ cluster: cluster! })}&${run}`));
  await expect(page.locator(kStepTime)).toContainText(seconds(changed.step_time_s));
  // Moved back it is the built-in one.
  await page.getByRole("button", { name: /^fabric: bandwidth of each: back to/ }).click();
  await expect(page).toHaveURL(/cluster=dgx-h100&/);
});

test("a pasted cluster takes the place of the one before, and a launch script that of the run", kServed, async ({ page }) => {
  await page.goto(at("#/step?model=llama-2-7b&cluster=dgx-h100&gpus=64&seq=4096&global-batch=64&framework=fsdp&zero=3"));
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.postData() ?? ""));
  await expect(page.locator(kStepTime)).toBeVisible();
  expect(asked.filter((each) => each.includes("published"))).toHaveLength(0); // before it is opened
  await page.getByText(kSummary).click();
  const text = page.getByLabel("Or paste its text");
  const paste = (name: string) =>
    text.evaluate((field: HTMLTextAreaElement, pasted) => {
      field.value = pasted;
      field.dispatchEvent(new InputEvent("input", { inputType: "insertFromPaste", bubbles: true }));
    }, example(name));
  await paste("slow-network.toml");
  await expect(page.locator(".own [role=status]")).toContainText("The text was read.");
  await text.dispatchEvent("change"); // as where the field is left
  await expect(page.getByLabel("Cluster", { exact: true })).toHaveValue("own: DGX H100 behind a slow network");
  await expect(page.locator(kStepTime)).toBeVisible();
  const read = () => asked.filter((each) => each.includes('"what":"fields"')).length;
  expect(read()).toBe(1);
  // The same again, after another cluster was chosen.
  await choose(page, "Cluster", "dgx-a100-80gb");
  await paste("slow-network.toml");
  await expect(page.getByLabel("Cluster", { exact: true })).toHaveValue("own: DGX H100 behind a slow network");
  expect(read()).toBe(2);
  await give(page, "train.sh", example("llama-3-8b-megatron.sh"));
  await expect(page).toHaveURL(/framework=megatron/);
  await expect(page).toHaveURL(/tp=/);
});

test("a hostile, binary, large or wrong file is met by what was expected, and the last answer stays", async ({ page }) => {
  await page.goto(at("#/step?model=llama-2-7b&cluster=dgx-h100&gpus=8&seq=4096&global-batch=64"));
  const time = (await page.locator(kStepTime).textContent())!;
  await page.getByText(kSummary).click();
  const said = page.locator(".own [role=alert]");
  const before = page.url();
  for (const [name, content, why] of [
    ["weights.safetensors", Buffer.from([0, 1, 2, 255, 254]), /binary/],
    ["long.json", "x".repeat(600 * 1024), /KiB; at most/],
    ["empty.toml", "", /empty/],
    ["notes.txt", "hello, world", /no run file|known/],
    ["deep.json", "[".repeat(100_000), /./],
    ["evil.json", '{"model_type":"<img src=x onerror=alert(1)>","architectures":["x"]}', /./],
  ] as const) {
    await give(page, name, content);
    if (name === "evil.json") break;
    await expect(said, name).toContainText(why);
    await expect(said, name).toContainText("Expected: a config.json of Hugging Face");
    await expect(page.locator(kStepTime), name).toHaveText(time);
    expect(page.url(), name).toBe(before);
  }
  // An architecture that is not known: the model's field says what is missing.
  const model = page.getByLabel("Model", { exact: true });
  await expect(model).toHaveAttribute("aria-invalid", "true");
  await expect(model).toHaveAccessibleDescription(/\w+/);
  await expect(page.locator("img")).toHaveCount(0);
  await expect(page.locator(kStepTime)).toHaveText(time);
});

test("a published run is one choice: Llama 3.1 405B as Meta ran it", async ({ page }) => {
  await page.goto(at("#/step"));
  await page.getByText(kSummary).click();
  await page.getByLabel("A published run").selectOption({ label: "Llama 3.1 405B" });
  await expect(page).toHaveURL(/model=llama-3.1-405b.*gpus=16384/);
  const words = new URLSearchParams(new URL(page.url()).hash.split("?")[1]);
  const step = headway<PredictDocument>("predict", ...[...words].flatMap(([name, value]) => [`--${name}`, value]));
  await expect(page.locator(kStepTime)).toContainText(seconds(step.step_time_s));
  await expect(page.locator(".own [role=status]")).toContainText("arXiv 2407.21783");
});

test("a published run that Plan takes is that run alone, without what was said of the one before", async ({ page }) => {
  await page.goto(at("#/plan?model=llama-2-7b&cluster=dgx-h100&gpus=8&seq=4096&global-batch=64&precision=fp8&objective=memory"));
  await page.getByText(kSummary).click();
  await page.getByLabel("A published run").selectOption({ label: "Llama 3.1 405B" });
  await expect(page).toHaveURL(/model=llama-3.1-405b.*gpus=16384/);
  expect(page.url()).not.toContain("precision=fp8");
  expect(page.url()).toContain("objective=memory");
});

test("numbers stand as people write them, and what is ambiguous is refused by the engine", async ({ page }) => {
  await page.goto(at("#/step?model=llama-2-7b&cluster=dgx-h100&gpus=64&seq=4k&global-batch=2,048&framework=fsdp&zero=3"));
  const words = "--model llama-2-7b --cluster dgx-h100 --gpus 64 --seq 4096 --global-batch 2048 --framework fsdp --zero 3".split(" ");
  await expect(page.locator(kStepTime)).toContainText(seconds(headway<PredictDocument>("predict", ...words).step_time_s));
  const batch = page.getByLabel("Global batch");
  for (const odd of ["20,48", "1e3", "0x10", "2.5.1"]) {
    await batch.fill(odd);
    await expect(batch).toHaveAttribute("aria-invalid", "true");
    await expect(batch).toHaveAccessibleDescription(new RegExp(`'${odd}' is not a whole number`));
  }
});
