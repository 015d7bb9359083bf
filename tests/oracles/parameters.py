#!/usr/bin/env python3
"""Parameters of networks as transformers builds them, for tests/oracles/parameters.csv.

    parameters.py FILE.csv           writes the table: shapes as published, and random small ones
    parameters.py --check FILE.csv   builds every row of it again; exits with 1 where a number differs

source: published (the shape of a public config.json), random, or rewritten (the row before as the library writes its
config.json); release: the library's. Each network is made on torch's meta device, which holds no values, and its parameters are counted: of a
network with a vision tower those of the language model; with them the biases on routers' scores, which some
families keep in a buffer. Needs torch and transformers 5 (PyPI); src/model/parameters_test.cpp reads the table
and needs neither.
"""

import csv
import json
import logging
import random
import sys
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)

import torch  # noqa: E402
import transformers  # noqa: E402
from transformers import AutoConfig  # noqa: E402

RANDOM_EACH = 5
FIELDS = ["name", "source", "release", "parameters", "config"]
BESIDE = ("visual.", "vision_tower.", "vision_model.", "multi_modal_projector.")
# What a config says beside its shape.
NOISE = {
    "transformers_version", "dtype", "torch_dtype", "return_dict", "output_hidden_states", "output_attentions",
    "chunk_size_feed_forward", "is_encoder_decoder", "problem_type", "_name_or_path", "bos_token_id",
    "eos_token_id", "pad_token_id", "initializer_range", "use_cache", "rms_norm_eps", "layer_norm_eps",
    "layer_norm_epsilon", "rope_parameters", "attention_dropout", "label2id", "router_aux_loss_coef",
    "output_router_logits", "routed_scaling_factor", "norm_topk_prob", "vision_config", "pretraining_tp",
    "image_token_id", "video_token_id", "vision_start_token_id", "vision_end_token_id", "sep_token_id",
    "eod_token_id", "embd_pdrop", "attn_pdrop",
}


def width(rng, heads):
    return heads * 2 * rng.randint(4, 24)


def llama(rng, **more):
    heads = rng.choice([2, 4, 6, 8, 12])
    shape = {
        "hidden_size": width(rng, heads),
        "intermediate_size": rng.randint(20, 400),
        "num_hidden_layers": rng.randint(1, 7),
        "num_attention_heads": heads,
        "num_key_value_heads": rng.choice([k for k in range(1, heads + 1) if heads % k == 0]),
        "vocab_size": rng.randint(50, 900),
        "max_position_embeddings": rng.choice([64, 128, 1000]),
        "tie_word_embeddings": rng.random() < 0.5,
    }
    shape.update(more)
    return {key: value for key, value in shape.items() if value is not ...}


def flag(rng):
    return rng.random() < 0.5


def maybe(rng, **more):
    """Each of these fields, or not."""
    return {key: value for key, value in more.items() if flag(rng)}


def head(rng):
    return {"head_dim": 2 * rng.randint(4, 40)}


def biased(rng):
    return maybe(rng, attention_bias=flag(rng), mlp_bias=flag(rng))


def mixture(rng, count="num_experts", active="num_experts_per_tok", **more):
    experts = rng.randint(2, 9)
    return {count: experts, active: rng.randint(1, experts), **more}


def qwen_mixture(rng, **more):
    return mixture(
        rng,
        moe_intermediate_size=rng.randint(10, 90),
        **maybe(rng, decoder_sparse_step=rng.randint(1, 3), mlp_only_layers=sorted(rng.sample(range(6), 2))),
        **more,
    )


def windows(rng):
    return maybe(rng, sliding_window=rng.choice([16, 32]))


def deepseek(rng, dense, **more):
    shape = llama(rng, num_key_value_heads=...)
    shape["num_key_value_heads"] = shape["num_attention_heads"]
    return {
        **shape,
        **mixture(rng, "n_routed_experts", moe_intermediate_size=rng.randint(8, 64)),
        "n_shared_experts": rng.randint(1, 3),
        "first_k_dense_replace": rng.randint(0, dense),
        "kv_lora_rank": rng.randint(8, 64),
        "q_lora_rank": rng.choice([None, rng.randint(8, 64)]),
        "qk_rope_head_dim": 2 * rng.randint(2, 16),
        "qk_nope_head_dim": 2 * rng.randint(2, 16),
        "v_head_dim": 2 * rng.randint(2, 16),
        "n_group": 1,
        "topk_group": 1,
        **maybe(rng, attention_bias=flag(rng)),
        **more,
    }


