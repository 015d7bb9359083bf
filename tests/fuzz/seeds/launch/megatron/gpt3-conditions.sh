#!/bin/bash
#SBATCH --nodes=16 --gpus-per-node=8
export CUDA_DEVICE_MAX_CONNECTIONS=1
TP=${TP:-8}
PP=16
CHECKPOINT_PATH=$1
if [ "$TP" -gt 1 ]; then
  SP="--sequence-parallel"
fi
GPT_MODEL_ARGS=(
    --num-layers 96
    --hidden-size 12288
    --num-attention-heads 96
    --seq-length 2048
    --max-position-embeddings 2048
    --attention-backend auto # Can use (flash/fused/unfused/local)
)
T="--micro-batch-size 1 --global-batch-size 1536 \
 --fp16 --foo-bar 3 --lr 6.0e-5"
srun torchrun --master_addr $MASTER_ADDR pretrain_gpt.py ${GPT_MODEL_ARGS[@]} $T $SP \
    --tensor-model-parallel-size $TP --pipeline-model-parallel-size ${PP} --tokenizer-type GPT2BPETokenizer --save $CHECKPOINT_PATH "$@"
