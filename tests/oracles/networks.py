#!/usr/bin/env python3
"""Parameters of networks that are no decoders of attention alone, as their libraries build them, for networks.csv.

    networks.py FILE.csv           writes the table: shapes as published, and random small ones
    networks.py --check FILE.csv   builds every row of it again; exits with 1 where a number differs

Encoders, encoders with decoders, networks for images and sound, state spaces and their hybrids. Each network is made on
torch's meta device, which holds no values, and its parameters are counted, tied ones once. Needs torch, transformers 5
and diffusers (PyPI); src/model/parameters_test.cpp reads the table and needs none of them.
"""

import csv
import json
import logging
import random
import sys
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)

import diffusers  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402
from transformers import AutoConfig  # noqa: E402

RANDOM_EACH = 5
FIELDS = ["name", "source", "release", "parameters", "config"]


def count(config):
    with torch.device("meta"):
        if "_class_name" in config:
            kind = getattr(diffusers, config["_class_name"])
            module = kind(**{key: value for key, value in config.items() if key != "_class_name"})
            return sum(p.numel() for p in module.parameters()), diffusers.__version__
        fields = {key: value for key, value in config.items() if key != "model_type"}
        settings = AutoConfig.for_model(config["model_type"], **fields)
        module = getattr(transformers, config["architectures"][0])(settings)
        module.tie_weights()
        counted = sum(p.numel() for p in module.parameters())
        # The library ties the head of T5 whatever the config says; published weights that do not have one of its own.
        if "T5ForConditional" in config["architectures"][0] and not config.get("tie_word_embeddings", True):
            assert module.lm_head.weight is module.shared.weight
            counted += module.lm_head.weight.numel()
        return counted, transformers.__version__


def of(kind, architecture, **more):
    return {"architectures": [architecture], "model_type": kind, **more}


def labels(number):
    return {"id2label": {str(i): f"LABEL_{i}" for i in range(number)}}


def bert(kind, architecture, sizes, **more):
    names = ["hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size"]
    return of(kind, architecture, **dict(zip(names, sizes)), **more)


def t5(architecture, sizes, kind="t5", **more):
    names = ["d_model", "d_kv", "d_ff", "num_layers", "num_heads", "vocab_size"]
    return of(kind, architecture, **dict(zip(names, sizes)), **more)


