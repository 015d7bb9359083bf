ZERO=2
CHECKPOINT=true
cat <<EOT > ds.json
{"train_batch_size": 64, "train_micro_batch_size_per_gpu": 2, "bf16": {"enabled": true},
 "zero_optimization": {"stage": $ZERO, "offload_optimizer": {"device": "cpu"}},
 "activation_checkpointing": {"cpu_checkpointing": true}}
EOT
OPTIONS="--num-layers 24 --hidden-size 2048 --num-attention-heads 16 --num-key-value-heads 4"
if [ "$CHECKPOINT" = "true" ] && [[ $ZERO -gt 1 ]]; then
  OPTIONS+=" --checkpoint-activations --checkpoint-num-layers 2"
elif [ -f x ]; then
  OPTIONS+=" --enable-zbh1-pipeline"
fi
deepspeed --num_nodes 2 --num_gpus 8 pretrain_gpt.py --deepspeed --deepspeed_config ds.json \
  --zero-stage $ZERO $OPTIONS --seq-length 2048 --vocab-size 50257 --max-position-embeddings 2048 \
  --micro-batch-size 2 --global-batch-size 64 --bf16 --ds-sequence-parallel-size 2 \
  --num-experts 8 8 --topk 2 --expert-interval 2 --moe-expert-parallel-size 4 --use-flash-attn-v2
