import { expect, test } from "vitest";

import { commandLine, ownFiles } from "../../lib/lines";
import type { JobsDocument, PolicyAtLoad } from "./documents";
import { headline, points, verdict } from "./numbers";
import { jobGroups, jobsProblem, jobsRequest, kPresets, presetOf } from "./stream";

const fineTuning = kPresets.find(({ id }) => id === "fine-tuning")!.fields;

test("fields make the description that a file would hold", () => {
  expect(jobsRequest({ policies: "max, cheapest", loads: "600 s,1000 s", jobs: "50", seeds: "2", least: "0.2", "node-bandwidth": "1 TB/s" })).toEqual({
    stream: {
      policies: ["max", "cheapest"],
      arrivals: { intervals: ["600 s", "1000 s"], jobs: 50 },
      seeds: 2,
      limits: { least: 0.2 },
      machine: { node_bandwidth: "1 TB/s" },
    },
  });
});

test("on a cluster each kind of job is a run", () => {
  const { stream } = jobsRequest(fineTuning) as { stream: { machine: unknown; job: unknown[] } };
  expect(stream.machine).toEqual({ cluster: "dgx-h100", nodes: 32 });
  expect(stream.job[1]).toEqual({
    name: "llama-3-70b",
    steps: 500,
    nodes: [4, 8, 16],
    run: { model: "llama-3-70b", seq: "4096", "global-batch": "128", tp: 8 },
  });
});

test("what is asked of one machine is not asked of the other", () => {
  const both = { ...fineTuning, groups: "4" };
  expect(jobsRequest(both)).toEqual(jobsRequest(fineTuning));
  expect(jobsRequest({ ...both, on: "" })).toMatchObject({ stream: { machine: { groups: 4 } } });
});

test("the same on the command line is a file", () => {
  const asked = { command: "jobs", request: jobsRequest(fineTuning) };
  expect(commandLine(asked)).toBe("headway jobs stream.toml");
  const [file] = ownFiles(asked);
  expect(file!.name).toBe("stream.toml");
  expect(file!.text).toContain('[[job]]\nname = "llama-2-7b"');
  expect(file!.text).toContain("[job.run]");
});

test("a problem stands at the field that says it", () => {
  const at = (where: string) => jobsProblem({ where, message: "" }, fineTuning).where;
  expect(at("stream.arrivals.intervals")).toBe("loads");
  expect(at("stream.machine.cluster")).toBe("cluster");
  expect(at("stream.job[1].run.seq")).toBe("seq2");
  expect(at("stream.policies[0]")).toBe("policies");
});

test("presets are known again, and every field of theirs is asked for", () => {
  for (const preset of kPresets) {
    expect(presetOf(preset.fields)?.id).toBe(preset.id);
    expect(presetOf({ ...preset.fields, metric: "time" })?.id).toBe(preset.id);
    const names = jobGroups(preset.fields).flatMap((group) => group.fields.map(({ name }) => name));
    for (const name of Object.keys(preset.fields)) expect(names).toContain(name);
  }
  expect(presetOf({ policies: "max" })).toBeUndefined();
});

const row = (policy: string, interval_s: number, blocking: number): PolicyAtLoad => ({
  policy,
  interval_s,
  jobs: 200,
  blocked: 0,
  refused: 0,
  hopeless: 0,
  blocking,
  blocking_quantiles: [blocking, blocking, blocking],
  utilisation: 0.5,
  jct_p10_s: 1,
  jct_p50_s: 2,
  jct_p90_s: 3,
});

test("the headline names who blocks least and most at the load in the middle", () => {
  const policies = [600, 1000, 2000].flatMap((each) => [row("max", each, each / 1e4), row("cheapest", each, each / 2e4)]);
  const document: JobsDocument = { machine: "RAMP", servers: 32, seeds: 3, as_published: false, hopeless: 0, policies, gains: [] };
  expect(headline(document)).toBe("With a job each 1,000 s, cheapest blocks 5.0 % of the jobs, max 10.0 %.");
  expect(headline({ ...document, policies: [row("max", 600, 0.5)] })).toBe("With a job each 600 s, max blocks 50.0 % of the jobs.");
  expect(headline({ ...document, policies: [] })).toBe("No jobs on RAMP.");
});

test("what streams do not tell apart is said so", () => {
  const gain = { policy: "a", than: "b", interval_s: 600, blocking_less: 0.028, blocking_less_low: 0.014, blocking_less_high: 0.043 };
  expect([verdict(gain), points(gain)]).toEqual(["blocks less", "+2.8 (+1.4 to +4.3)"]);
  expect(verdict({ ...gain, blocking_less_low: -0.01 })).toBe("cannot be told apart");
  expect(verdict({ ...gain, blocking_less_low: -0.05, blocking_less_high: -0.01 })).toBe("blocks more");
  expect([verdict({ ...gain, blocking_less_low: null, blocking_less_high: null })]).toEqual(["one stream does not tell"]);
});