def clip(vision, text, width):
    v = ["hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "image_size", "patch_size"]
    t = ["hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads"]
    return of("clip", "CLIPModel", projection_dim=width, vision_config=dict(zip(v, vision)),
              text_config={**dict(zip(t, text)), "vocab_size": 49408, "max_position_embeddings": 77})


def whisper(width, layers, heads, **more):
    return of("whisper", "WhisperForConditionalGeneration", d_model=width, encoder_layers=layers,
              decoder_layers=layers, encoder_attention_heads=heads, decoder_attention_heads=heads,
              encoder_ffn_dim=4 * width, decoder_ffn_dim=4 * width, **more)


def mamba(width, layers, **more):
    return of("mamba", "MambaForCausalLM", hidden_size=width, num_hidden_layers=layers, state_size=16, expand=2,
              intermediate_size=2 * width, time_step_rank=width // 16, conv_kernel=4, vocab_size=50280, **more)


# Shapes of public config.json files, huggingface.co/NAME.
PUBLISHED = {
    "google/vit-base-patch16-224": of("vit", "ViTForImageClassification", hidden_size=768, num_hidden_layers=12,
                                      num_attention_heads=12, intermediate_size=3072, **labels(1000)),
    "google/vit-large-patch16-224-in21k": of("vit", "ViTModel", hidden_size=1024, num_hidden_layers=24,
                                             num_attention_heads=16, intermediate_size=4096),
    "google/vit-huge-patch14-224-in21k": of("vit", "ViTModel", hidden_size=1280, num_hidden_layers=32,
                                            num_attention_heads=16, intermediate_size=5120, patch_size=14),
    "facebook/deit-base-patch16-224": of("vit", "ViTForImageClassification", **labels(1000)),
    "facebook/deit-base-distilled-patch16-224": of("deit", "DeiTForImageClassificationWithTeacher", **labels(1000)),
    "facebook/dinov2-small": of("dinov2", "Dinov2Model", hidden_size=384, num_attention_heads=6, image_size=518),
    "facebook/dinov2-base": of("dinov2", "Dinov2Model", hidden_size=768, image_size=518),
    "facebook/dinov2-large": of("dinov2", "Dinov2Model", hidden_size=1024, num_hidden_layers=24,
                                num_attention_heads=16, image_size=518),
    "facebook/dinov2-giant": of("dinov2", "Dinov2Model", hidden_size=1536, num_hidden_layers=40,
                                num_attention_heads=24, image_size=518, use_swiglu_ffn=True),
    "facebook/dinov2-with-registers-base": of("dinov2_with_registers", "Dinov2WithRegistersModel", image_size=518),
    "microsoft/swin-tiny-patch4-window7-224": of("swin", "SwinForImageClassification", **labels(1000)),
    "microsoft/swin-base-patch4-window7-224": of("swin", "SwinForImageClassification", embed_dim=128,
                                                 depths=[2, 2, 18, 2], num_heads=[4, 8, 16, 32], **labels(1000)),
    "microsoft/swin-large-patch4-window12-384": of("swin", "SwinForImageClassification", embed_dim=192,
                                                   depths=[2, 2, 18, 2], num_heads=[6, 12, 24, 48], window_size=12,
                                                   image_size=384, **labels(1000)),
    "openai/clip-vit-base-patch32": clip((768, 3072, 12, 12, 224, 32), (512, 2048, 12, 8), 512),
    "openai/clip-vit-large-patch14": clip((1024, 4096, 24, 16, 224, 14), (768, 3072, 12, 12), 768),
    "google-bert/bert-base-uncased": bert("bert", "BertForMaskedLM", (768, 12, 12, 3072, 30522)),
    "google-bert/bert-large-uncased": bert("bert", "BertForPreTraining", (1024, 24, 16, 4096, 30522)),
    "FacebookAI/roberta-base": bert("roberta", "RobertaForMaskedLM", (768, 12, 12, 3072, 50265),
                                    max_position_embeddings=514, type_vocab_size=1),
    "FacebookAI/xlm-roberta-large": bert("xlm-roberta", "XLMRobertaForMaskedLM", (1024, 24, 16, 4096, 250002),
                                         max_position_embeddings=514, type_vocab_size=1),
    "answerdotai/ModernBERT-base": bert("modernbert", "ModernBertForMaskedLM", (768, 22, 12, 1152, 50368)),
    "answerdotai/ModernBERT-large": bert("modernbert", "ModernBertForMaskedLM", (1024, 28, 16, 2624, 50368)),
    "google-t5/t5-small": t5("T5ForConditionalGeneration", (512, 64, 2048, 6, 8, 32128)),
    "google-t5/t5-large": t5("T5ForConditionalGeneration", (1024, 64, 4096, 24, 16, 32128)),
    "google-t5/t5-11b": t5("T5ForConditionalGeneration", (1024, 128, 65536, 24, 128, 32128)),
    "google/t5-v1_1-xxl": t5("T5ForConditionalGeneration", (4096, 64, 10240, 24, 64, 32128),
                             feed_forward_proj="gated-gelu", tie_word_embeddings=False),
    "google/mt5-base": t5("MT5ForConditionalGeneration", (768, 64, 2048, 12, 12, 250112), kind="mt5",
                          feed_forward_proj="gated-gelu", tie_word_embeddings=False),
    "facebook/bart-large": of("bart", "BartModel", vocab_size=50265),
    "facebook/bart-base": of("bart", "BartForConditionalGeneration", vocab_size=50265, d_model=768,
                             encoder_layers=6, decoder_layers=6, encoder_attention_heads=12,
                             decoder_attention_heads=12, encoder_ffn_dim=3072, decoder_ffn_dim=3072),
    "facebook/mbart-large-50": of("mbart", "MBartForConditionalGeneration", vocab_size=250054),
    "openai/whisper-tiny": whisper(384, 4, 6),
    "openai/whisper-small": whisper(768, 12, 12),
    "openai/whisper-large-v3": whisper(1280, 32, 20, num_mel_bins=128, vocab_size=51866),
    "facebook/DiT-XL-2-256": {"_class_name": "DiTTransformer2DModel", "num_attention_heads": 16,
                              "attention_head_dim": 72, "in_channels": 4, "out_channels": 8, "num_layers": 28,
                              "sample_size": 32, "patch_size": 2, "num_embeds_ada_norm": 1000},
    "state-spaces/mamba-130m-hf": mamba(768, 24),
    "state-spaces/mamba-2.8b-hf": mamba(2560, 64),
    "tiiuae/falcon-mamba-7b": of("falcon_mamba", "FalconMambaForCausalLM", hidden_size=4096, num_hidden_layers=64,
                                 state_size=16, intermediate_size=8192, time_step_rank=256, vocab_size=65024,
                                 tie_word_embeddings=False),
    "mistralai/Mamba-Codestral-7B-v0.1": of("mamba2", "Mamba2ForCausalLM", hidden_size=4096, num_hidden_layers=64,
                                            num_heads=128, head_dim=64, state_size=128, n_groups=8, expand=2,
                                            vocab_size=32768, tie_word_embeddings=False),
    "ai21labs/Jamba-v0.1": of("jamba", "JambaForCausalLM", vocab_size=65536, hidden_size=4096,
                              intermediate_size=14336, num_hidden_layers=32, num_attention_heads=32,
                              num_key_value_heads=8, num_experts=16, num_experts_per_tok=2, attn_layer_period=8,
                              attn_layer_offset=4, expert_layer_period=2, expert_layer_offset=1, mamba_d_state=16,
                              mamba_d_conv=4, mamba_expand=2, mamba_dt_rank=256, tie_word_embeddings=False),
    "ibm-ai-platform/Bamba-9B": of("bamba", "BambaForCausalLM", vocab_size=128256, hidden_size=4096,
                                   intermediate_size=14336, num_hidden_layers=32, num_attention_heads=32,
                                   num_key_value_heads=8, attn_layer_indices=[9, 18, 27], mamba_n_heads=128,
                                   mamba_d_head=64, mamba_n_groups=1, mamba_d_state=128, mamba_expand=2,
                                   tie_word_embeddings=False),
    "ibm-granite/granite-4.0-h-small": of(
        "granitemoehybrid", "GraniteMoeHybridForCausalLM", vocab_size=100352, hidden_size=4096,
        intermediate_size=768, shared_intermediate_size=1536, num_hidden_layers=40, num_attention_heads=32,
        num_key_value_heads=8, num_local_experts=72, num_experts_per_tok=10, mamba_n_heads=128, mamba_d_head=64,
        mamba_d_state=128, mamba_n_groups=1, mamba_expand=2, tie_word_embeddings=True,
        layer_types=[("attention" if i in (5, 15, 25, 35) else "mamba") for i in range(40)]),
    "ibm-granite/granite-4.0-h-micro": of(
        "granitemoehybrid", "GraniteMoeHybridForCausalLM", vocab_size=100352, hidden_size=2048,
        intermediate_size=8192, shared_intermediate_size=8192, num_hidden_layers=40, num_attention_heads=32,
        num_key_value_heads=8, num_local_experts=0, num_experts_per_tok=0, mamba_n_heads=64, mamba_d_head=64,
        mamba_d_state=128, mamba_n_groups=1, mamba_expand=2, tie_word_embeddings=True,
        layer_types=[("attention" if i in (5, 15, 25, 35) else "mamba") for i in range(40)]),
    "nvidia/Nemotron-H-8B-Base-8K": of(
        "nemotron_h", "NemotronHForCausalLM", vocab_size=131072, hidden_size=4096, intermediate_size=21504,
        num_attention_heads=32, num_key_value_heads=8, head_dim=128, mamba_num_heads=128, mamba_head_dim=64,
        ssm_state_size=128, n_groups=8, tie_word_embeddings=False,
        hybrid_override_pattern="M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-"),
    "Zyphra/Zamba2-2.7B": of(
        "zamba2", "Zamba2ForCausalLM", vocab_size=32000, hidden_size=2560, intermediate_size=10240,
        num_hidden_layers=54, num_attention_heads=32, num_key_value_heads=32, num_mem_blocks=2, adapter_rank=128,
        mamba_d_state=64, mamba_expand=2, mamba_ngroups=1, n_mamba_heads=80, tie_word_embeddings=True,
        layers_block_type=[("hybrid" if i in (6, 12, 18, 24, 30, 36, 42, 47, 51) else "mamba") for i in range(54)]),
}


def heads(rng):
    number = rng.choice([2, 4, 6, 8])
    return number, number * 2 * rng.randint(4, 16)


def random_bert(kind, endings, rng):
    number, width = heads(rng)
    ending = rng.choice(endings)
    return bert(kind, ending, (width, rng.randint(1, 6), number, rng.randint(20, 300), rng.randint(50, 900)),
                max_position_embeddings=rng.choice([66, 130]),
                **({"type_vocab_size": rng.randint(1, 4)} if kind != "modernbert" else
                   {"norm_bias": rng.random() < 0.3, "mlp_bias": rng.random() < 0.3,
                    "attention_bias": rng.random() < 0.3, "global_attn_every_n_layers": rng.randint(1, 4),
                    "pad_token_id": 0, "cls_token_id": 1, "sep_token_id": 2, "bos_token_id": 1, "eos_token_id": 2}),
                **(labels(rng.randint(3, 9)) if "Classification" in ending else {}))


def endings(stem, *kinds):
    return [stem + kind for kind in kinds]


def some_vit(rng):
    number, width = heads(rng)
    ending = rng.choice(["ViTModel", "ViTForImageClassification"])
    return of("vit", ending, hidden_size=width, num_attention_heads=number, num_hidden_layers=rng.randint(1, 6),
              intermediate_size=rng.randint(20, 300), image_size=rng.choice([32, 50, 64]),
              patch_size=rng.choice([4, 8]), qkv_bias=rng.random() < 0.5, num_channels=rng.randint(1, 4),
              **labels(rng.randint(3, 9)))


def some_dinov2(rng):
    number, width = heads(rng)
    kind = rng.choice(["dinov2", "dinov2_with_registers"])
    stem = "Dinov2" if kind == "dinov2" else "Dinov2WithRegisters"
    return of(kind, stem + rng.choice(["Model", "ForImageClassification"]), hidden_size=width,
              num_attention_heads=number, num_hidden_layers=rng.randint(1, 6), mlp_ratio=rng.randint(2, 4),
              image_size=56, use_swiglu_ffn=rng.random() < 0.5, qkv_bias=rng.random() < 0.5,
              **labels(rng.randint(3, 9)))


def some_swin(rng):
    stages = rng.randint(1, 4)
    width = 8 * rng.randint(1, 4)
    return of("swin", rng.choice(["SwinModel", "SwinForImageClassification"]), embed_dim=width,
              depths=[rng.randint(1, 3) for _ in range(stages)], num_heads=[2 ** i for i in range(1, stages + 1)],
              image_size=64, window_size=rng.choice([4, 7]), qkv_bias=rng.random() < 0.5,
              use_absolute_embeddings=rng.random() < 0.5, **labels(rng.randint(3, 9)))


def some_t5(rng):
    number, _ = heads(rng)
    stem, kind = rng.choice([("T5", "t5"), ("MT5", "mt5")])
    ending = rng.choice(["ForConditionalGeneration", "Model", "EncoderModel"])
    return t5(stem + ending, (8 * rng.randint(2, 9), rng.randint(4, 20), rng.randint(20, 300), rng.randint(1, 5),
                              number, rng.randint(50, 900)), kind=kind, num_decoder_layers=rng.randint(1, 5),
              feed_forward_proj=rng.choice(["relu", "gated-gelu"]), tie_word_embeddings=rng.random() < 0.5)


def some_bart(rng):
    number, width = heads(rng)
    stem, kind = rng.choice([("Bart", "bart"), ("MBart", "mbart")])
    return of(kind, stem + rng.choice(["ForConditionalGeneration", "Model"]), d_model=width,
              encoder_attention_heads=number, decoder_attention_heads=number, encoder_layers=rng.randint(1, 4),
              decoder_layers=rng.randint(1, 4), encoder_ffn_dim=rng.randint(20, 300),
              decoder_ffn_dim=rng.randint(20, 300), vocab_size=rng.randint(50, 900), max_position_embeddings=64,
              pad_token_id=1, bos_token_id=0, eos_token_id=2, decoder_start_token_id=2, forced_eos_token_id=2)


def some_whisper(rng):
    number, width = heads(rng)
    return whisper(width, rng.randint(1, 4), number, num_mel_bins=rng.choice([80, 128]),
                   vocab_size=rng.randint(100, 900), max_source_positions=rng.randint(20, 90),
                   max_target_positions=rng.randint(20, 90), pad_token_id=1)


def some_mamba(rng):
    width = 16 * rng.randint(1, 8)
    kind, stem = rng.choice([("mamba", "Mamba"), ("falcon_mamba", "FalconMamba")])
    return of(kind, stem + "ForCausalLM", hidden_size=width, num_hidden_layers=rng.randint(1, 5),
              state_size=rng.choice([8, 16]), intermediate_size=2 * width, time_step_rank=rng.randint(1, 9),
              conv_kernel=rng.choice([3, 4]), use_bias=rng.random() < 0.5, use_conv_bias=rng.random() < 0.5,
              vocab_size=rng.randint(50, 900), tie_word_embeddings=rng.random() < 0.5)


def some_mamba2(rng):
    groups = rng.choice([1, 2, 4])
    number = groups * rng.randint(1, 4)
    dim = 4 * rng.randint(1, 6)
    return of("mamba2", "Mamba2ForCausalLM", hidden_size=number * dim // 2 * 1, expand=2, num_heads=number,
              head_dim=dim, n_groups=groups, state_size=rng.choice([8, 16]), num_hidden_layers=rng.randint(1, 5),
              use_bias=rng.random() < 0.5, use_conv_bias=rng.random() < 0.5, vocab_size=rng.randint(50, 900),
              tie_word_embeddings=rng.random() < 0.5)


def some_jamba(rng):
    number, width = heads(rng)
    period = rng.randint(2, 4)
    experts = rng.choice([1, 4])
    return of("jamba", "JambaForCausalLM", hidden_size=width, num_attention_heads=number,
              num_key_value_heads=rng.choice([1, number]), intermediate_size=rng.randint(20, 300),
              num_hidden_layers=rng.randint(2, 8), num_experts=experts, num_experts_per_tok=1,
              attn_layer_period=period, attn_layer_offset=rng.randrange(period), expert_layer_period=2,
              expert_layer_offset=rng.randrange(2), mamba_d_state=8, mamba_dt_rank=rng.randint(1, 9),
              vocab_size=rng.randint(50, 900), tie_word_embeddings=rng.random() < 0.5, use_mamba_kernels=False)


def hybrid(rng):
    number, width = heads(rng)
    return number, width, {"mamba_n_heads": number, "mamba_d_head": 2 * width // number,
                           "mamba_n_groups": rng.choice([1, 2]), "mamba_d_state": 8, "mamba_expand": 2,
                           "mamba_conv_bias": rng.random() < 0.5, "mamba_proj_bias": rng.random() < 0.5}


def some_bamba(rng):
    number, width, mixer = hybrid(rng)
    layers = rng.randint(2, 6)
    return of("bamba", "BambaForCausalLM", hidden_size=width, num_attention_heads=number, num_key_value_heads=number,
              intermediate_size=rng.randint(20, 300), num_hidden_layers=layers, vocab_size=rng.randint(50, 900),
              attn_layer_indices=[rng.randrange(layers)], tie_word_embeddings=rng.random() < 0.5, **mixer)


def some_granite(rng):
    number, width, mixer = hybrid(rng)
    layers = rng.randint(2, 6)
    experts = rng.choice([0, 4])
    return of("granitemoehybrid", "GraniteMoeHybridForCausalLM", hidden_size=width, num_attention_heads=number,
              num_key_value_heads=number, intermediate_size=rng.randint(20, 300),
              shared_intermediate_size=rng.randint(20, 300), num_local_experts=experts,
              num_experts_per_tok=min(2, experts), num_hidden_layers=layers, vocab_size=rng.randint(50, 900),
              layer_types=[rng.choice(["attention", "mamba"]) for _ in range(layers)],
              tie_word_embeddings=rng.random() < 0.5, **mixer)


def some_nemotron(rng):
    number, width = heads(rng)
    return of("nemotron_h", "NemotronHForCausalLM", hidden_size=width, num_attention_heads=number,
              num_key_value_heads=number, head_dim=2 * rng.randint(4, 16), intermediate_size=rng.randint(20, 300),
              mamba_num_heads=4, mamba_head_dim=2 * rng.randint(2, 9), ssm_state_size=8,
              n_groups=rng.choice([1, 2, 4]), vocab_size=rng.randint(50, 900), tie_word_embeddings=False,
              hybrid_override_pattern="".join(rng.choice("M-*") for _ in range(rng.randint(2, 7))))


def some_zamba2(rng):
    number, width = heads(rng)
    layers = rng.randint(2, 8)
    types = [rng.choice(["hybrid", "mamba"]) for _ in range(layers)]
    uses = types.count("hybrid")
    groups = rng.choice([1, 2])
    return of("zamba2", "Zamba2ForCausalLM", hidden_size=width, num_attention_heads=number,
              num_key_value_heads=number, intermediate_size=rng.randint(20, 300), num_hidden_layers=layers,
              layers_block_type=types, num_mem_blocks=rng.randint(1, max(1, uses)), adapter_rank=rng.randint(2, 9),
              use_shared_attention_adapter=rng.random() < 0.5, mamba_d_state=8, mamba_ngroups=groups,
              n_mamba_heads=2 * number, mamba_expand=2, add_bias_linear=rng.random() < 0.5,
              vocab_size=rng.randint(50, 900), tie_word_embeddings=rng.random() < 0.5)


def some_dit(rng):
    return {"_class_name": "DiTTransformer2DModel", "num_attention_heads": rng.randint(1, 6),
            "attention_head_dim": 4 * rng.randint(2, 9), "in_channels": 4, "out_channels": rng.choice([4, 8]),
            "num_layers": rng.randint(1, 5), "sample_size": 16, "patch_size": rng.choice([2, 4]), "norm_num_groups": 4,
            "num_embeds_ada_norm": rng.randint(10, 90), "attention_bias": rng.random() < 0.5}


BERT = ["Model", "ForMaskedLM", "ForSequenceClassification", "ForTokenClassification"]
SOME = {
    "vit": some_vit, "dinov2": some_dinov2, "swin": some_swin, "t5": some_t5, "bart": some_bart,
    "whisper": some_whisper, "mamba": some_mamba, "mamba2": some_mamba2, "jamba": some_jamba, "bamba": some_bamba,
    "granitemoehybrid": some_granite, "nemotron_h": some_nemotron, "dit": some_dit,
    "bert": lambda rng: random_bert("bert", endings("Bert", *BERT, "ForPreTraining", "ForQuestionAnswering"), rng),
    "roberta": lambda rng: random_bert("roberta", endings("Roberta", *BERT, "ForQuestionAnswering"), rng),
    "xlm-roberta": lambda rng: random_bert("xlm-roberta", endings("XLMRoberta", *BERT), rng),
    "modernbert": lambda rng: random_bert("modernbert", endings("ModernBert", *BERT), rng),
    "zamba2": some_zamba2,
}


def cases():
    for name, config in PUBLISHED.items():
        yield name, "published", config
    for kind, make in SOME.items():
        rng = random.Random(kind)
        for i in range(RANDOM_EACH):
            yield f"{kind} {i + 1}", "random", make(rng)


def write(path):
    with open(path, "w", newline="") as file:
        out = csv.DictWriter(file, FIELDS, lineterminator="\n")
        out.writeheader()
        for name, source, config in cases():
            try:
                parameters, release = count(config)
            except Exception as error:  # said, and left out
                print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
                continue
            out.writerow({"name": name, "source": source, "release": release, "parameters": parameters,
                          "config": json.dumps(config)})


def check(path):
    wrong = rows = 0
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            found = count(json.loads(row["config"]))[0]
            rows += 1
            if found != int(row["parameters"]):
                wrong += 1
                print(f"{row['name']}: {found} where the table has {row['parameters']}")
    print(f"{rows} networks built, {wrong} differ")
    return wrong == 0 and rows > 0


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--check":
        sys.exit(0 if check(sys.argv[2]) else 1)
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    write(sys.argv[1])