def indexed(rng, dense):
    """Latent attention over the keys that an indexer chooses."""
    return deepseek(rng, dense, q_lora_rank=rng.randint(8, 64), index_n_heads=rng.randint(1, 8),
                    index_head_dim=2 * rng.randint(20, 64), index_topk=rng.randint(4, 64))


def gpt2(rng, **more):
    heads = rng.choice([2, 4, 8])
    return {
        "n_embd": width(rng, heads),
        "n_layer": rng.randint(1, 6),
        "n_head": heads,
        "n_positions": rng.choice([64, 200]),
        "vocab_size": rng.randint(50, 900),
        **maybe(rng, n_inner=rng.randint(20, 300)),
        **more,
    }


def without_groups(rng, **more):
    return llama(rng, num_key_value_heads=..., **more)


def bloom(rng):
    heads = rng.choice([2, 4, 8])
    return {"hidden_size": width(rng, heads), "n_layer": rng.randint(1, 6), "n_head": heads,
            "vocab_size": rng.randint(50, 900)}


def falcon(rng):
    heads = rng.choice([2, 4, 8])
    parallel = flag(rng)
    new = flag(rng)
    return {
        "hidden_size": width(rng, heads),
        "num_hidden_layers": rng.randint(1, 6),
        "num_attention_heads": heads,
        "vocab_size": rng.randint(50, 900),
        "new_decoder_architecture": new,
        "multi_query": flag(rng),
        "parallel_attn": parallel or new,
        "bias": flag(rng),
        **({"num_kv_heads": rng.choice([1, 2])} if new else {}),
        **maybe(rng, ffn_hidden_size=rng.randint(20, 300)),
    }


def mpt(rng):
    heads = rng.choice([2, 4, 8])
    return {"d_model": width(rng, heads), "n_heads": heads, "n_layers": rng.randint(1, 6),
            "vocab_size": rng.randint(50, 900), "max_seq_len": 128}


