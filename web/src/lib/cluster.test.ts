import { expect, test } from "vitest";

import { baseOf, clusterKnobs, valueIn, withValue, type ClusterNumbers } from "./cluster";

const kNumbers: ClusterNumbers = {
  name: "dgx-h100",
  title: "DGX H100",
  peak_flop_per_s: { bf16: 1e15, fp8: 2e15 },
  memory_bytes: 8e10,
  memory_bytes_per_s: 3e12,
  levels: [
    { name: "node", size: 8, bytes_per_s: 4.5e11, latency_s: 2e-6 },
    { name: "fabric", size: 64, bytes_per_s: 5e10, latency_s: 4e-6 },
  ],
};
const knobs = clusterKnobs(kNumbers);
const of = (key: string) => knobs.find((knob) => knob.key === key)!;

test("a moved number becomes a member of a description, and moved back the built-in cluster is left", () => {
  const slow = withValue("dgx-h100", of("levels/fabric/bandwidth"), 2.5e10);
  expect(JSON.parse(slow)).toEqual({ name: "dgx-h100-changed", base: "dgx-h100", source: expect.any(String), levels: { fabric: { bandwidth: "25000000000 B/s" } } });
  expect(valueIn(slow, of("levels/fabric/bandwidth"))).toBe(2.5e10);
  expect(valueIn(slow, of("levels/node/latency"))).toBe(2e-6);
  const larger = withValue(slow, of("accelerator/peak/bf16"), 2e15);
  expect(JSON.parse(larger).accelerator).toEqual({ peak: { bf16: "2000000000000000 FLOP/s" } });
  expect(withValue(withValue(larger, of("accelerator/peak/bf16"), 1e15), of("levels/fabric/bandwidth"), 5e10)).toBe("dgx-h100");
});

test("small numbers are read back as they were written", () => {
  const text = withValue("dgx-h100", of("levels/node/latency"), 1e-7);
  expect(valueIn(text, of("levels/node/latency"))).toBe(1e-7);
});

test("what is said in other words is no slider's, and stays", () => {
  const own = '{"base":"dgx-h100","levels":{"fabric":{"nic_bandwidth":"100 Gb/s"}}}';
  expect(valueIn(own, of("levels/fabric/bandwidth"))).toBeNull();
  expect(valueIn(own, of("levels/fabric/latency"))).toBe(4e-6);
  expect(JSON.parse(withValue(own, of("levels/fabric/latency"), 8e-6)).levels.fabric).toEqual({
    nic_bandwidth: "100 Gb/s",
    latency: "0.000008 s",
  });
});

test("a cluster that builds on none has no sliders", () => {
  expect(baseOf("dgx-h100")).toBe("dgx-h100");
  expect(baseOf('{"base":"p5"}')).toBe("p5");
  expect(baseOf('{"title":"whole","levels":{}}')).toBeNull();
  expect(baseOf("{broken")).toBeNull();
});
