A=("--fp8-format hybrid" "--split '99,1,0'")
B=(--num-layers 24 --hidden-size "2048" --num-attention-heads 16)
B+=("${A[@]}")
echo ${#B[@]} ${B[1]} ${B[-1]} "${B[*]}"
if [[ "${A[0]}" != x ]]; then C=--bf16; else C=--fp16; fi
pretrain_gpt.py ${B[@]} $C --seq-length 2048 --micro-batch-size 1 --global-batch-size 8 --vocab-size 100 \
  --distribute-saved-activations --moe-shared-expert-overlap --ddp-bucket-size 3 --my-parallel-size 2
