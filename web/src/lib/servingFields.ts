// What serving is asked. Made from src/study/infer/question/options.cpp by scripts/update-golden.

export const kServingFields = [
  { name: "model", group: "Serving", kind: "model" },
  { name: "cluster", group: "Serving", kind: "cluster" },
  { name: "gpus", group: "Serving", kind: "count" },
  { name: "input-len", group: "Serving", kind: "count" },
  { name: "output-len", group: "Serving", kind: "count" },
  { name: "batch", group: "Load", kind: "count" },
  { name: "concurrency", group: "Load", kind: "count" },
  { name: "rate", group: "Load", kind: "number" },
  { name: "ttft", group: "Load", kind: "text" },
  { name: "tpot", group: "Load", kind: "text" },
  { name: "tp", group: "Split", kind: "count" },
  { name: "pp", group: "Split", kind: "count" },
  { name: "ep", group: "Split", kind: "count" },
  { name: "dp", group: "Split", kind: "count" },
  { name: "weights", group: "Formats and engine", kind: "choice", choices: ["fp32", "tf32", "fp16", "bf16", "fp8", "fp8-current", "fp8-block", "mxfp8", "fp4"] },
  { name: "cache", group: "Formats and engine", kind: "choice", choices: ["bf16", "fp8"] },
  { name: "engine", group: "Formats and engine", kind: "choice", choices: ["vllm", "vllm-2024", "tensorrt-llm", "tensorrt-llm-2024", "sglang", "lmdeploy", "deepspeed-mii", "deepspeed"] },
  { name: "best", group: "Asked", kind: "switch" },
  { name: "curve", group: "Asked", kind: "choice", choices: ["concurrency", "rate", "batch"] },
] as const;

export type ServingFieldName = (typeof kServingFields)[number]["name"];