def opt(rng):
    heads = rng.choice([2, 4, 8])
    hidden = width(rng, heads)
    return {"hidden_size": hidden, "num_attention_heads": heads, "num_hidden_layers": rng.randint(1, 6),
            "ffn_dim": rng.randint(20, 300), "vocab_size": rng.randint(50, 900),
            "max_position_embeddings": 100, "word_embed_proj_dim": rng.choice([hidden, hidden // 2]),
            "do_layer_norm_before": flag(rng), **maybe(rng, enable_bias=flag(rng))}


def gpt_neo(rng):
    heads = rng.choice([2, 4, 8])
    layers = 2 * rng.randint(1, 3)
    return {"hidden_size": width(rng, heads), "num_heads": heads, "num_layers": layers,
            "attention_types": [[["global", "local"], layers // 2]], "vocab_size": rng.randint(50, 900),
            "max_position_embeddings": 100, **maybe(rng, intermediate_size=rng.randint(20, 300))}


def dbrx(rng):
    heads = rng.choice([2, 4, 8])
    experts = rng.randint(2, 8)
    return {"d_model": width(rng, heads), "n_heads": heads, "n_layers": rng.randint(1, 6),
            "max_seq_len": 128, "vocab_size": rng.randint(50, 900),
            "attn_config": {"kv_n_heads": rng.choice([1, 2]), "clip_qkv": None, "rope_theta": 10000.0},
            "ffn_config": {"ffn_hidden_size": rng.randint(20, 200), "moe_num_experts": experts,
                           "moe_top_k": rng.randint(1, experts)}}


def llama4(rng):
    return {**llama(rng, **head(rng)), **mixture(rng, "num_local_experts"),
            "intermediate_size_mlp": rng.randint(20, 300), "interleave_moe_layer_step": rng.randint(1, 3),
            "attention_chunk_size": 64, **maybe(rng, attention_bias=flag(rng))}


def qwen3_next(rng):
    keys = rng.choice([2, 4])
    return {**llama(rng, **head(rng)), **qwen_mixture(rng, shared_expert_intermediate_size=rng.randint(10, 90)),
            "linear_num_key_heads": keys, "linear_num_value_heads": keys * rng.choice([1, 2, 3]),
            "linear_key_head_dim": 2 * rng.randint(4, 20), "linear_value_head_dim": 2 * rng.randint(4, 20),
            "linear_conv_kernel_dim": rng.choice([2, 4]), **maybe(rng, attention_bias=flag(rng))}


def minimax(rng):
    shape = {**llama(rng, **head(rng)), **mixture(rng, "num_local_experts")}
    kinds = [rng.choice(["full_attention", "linear_attention"]) for _ in range(shape["num_hidden_layers"])]
    return {**shape, **maybe(rng, layer_types=kinds)}


def ernie_moe(rng):
    shape = llama(rng, num_hidden_layers=rng.randint(2, 7))
    last = shape["num_hidden_layers"] - 1
    return {**shape, **mixture(rng, "moe_num_experts", "moe_k", moe_intermediate_size=rng.randint(8, 64)),
            "moe_num_shared_experts": rng.randint(1, 3), "moe_layer_start_index": rng.randint(0, 1),
            "moe_layer_end_index": rng.choice([-1, last, last - 1]), "moe_layer_interval": rng.randint(1, 2)}


def helium(rng):
    shape = llama(rng, **biased(rng))
    return {**shape, "head_dim": shape["hidden_size"] // shape["num_attention_heads"]}


def gemma3(rng):
    return llama(rng, **head(rng), **maybe(rng, attention_bias=flag(rng)), sliding_window=32)


# Each architecture with its model_type and its random shapes.
RANDOM = {
    "LlamaForCausalLM": ("llama", lambda r: llama(r, **biased(r), **(head(r) if flag(r) else {}))),
    "MistralForCausalLM": ("mistral", lambda r: llama(r, **windows(r), **head(r))),
    "MixtralForCausalLM": ("mixtral", lambda r: {**llama(r, **windows(r)), **mixture(r, "num_local_experts")}),
    "MinistralForCausalLM": ("ministral", lambda r: llama(r, **head(r), **windows(r))),
    "Qwen2ForCausalLM": ("qwen2", lambda r: llama(r, use_sliding_window=flag(r), max_window_layers=2)),
    "Qwen3ForCausalLM": ("qwen3", lambda r: llama(r, **head(r), **maybe(r, attention_bias=flag(r)))),
    "Qwen2MoeForCausalLM": ("qwen2_moe", lambda r: {
        **llama(r), **qwen_mixture(r, shared_expert_intermediate_size=r.randint(10, 90)),
        **maybe(r, qkv_bias=flag(r))}),
    "Qwen3MoeForCausalLM": ("qwen3_moe", lambda r: {
        **llama(r, **head(r)), **qwen_mixture(r), **maybe(r, attention_bias=flag(r))}),
    "Qwen3NextForCausalLM": ("qwen3_next", qwen3_next),
    "GemmaForCausalLM": ("gemma", lambda r: llama(r, **head(r), **maybe(r, attention_bias=flag(r)))),
    "Gemma2ForCausalLM": ("gemma2", gemma3),
    "Gemma3ForCausalLM": ("gemma3_text", gemma3),
    "Phi3ForCausalLM": ("phi3", lambda r: llama(r, **windows(r))),
    "PhiForCausalLM": ("phi", lambda r: llama(r, tie_word_embeddings=False, **maybe(r, qk_layernorm=flag(r)))),
    "PhimoeForCausalLM": ("phimoe", lambda r: {
        **llama(r, **maybe(r, attention_bias=flag(r), lm_head_bias=flag(r))), **mixture(r, "num_local_experts")}),
    "Starcoder2ForCausalLM": ("starcoder2", lambda r: llama(r, **maybe(r, use_bias=flag(r)))),
    "NemotronForCausalLM": ("nemotron", lambda r: llama(r, **biased(r), head_dim=None)),
    "GptOssForCausalLM": ("gpt_oss", lambda r: {**llama(r, **head(r)), **mixture(r, "num_local_experts")}),
    "Llama4ForCausalLM": ("llama4_text", llama4),
    "DeepseekV2ForCausalLM": ("deepseek_v2", lambda r: deepseek(r, 2)),
    "DeepseekV3ForCausalLM": ("deepseek_v3", lambda r: deepseek(r, 3)),
    "GPT2LMHeadModel": ("gpt2", gpt2),
    "GPTNeoXForCausalLM": ("gpt_neox", lambda r: without_groups(r, **maybe(r, attention_bias=flag(r)))),
    "OPTForCausalLM": ("opt", opt),
    "BloomForCausalLM": ("bloom", bloom),
    "FalconForCausalLM": ("falcon", falcon),
    "MptForCausalLM": ("mpt", mpt),
    "ArceeForCausalLM": ("arcee", lambda r: llama(r, **biased(r), **head(r))),
    "HeliumForCausalLM": ("helium", helium),
    "GraniteForCausalLM": ("granite", lambda r: llama(r, **biased(r))),
    "GraniteMoeForCausalLM": ("granitemoe", lambda r: {
        **llama(r, **maybe(r, attention_bias=flag(r))), **mixture(r, "num_local_experts")}),
    "GraniteMoeSharedForCausalLM": ("granitemoeshared", lambda r: {
        **llama(r), **mixture(r, "num_local_experts", shared_intermediate_size=r.choice([0, 40]))}),
    "SmolLM3ForCausalLM": ("smollm3", lambda r: llama(r, **biased(r))),
    "SeedOssForCausalLM": ("seed_oss", lambda r: llama(
        r, **biased(r), **head(r), **maybe(r, attention_out_bias=flag(r)))),
    "Ernie4_5ForCausalLM": ("ernie4_5", lambda r: llama(r, **head(r), **maybe(r, use_bias=flag(r)))),
    "Ernie4_5_MoeForCausalLM": ("ernie4_5_moe", ernie_moe),
    "HunYuanDenseV1ForCausalLM": ("hunyuan_v1_dense", lambda r: llama(
        r, **head(r), **maybe(r, attention_bias=flag(r)))),
    "HunYuanMoEV1ForCausalLM": ("hunyuan_v1_moe", lambda r: {
        **llama(r, **head(r), **maybe(r, attention_bias=flag(r))), **mixture(r, "num_experts", "moe_topk")}),
    "Exaone4ForCausalLM": ("exaone4", lambda r: llama(r, sliding_window=32, sliding_window_pattern=4)),
    "Dots1ForCausalLM": ("dots1", lambda r: {
        **llama(r, **head(r), **maybe(r, attention_bias=flag(r))),
        **mixture(r, "n_routed_experts", moe_intermediate_size=r.randint(8, 64)),
        "n_shared_experts": r.randint(1, 3), "first_k_dense_replace": r.randint(0, 2)}),
    "OlmoForCausalLM": ("olmo", lambda r: llama(r, **maybe(r, attention_bias=flag(r)))),
    "Olmo2ForCausalLM": ("olmo2", lambda r: llama(r, **maybe(r, attention_bias=flag(r)))),
    "Olmo3ForCausalLM": ("olmo3", lambda r: llama(r, **maybe(r, attention_bias=flag(r)))),
    "OlmoeForCausalLM": ("olmoe", lambda r: {**llama(r, **maybe(r, attention_bias=flag(r))), **mixture(r)}),
    "MiniMaxForCausalLM": ("minimax", minimax),
    "MiniMaxM2ForCausalLM": ("minimax_m2", lambda r: {**llama(r, **head(r)), **mixture(r, "num_local_experts")}),
    "GlmForCausalLM": ("glm", lambda r: llama(r, **head(r), **maybe(r, attention_bias=flag(r)))),
    "Glm4ForCausalLM": ("glm4", lambda r: llama(r, **head(r), **maybe(r, attention_bias=flag(r)))),
    "Glm4MoeForCausalLM": ("glm4_moe", lambda r: {
        **llama(r, **head(r), **maybe(r, attention_bias=flag(r), use_qk_norm=flag(r))),
        **mixture(r, "n_routed_experts", moe_intermediate_size=r.randint(8, 64)),
        "n_shared_experts": r.randint(1, 2), "first_k_dense_replace": r.randint(0, 2)}),
    "CohereForCausalLM": ("cohere", lambda r: llama(r, **maybe(r, attention_bias=flag(r), use_qk_norm=flag(r)))),
    "Cohere2ForCausalLM": ("cohere2", lambda r: llama(r, **maybe(r, attention_bias=flag(r)))),
    "StableLmForCausalLM": ("stablelm", lambda r: llama(r, **maybe(
        r, use_qkv_bias=flag(r), qk_layernorm=flag(r), use_parallel_residual=flag(r)))),
    "PersimmonForCausalLM": ("persimmon", lambda r: without_groups(r, **maybe(r, qk_layernorm=flag(r)))),
    "DbrxForCausalLM": ("dbrx", dbrx),
    "GPTJForCausalLM": ("gptj", lambda r: gpt2(r, rotary_dim=4)),
    "CodeGenForCausalLM": ("codegen", lambda r: gpt2(r, rotary_dim=4, n_head=4, n_embd=4 * 2 * r.randint(4, 20))),
    "GPTNeoForCausalLM": ("gpt_neo", gpt_neo),
    "GPTBigCodeForCausalLM": ("gpt_bigcode", lambda r: gpt2(r, **maybe(r, multi_query=flag(r)))),
}
# With random numbers of their own, so that the rows before stay as they are.
LATER = {
    "DeepseekV32ForCausalLM": ("deepseek_v32", lambda r: indexed(r, 3)),
    "GlmMoeDsaForCausalLM": ("glm_moe_dsa", lambda r: indexed(r, 3)),
}
# Other heads on some of them.
HEADS = [
    "LlamaForSequenceClassification", "LlamaForTokenClassification", "LlamaForQuestionAnswering", "LlamaModel",
    "Qwen2ForSequenceClassification", "Qwen2Model", "MistralModel", "GemmaForSequenceClassification",
    "GPT2ForSequenceClassification", "GPT2Model", "Qwen3ForSequenceClassification", "BloomModel",
    "GPTNeoXForTokenClassification", "OPTForSequenceClassification", "FalconModel", "PhiModel",
    "MixtralForSequenceClassification", "Gemma3TextModel", "CohereModel", "GPTJModel",
]
# The language model of a network with a vision tower.
NESTED = {
    "Gemma3ForConditionalGeneration": ("gemma3", gemma3),
    "Qwen2VLForConditionalGeneration": ("qwen2_vl", lambda r: llama(r)),
    "Qwen2_5_VLForConditionalGeneration": ("qwen2_5_vl", lambda r: llama(r)),
    "Qwen3VLForConditionalGeneration": ("qwen3_vl", lambda r: llama(r, **head(r))),
    "Qwen3VLMoeForConditionalGeneration": ("qwen3_vl_moe", lambda r: {
        **llama(r, **head(r)), **mixture(r, moe_intermediate_size=r.randint(10, 90))}),
    "Llama4ForConditionalGeneration": ("llama4", llama4),
    "Mistral3ForConditionalGeneration": ("mistral3", lambda r: llama(r, **head(r))),
}


def build(architecture, config):
    """The network that transformers makes of a config.json, and the configuration it read."""
    fields = json.loads(json.dumps(config))
    del fields["architectures"]
    # The usual one of large vocabularies lies beyond a small one.
    fields.get("text_config", fields).setdefault("pad_token_id", 0)
    read = AutoConfig.for_model(fields.pop("model_type"), **fields)
    with torch.device("meta"):
        return getattr(transformers, architecture)(read), read


def count(model):
    """Elements of the language model's parameters."""
    own = [(name, value) for name, value in model.named_parameters()]
    own += [(name, value) for name, value in model.named_buffers() if name.endswith("e_score_correction_bias")]
    return sum(value.numel() for name, value in own if not any(part in name for part in BESIDE))


def written(read):
    """What transformers writes into a config.json, without what is no shape."""
    def pruned(table):
        return {key: pruned(value) if isinstance(value, dict) and key != "id2label" else value
                for key, value in table.items() if key not in NOISE and value is not None}
    out = pruned(json.loads(read.to_json_string(use_diff=False)))
    out.pop("id2label", None)
    return out


def cases():
    """(name, source, architecture, config) of each row."""
    for name, config in PUBLISHED.items():
        yield name, "published", config["architectures"][0], config
    rng = random.Random(17)
    for architecture, (kind, shape) in RANDOM.items():
        for i in range(RANDOM_EACH):
            yield (f"{kind}-{i}", "random", architecture,
                   {"architectures": [architecture], "model_type": kind, **shape(rng)})
    by_stem = {name.split("For")[0].split("LMHead")[0]: row for name, row in RANDOM.items()}
    for architecture in HEADS:
        stem = architecture.split("For")[0].removesuffix("TextModel").removesuffix("Model")
        kind, shape = by_stem[stem]
        labels = {"num_labels": rng.randint(2, 9)} if "Classification" in architecture else {}
        yield (architecture, "random", architecture,
               {"architectures": [architecture], "model_type": kind, **shape(rng), **labels})
    for architecture, (kind, shape) in NESTED.items():
        for i in range(3):
            text = shape(rng)
            tied = {} if kind == "llama4" else {"tie_word_embeddings": text.pop("tie_word_embeddings")}
            yield (f"{kind}-{i}", "random", architecture,
                   {"architectures": [architecture], "model_type": kind, "text_config": text, **tied})
    rng = random.Random(18)
    for architecture, (kind, shape) in LATER.items():
        for i in range(RANDOM_EACH):
            yield (f"{kind}-{i}", "random", architecture,
                   {"architectures": [architecture], "model_type": kind, **shape(rng)})


def write(path):
    with open(path, "w", newline="") as out:
        table = csv.writer(out, lineterminator="\n")
        table.writerow(FIELDS)
        for name, source, architecture, config in cases():
            model, read = build(architecture, config)
            total = count(model)
            release = transformers.__version__
            table.writerow([name, source, release, total, json.dumps(config)])
            if source == "random" and name.endswith("-0"):
                again = {**written(read), "architectures": [architecture]}
                table.writerow([name, "rewritten", release, total, json.dumps(again)])


def check(path):
    wrong = rows = 0
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            if row["source"] == "rewritten":
                continue
            config = json.loads(row["config"])
            found = count(build(config["architectures"][0], config)[0])
            rows += 1
            if found != int(row["parameters"]):
                wrong += 1
                print(f"{row['name']}: {found} where the table has {row['parameters']}")
    print(f"{rows} networks built, {wrong} differ")
    return wrong == 0 and rows > 0


def plain(kind, architecture, sizes, **more):
    """A config of Llama's field names; sizes: hidden, feed-forward, layers, heads, key-value heads, vocabulary."""
    names = ["hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads",
             "vocab_size"]
    return {"architectures": [architecture], "model_type": kind, **dict(zip(names, sizes)), **more}


def nested(kind, architecture, sizes, **more):
    """The same with the language model in a table, beside a vision tower."""
    text = plain(kind, architecture, sizes, **more)
    tied = {name: text.pop(name) for name in ("tie_word_embeddings",) if name in text}
    return {"architectures": [text.pop("architectures")[0]], "model_type": text.pop("model_type"),
            "text_config": text, **tied}


# Shapes of public config.json files, huggingface.co/NAME.
PUBLISHED = {
    "google/gemma-3-1b-it": plain("gemma3_text", "Gemma3ForCausalLM", (1152, 6912, 26, 4, 1, 262144), head_dim=256,
                                  sliding_window=512, sliding_window_pattern=6, max_position_embeddings=32768),
    "google/gemma-3-4b-it": nested("gemma3", "Gemma3ForConditionalGeneration", (2560, 10240, 34, 8, 4, 262208),
                                   head_dim=256, sliding_window=1024),
    "google/gemma-3-12b-it": nested("gemma3", "Gemma3ForConditionalGeneration", (3840, 15360, 48, 16, 8, 262208),
                                    head_dim=256, sliding_window=1024),
    "google/gemma-3-27b-it": nested("gemma3", "Gemma3ForConditionalGeneration", (5376, 21504, 62, 32, 16, 262208),
                                    head_dim=128, sliding_window=1024),
    "Qwen/Qwen2.5-VL-3B-Instruct": plain("qwen2_5_vl", "Qwen2_5_VLForConditionalGeneration",
                                         (2048, 11008, 36, 16, 2, 151936), tie_word_embeddings=True),
    "Qwen/Qwen2.5-VL-7B-Instruct": plain("qwen2_5_vl", "Qwen2_5_VLForConditionalGeneration",
                                         (3584, 18944, 28, 28, 4, 152064), tie_word_embeddings=False),
    "Qwen/Qwen2.5-VL-72B-Instruct": plain("qwen2_5_vl", "Qwen2_5_VLForConditionalGeneration",
                                          (8192, 29568, 80, 64, 8, 152064), tie_word_embeddings=False),
    "Qwen/Qwen3-VL-8B-Instruct": nested("qwen3_vl", "Qwen3VLForConditionalGeneration",
                                        (4096, 12288, 36, 32, 8, 151936), head_dim=128, tie_word_embeddings=False),
    "Qwen/Qwen3-Next-80B-A3B-Instruct": plain(
        "qwen3_next", "Qwen3NextForCausalLM", (2048, 5120, 48, 16, 2, 151936), head_dim=256, num_experts=512,
        num_experts_per_tok=10, moe_intermediate_size=512, shared_expert_intermediate_size=512,
        decoder_sparse_step=1, mlp_only_layers=[], full_attention_interval=4, linear_conv_kernel_dim=4,
        linear_key_head_dim=128, linear_value_head_dim=128, linear_num_key_heads=16, linear_num_value_heads=32,
        tie_word_embeddings=False),
    "zai-org/glm-4-9b-chat-hf": plain("glm", "GlmForCausalLM", (4096, 13696, 40, 32, 2, 151552), head_dim=128,
                                      attention_bias=True, tie_word_embeddings=False),
    "zai-org/GLM-4-9B-0414": plain("glm4", "Glm4ForCausalLM", (4096, 13696, 40, 32, 2, 151552), head_dim=128,
                                   attention_bias=True, tie_word_embeddings=False),
    "zai-org/GLM-4-32B-0414": plain("glm4", "Glm4ForCausalLM", (6144, 23040, 61, 48, 2, 151552), head_dim=128,
                                    attention_bias=False, tie_word_embeddings=False),
    "zai-org/GLM-4.5": plain(
        "glm4_moe", "Glm4MoeForCausalLM", (5120, 12288, 92, 96, 8, 151552), head_dim=128, attention_bias=True,
        use_qk_norm=True, n_routed_experts=160, num_experts_per_tok=8, n_shared_experts=1,
        moe_intermediate_size=1536, first_k_dense_replace=3, num_nextn_predict_layers=1),
    "zai-org/GLM-4.5-Air": plain(
        "glm4_moe", "Glm4MoeForCausalLM", (4096, 10944, 46, 96, 8, 151552), head_dim=128, attention_bias=True,
        use_qk_norm=False, n_routed_experts=128, num_experts_per_tok=8, n_shared_experts=1,
        moe_intermediate_size=1408, first_k_dense_replace=1, num_nextn_predict_layers=1),
    "allenai/OLMo-7B-hf": plain("olmo", "OlmoForCausalLM", (4096, 11008, 32, 32, 32, 50304)),
    "allenai/OLMo-2-1124-7B": plain("olmo2", "Olmo2ForCausalLM", (4096, 11008, 32, 32, 32, 100352)),
    "allenai/OLMo-2-1124-13B": plain("olmo2", "Olmo2ForCausalLM", (5120, 13824, 40, 40, 40, 100352)),
    "allenai/OLMo-2-0325-32B": plain("olmo2", "Olmo2ForCausalLM", (5120, 27648, 64, 40, 8, 100352)),
    "allenai/Olmo-3-1025-7B": plain("olmo3", "Olmo3ForCausalLM", (4096, 11008, 32, 32, 32, 100278),
                                    sliding_window=4096),
    "allenai/OLMoE-1B-7B-0924": plain("olmoe", "OlmoeForCausalLM", (2048, 1024, 16, 16, 16, 50304), num_experts=64,
                                      num_experts_per_tok=8),
    "ibm-granite/granite-3.1-2b-base": plain("granite", "GraniteForCausalLM", (2048, 8192, 40, 32, 8, 49155),
                                             tie_word_embeddings=True),
    "ibm-granite/granite-3.1-8b-base": plain("granite", "GraniteForCausalLM", (4096, 12800, 40, 32, 8, 49155),
                                             tie_word_embeddings=True),
    "ibm-granite/granite-3.1-1b-a400m-base": plain(
        "granitemoe", "GraniteMoeForCausalLM", (1024, 512, 24, 16, 8, 49155), num_local_experts=32,
        num_experts_per_tok=8, tie_word_embeddings=True),
    "HuggingFaceTB/SmolLM3-3B": plain("smollm3", "SmolLM3ForCausalLM", (2048, 11008, 36, 16, 4, 128256),
                                      tie_word_embeddings=True, use_sliding_window=False),
    "microsoft/phi-2": plain("phi", "PhiForCausalLM", (2560, 10240, 32, 32, 32, 51200), tie_word_embeddings=False),
    "microsoft/Phi-3.5-MoE-instruct": plain(
        "phimoe", "PhimoeForCausalLM", (4096, 6400, 32, 32, 8, 32064), num_local_experts=16, num_experts_per_tok=2,
        attention_bias=True, lm_head_bias=True),
    "CohereForAI/c4ai-command-r-v01": plain("cohere", "CohereForCausalLM", (8192, 22528, 40, 64, 64, 256000)),
    "CohereForAI/c4ai-command-r-plus": plain("cohere", "CohereForCausalLM", (12288, 33792, 64, 96, 8, 256000),
                                             use_qk_norm=True),
    "CohereForAI/c4ai-command-r7b-12-2024": plain("cohere2", "Cohere2ForCausalLM", (4096, 14336, 32, 32, 8, 256000),
                                                  sliding_window=4096),
    "stabilityai/stablelm-3b-4e1t": plain("stablelm", "StableLmForCausalLM", (2560, 6912, 32, 32, 32, 50304)),
    "stabilityai/stablelm-2-1_6b": plain("stablelm", "StableLmForCausalLM", (2048, 5632, 24, 32, 32, 100352),
                                         use_qkv_bias=True),
    "stabilityai/stablelm-2-12b": plain("stablelm", "StableLmForCausalLM", (5120, 13824, 40, 32, 8, 100352),
                                        qk_layernorm=True, use_parallel_residual=True),
    "EleutherAI/gpt-j-6b": {"architectures": ["GPTJForCausalLM"], "model_type": "gptj", "n_embd": 4096,
                            "n_layer": 28, "n_head": 16, "n_positions": 2048, "rotary_dim": 64, "vocab_size": 50400},
    "EleutherAI/gpt-neo-125m": {
        "architectures": ["GPTNeoForCausalLM"], "model_type": "gpt_neo", "hidden_size": 768, "num_layers": 12,
        "num_heads": 12, "attention_types": [[["global", "local"], 6]], "max_position_embeddings": 2048,
        "vocab_size": 50257},
    "EleutherAI/gpt-neo-2.7B": {
        "architectures": ["GPTNeoForCausalLM"], "model_type": "gpt_neo", "hidden_size": 2560, "num_layers": 32,
        "num_heads": 20, "attention_types": [[["global", "local"], 16]], "max_position_embeddings": 2048,
        "vocab_size": 50257},
    "bigcode/starcoderbase": {
        "architectures": ["GPTBigCodeForCausalLM"], "model_type": "gpt_bigcode", "n_embd": 6144, "n_head": 48,
        "n_inner": 24576, "n_layer": 40, "n_positions": 8192, "vocab_size": 49152, "multi_query": True},
    "MiniMaxAI/MiniMax-Text-01-hf": plain(
        "minimax", "MiniMaxForCausalLM", (6144, 9216, 80, 64, 8, 200064), head_dim=128, num_local_experts=32,
        num_experts_per_tok=2, layer_types=(["linear_attention"] * 7 + ["full_attention"]) * 10),
    "MiniMaxAI/MiniMax-M2": plain(
        "minimax_m2", "MiniMaxM2ForCausalLM", (3072, 1536, 62, 48, 8, 200064), head_dim=128, num_local_experts=256,
        num_experts_per_tok=8),
    "baidu/ERNIE-4.5-0.3B-PT": plain("ernie4_5", "Ernie4_5ForCausalLM", (1024, 3072, 18, 16, 2, 103424),
                                     head_dim=128, tie_word_embeddings=True),
    "baidu/ERNIE-4.5-21B-A3B-PT": plain(
        "ernie4_5_moe", "Ernie4_5_MoeForCausalLM", (2560, 12288, 28, 20, 4, 103424), tie_word_embeddings=True,
        moe_num_experts=64, moe_k=6, moe_intermediate_size=1536, moe_num_shared_experts=2, moe_layer_start_index=1,
        moe_layer_end_index=27, moe_layer_interval=1),
    "tencent/Hunyuan-7B-Instruct": plain("hunyuan_v1_dense", "HunYuanDenseV1ForCausalLM",
                                         (4096, 14336, 32, 32, 8, 128167), head_dim=128, tie_word_embeddings=True),
    "tencent/Hunyuan-A13B-Instruct": plain(
        "hunyuan_v1_moe", "HunYuanMoEV1ForCausalLM", (4096, 3072, 32, 32, 8, 128167), head_dim=128, num_experts=64,
        moe_topk=[8] * 32, tie_word_embeddings=True),
    "ByteDance-Seed/Seed-OSS-36B-Base": plain(
        "seed_oss", "SeedOssForCausalLM", (5120, 27648, 64, 80, 8, 155136), head_dim=128, attention_bias=True,
        attention_out_bias=False, mlp_bias=False, tie_word_embeddings=False),
    "LGAI-EXAONE/EXAONE-4.0-32B": plain(
        "exaone4", "Exaone4ForCausalLM", (5120, 27392, 64, 40, 8, 102400), head_dim=128, sliding_window=4096,
        layer_types=(["sliding_attention"] * 3 + ["full_attention"]) * 16, tie_word_embeddings=False),
    "LGAI-EXAONE/EXAONE-4.0-1.2B": plain(
        "exaone4", "Exaone4ForCausalLM", (2048, 4096, 30, 32, 8, 102400), head_dim=64,
        layer_types=["full_attention"] * 30, tie_word_embeddings=True),
    "rednote-hilab/dots.llm1.base": plain(
        "dots1", "Dots1ForCausalLM", (4096, 10944, 62, 32, 32, 152064), head_dim=128, n_routed_experts=128,
        num_experts_per_tok=6, n_shared_experts=2, moe_intermediate_size=1408, first_k_dense_replace=1,
        tie_word_embeddings=False),
    "arcee-ai/AFM-4.5B-Base": plain("arcee", "ArceeForCausalLM", (2560, 18432, 36, 20, 4, 128004), head_dim=128,
                                    tie_word_embeddings=False),
    "databricks/dbrx-base": {
        "architectures": ["DbrxForCausalLM"], "model_type": "dbrx", "d_model": 6144, "n_heads": 48, "n_layers": 40,
        "max_seq_len": 32768, "vocab_size": 100352,
        "attn_config": {"clip_qkv": 8, "kv_n_heads": 8, "rope_theta": 500000},
        "ffn_config": {"ffn_hidden_size": 10752, "moe_num_experts": 16, "moe_top_k": 4}},
}

if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--check":
        sys.exit(0 if check(sys.argv[2]) else 1)
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    write(sys.argv[1])
