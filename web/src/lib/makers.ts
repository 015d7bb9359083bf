// Who made what, by the beginning of its name: lists are grouped by it. A test holds that every built-in
// name has a maker.
export interface Group {
  readonly title: string;
  readonly names: readonly string[];
}

const kModels: readonly (readonly [maker: string, families: RegExp])[] = [
  ["Meta: Llama", /^llama-/],
  ["Meta: Code Llama", /^codellama-/],
  ["Meta: OPT", /^opt-/],
  ["DeepSeek", /^deepseek-/],
  ["Alibaba: Qwen", /^qwen/],
  ["Google", /^(gemma|palm)-/],
  ["Mistral AI", /^(mistral|mixtral|ministral|codestral)-/],
  ["OpenAI: GPT", /^(gpt2|gpt3|gpt-oss|gpt-89b)/],
  ["NVIDIA", /^(megatron|nemotron|nemo-minitron)-/],
  ["Microsoft", /^(phi|turing-nlg|mt-nlg)-/],
  ["Moonshot AI", /^(kimi|moonlight)-/],
  ["Zhipu AI: GLM", /^(glm|chatglm\d)-/],
  ["MiniMax", /^minimax-/],
  ["xAI", /^grok-/],
  ["Cohere", /^(command|aya)-/],
  ["01.AI: Yi", /^yi-/],
  ["Baichuan", /^baichuan/],
  ["Shanghai AI Laboratory: InternLM", /^internlm/],
  ["Ant: Ling", /^ling-/],
  ["Baidu, ByteDance, Tencent, Xiaomi", /^(ernie|seed-oss|hunyuan|mimo)-/],
  ["LG: EXAONE", /^exaone-/],
  ["Ai2: OLMo", /^olmo-/],
  ["Stability AI", /^stablelm-/],
  ["EleutherAI", /^(gpt-j|gpt-neox|pythia)-/],
  ["BigScience and BigCode", /^(bloom|starcoder2?|santacoder)-/],
  ["TII: Falcon", /^falcon3?-/],
  ["MosaicML and Databricks", /^(mpt-|mosaicgpt-|dbrx)/],
  ["IBM: Granite and Bamba", /^(granite|bamba)-/],
  ["State spaces", /^(mamba|jamba|zamba2)-/],
  ["Vision", /^(resne|retinanet|ssd-|mask-rcnn|unet-|nnunet-|vnet|vit-|swin-|dinov2-|clip-)/],
  ["Recommendation", /^(dlrm-|ncf|wide-and-deep)/],
  ["Graphs", /^r-gat/],
  ["Pictures from text", /^(stable-diffusion|flux|dit-)/],
  ["Speech and encoders", /^(rnn-t|whisper-|bert-|roberta-|modernbert-|bart-|t5-)/],
  ["Others", /^(tinyllama-|limits-mlp-|smollm2-|solar-|aquila-|arctic)/],
];

const kClusters: readonly (readonly [maker: string, families: RegExp])[] = [
  ["NVIDIA: Blackwell", /^(dgx-b|dgx-spark|gb[23]00|rtx-pro)/],
  ["NVIDIA: Hopper", /^(dgx-h|eos|gh200-|h20-|h[128]00-)/],
  ["NVIDIA: Ampere and before", /^(dgx-[av]|selene|a100-|a800-)/],
  ["NVIDIA: cards", /^(l[24]|a[134]0-|t4-|rtx-\d|rtx-a\d|quadro-)/],
  ["AMD", /^mi\d/],
  ["Google: TPU", /^tpu/],
  ["Intel", /^(gaudi|max-|arc-)/],
  ["Clouds: AWS", /^(p\d|g\d|trn\d|inf\d)/],
  ["Clouds: Google", /^a\d-/],
  ["Public laboratories", /^(alps|frontier|perlmutter|polaris)$/],
  ["Sites apart", /^wan-/],
];

/** Names by their makers, in the order of the table; within one by name, numbers as numbers. */
export function grouped(kind: "models" | "clusters", names: readonly string[]): readonly Group[] {
  const table = kind === "models" ? kModels : kClusters;
  const makerOf = (name: string) => table.find(([, families]) => families.test(name))?.[0] ?? "";
  const order = new Intl.Collator("en", { numeric: true }).compare;
  return [...table.map(([maker]) => maker), ""]
    .map((title) => ({ title: title || "Not known", names: names.filter((name) => makerOf(name) === title).sort(order) }))
    .filter((group) => group.names.length > 0);
}

/** The groups with what has every word of `text` in its name or its maker's. */
export function matching(groups: readonly Group[], text: string): readonly Group[] {
  const words = text.toLowerCase().split(/[\s,]+/).filter((word) => word !== "");
  const has = (title: string, name: string) => {
    const all = `${title} ${name}`.toLowerCase();
    return words.every((word) => all.includes(word));
  };
  return groups
    .map(({ title, names }) => ({ title, names: names.filter((name) => has(title, name)) }))
    .filter((group) => group.names.length > 0);
}
