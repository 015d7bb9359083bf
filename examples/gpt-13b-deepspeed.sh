#!/usr/bin/env bash
# Megatron-DeepSpeed on four nodes: ZeRO 1 with offloaded optimiser states, layers recomputed, the
# sequence over two ranks. headway predict examples/gpt-13b-deepspeed.sh --cluster dgx-a100-80gb
ZERO_STAGE=1
MICRO_BATCH=1
GLOBAL_BATCH=128
ACTIVATION_CHECKPOINT=true

cat <<EOF > ds_config.json
{
  "train_batch_size": $GLOBAL_BATCH,
  "train_micro_batch_size_per_gpu": $MICRO_BATCH,
  "bf16": {"enabled": true},
  "zero_optimization": {
    "stage": $ZERO_STAGE,
    "overlap_comm": true,
    "offload_optimizer": {"device": "cpu"}
  },
  "steps_per_print": 10
}
EOF

NETWORK=(
  "--num-layers 40 --hidden-size 5120"
  "--num-attention-heads 40"
  "--seq-length 4096 --max-position-embeddings 4096"
  "--tokenizer-type GPT2BPETokenizer"
)
OPTIONS="--deepspeed --deepspeed_config ds_config.json --zero-stage $ZERO_STAGE"
if [ "$ACTIVATION_CHECKPOINT" = "true" ]; then
  OPTIONS+=" --checkpoint-activations --deepspeed-activation-checkpointing"
fi

deepspeed --num_nodes 4 --num_gpus 8 pretrain_gpt.py ${NETWORK[@]} $OPTIONS \
  --tensor-model-parallel-size 2 --ds-sequence-parallel-size 2 --no-pipeline-parallel \
  --micro-batch-size $MICRO_BATCH --global-batch-size $GLOBAL_BATCH --bf16 --use-flash-attn-v2 \
  --hidden-dropout 0 --attention-dropout 0 --lr 1e-4 --train-iters 100 --data-path "$1"
