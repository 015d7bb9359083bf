#!/usr/bin/env bash
# Llama 3 8B on 4 nodes with Megatron-LM, as such scripts are usually written.
# headway predict examples/llama-3-8b-megatron.sh --cluster dgx-h100
#SBATCH --nodes=4 --gpus-per-node=8 --ntasks-per-node=1

export CUDA_DEVICE_MAX_CONNECTIONS=1

TP=${TP:-4}
PP=1
CHECKPOINTS=${CHECKPOINTS:-/checkpoints/llama-3-8b}
TOKENIZER=${TOKENIZER:-/models/llama-3-8b}

MODEL_ARGS=(
  --num-layers 32
  --hidden-size 4096
  --ffn-hidden-size 14336
  --num-attention-heads 32
  --group-query-attention --num-query-groups 8   # 4 queries share keys and values
  --max-position-embeddings 8192
  --position-embedding-type rope --rotary-base 500000
  --normalization RMSNorm
  --swiglu
  --disable-bias-linear
  --untie-embeddings-and-output-weights
  --attention-dropout 0.0 --hidden-dropout 0.0
  --padded-vocab-size 128256
)

TRAINING_ARGS="
  --micro-batch-size 1 --global-batch-size 256 --seq-length 8192 \
  --bf16 --lr 3e-4 --min-lr 3e-5 --lr-decay-style cosine --train-iters 100000 \
  --clip-grad 1.0 --weight-decay 0.1"

LAYOUT_ARGS=(
  --tensor-model-parallel-size $TP --sequence-parallel
  --pipeline-model-parallel-size $PP
  --use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather
)

srun torchrun --nnodes "$SLURM_NNODES" --nproc-per-node 8 \
  --rdzv-backend c10d --rdzv-endpoint "$(hostname):29500" \
  pretrain_gpt.py "${MODEL_ARGS[@]}" $TRAINING_ARGS "${LAYOUT_ARGS[@]}" \
  --tokenizer-type HuggingFaceTokenizer --tokenizer-model "$TOKENIZER" \
  --data-path "$1" --save "$CHECKPOINTS" --save-interval 1000
