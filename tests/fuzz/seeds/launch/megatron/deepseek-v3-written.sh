#!/usr/bin/env bash
# deepseek-v3 on 256 x NVIDIA H100 SXM5 80 GB, written by Headway for Megatron-LM core 0.15.0.
set -euo pipefail
export CUDA_DEVICE_MAX_CONNECTIONS=1

MODEL=(
  --num-layers 61
  --hidden-size 7168
  --ffn-hidden-size 18432
  --num-attention-heads 128
  --multi-latent-attention
  --qk-layernorm
  --q-lora-rank 1536
  --kv-lora-rank 512
  --qk-head-dim 128
  --qk-pos-emb-head-dim 64
  --v-head-dim 128
  --max-position-embeddings 163840
  --position-embedding-type rope
  --normalization RMSNorm
  --swiglu
  --disable-bias-linear
  --untie-embeddings-and-output-weights
  --mtp-num-layers 1
  --num-experts 256
  --moe-router-topk 8
  --moe-ffn-hidden-size 2048
  --moe-shared-expert-intermediate-size 2048
  --moe-grouped-gemm
  --moe-router-score-function sigmoid
  --moe-router-enable-expert-bias
  --moe-layer-freq "([0]*3+[1]*58)"
)

TRAINING=(
  --micro-batch-size 1
  --global-batch-size 1024
  --seq-length 4096
  --bf16
  --fp8-format e4m3
  --fp8-recipe blockwise
  --attention-backend fused
  --attention-dropout 0
  --hidden-dropout 0
  --optimizer adam
)

LAYOUT=(
  --tensor-model-parallel-size 2
  --sequence-parallel
  --pipeline-model-parallel-size 8
  --pipeline-model-parallel-layout "Et*8|t*8|t*8|t*8|t*8|t*7|t*7|t*7mL"
  --expert-model-parallel-size 32
  --expert-tensor-parallel-size 1
  --moe-token-dispatcher-type flex
  --moe-enable-deepep
  --use-distributed-optimizer
  --overlap-grad-reduce
  --overlap-param-gather
  --recompute-granularity selective
  --recompute-modules layernorm mla_up_proj moe
)

# Random tokens for a trial; put your own data, schedule and checkpoints here.
# The null tokenizer adds one token to --vocab-size.
DATA=(
  --mock-data
  --tokenizer-type NullTokenizer
  --vocab-size 129279
  --train-iters 20
  --lr 1.0e-4
  --log-interval 1
  --eval-iters 0
)

torchrun --nnodes=32 --nproc-per-node=8 \
  --rdzv-backend=c10d --rdzv-endpoint="${MASTER_ADDR}:${MASTER_PORT:-29500}" \
  pretrain_gpt.py "${MODEL[@]}" "${TRAINING[@]}" "${LAYOUT[@]}" "${DATA[@]}"
