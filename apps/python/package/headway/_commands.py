"""The commands as functions. Written by apps/python/generate.py."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, Mapping, Sequence, TypedDict, Union

from ._ask import Progress
from ._call import Predicted, ask
from ._results import Record, Records, Result

if TYPE_CHECKING:
    from typing_extensions import Unpack

Path = Union[str, "os.PathLike[str]"]
#: A name, a file, or what a file would say.
Described = Union[str, "os.PathLike[str]", Mapping[str, Any]]
Operand = Union[str, "os.PathLike[str]"]


class RunFields(TypedDict, total=False):
    """What a run of training is asked by.

    model: built-in name (headway list models), config.json or .toml
    cluster: built-in name (headway list clusters) or .toml
    calibration: what runs of your own say (headway calibrate --runs); default: nothing
    gpus: accelerators of the run; default: the product of the degrees
    seq: tokens in one sequence
    global_batch: sequences in one step
    framework: software that trains: megatron (default), fsdp, deepspeed, nanotron, jax,
        megatron-deepspeed, other, ddp-horovod, torchrec, tensorflow
    precision: formats of numbers: fp32, tf32, fp16, bf16 (default), fp8, fp8-current,
        fp8-block, mxfp8, fp4
    dp: data-parallel degree; default: what the other degrees leave of --gpus
    tp: tensor-parallel degree; default: 1
    cp: context-parallel degree; default: 1
    pp: pipeline-parallel degree; default: 1
    vpp: virtual pipeline stages on each rank; default: 1
    ep: expert-parallel degree, inside dp x cp x tp; default: 1
    etp: tensor-parallel degree inside an expert; default: the framework's habit: 1 or tp
    micro_batch: sequences in one micro-batch; default: 1
    zero: ZeRO stage; default: the framework's habit
    no_reshard: ZeRO-3: keep gathered weights from forward to backward
    no_sp: tensor parallelism without sequence parallelism
    recompute: what runs again in the backward pass: none (default), selective, full, every-
        second-product
    recompute_every: full recomputation keeps the input of every n-th layer; default: 1
    schedule: order in which stages run micro-batches: 1f1b (default), gpipe, breadth-first,
        zero-bubble, zero-bubble-2, zero-bubble-v, dual-pipe, dual-pipe-v, chimera
    offload: what lives in the host's memory, between commas: optimizer, activations,
        parameters; default: none
    overlap_gradients: reduce gradients under the backward pass; default: the framework's choice
    overlap_parameters: gather parameters under the forward pass; default: the framework's
        choice
    overlap_tensor: tensor-parallel calls under split products; default: the framework's choice
    small_activation_inputs: what enters a gated activation is kept in 8 bit
    vocab: tokens of the vocabulary; default: the model's
    slice: accelerators that the job was given of each domain of a level; default: as the
        cluster is filled
    board_power: what each accelerator may draw; default: its data sheet's
    memory_bandwidth: of each accelerator; default: its data sheet's
    network: class of the network between nodes; default: the cluster's
    network_bandwidth: of an accelerator between nodes, or the cards of a node; default: the
        cluster's
    task: kind of training: pretrain (default), finetune, lora
    optimizer: rule of the update: adam, adamw (default), sgd, adafactor, muon, adam-8bit
    attention: kernel of the attention core: unfused, flash1, flash2, flash3, triton; default:
        what the hardware runs best
    method: how replicas learn together: when they meet, what they send (headway list methods);
        default: synchronous
    shard: ranks that share one copy of sharded states (hybrid sharding); default: all that hold
        the same weights
    secondary_shard: ZeRO-3: ranks that share a second copy, gathered backward (ZeRO++);
        default: there is none
    keep_gathered: sequence parallelism keeps gathered inputs for the backward pass
    cp_exchange: how context-parallel ranks exchange: ring (default), all-to-all
    recompute_pieces: what selective recomputation computes again: core (default), norm, latent-
        up, activation, feed-forward, experts
    recompute_one_in: full recomputation of one in n layers; default: 1
    recompute_early_stop: full, every second product: a layer's recomputation ends before its
        last product; default: the framework's choice
    first_stage_layers: layers on the first pipeline stage; default: as many as on others
    last_stage_layers: layers on the last pipeline stage; default: as many as on others
    embedding_slots: layers that the embedding counts as where layers are spread; default: as
        the framework spreads them
    head_slots: the same of the head with prediction modules; default: as the framework spreads
        them
    split_vocabulary: embedding and head split over all stages of the pipeline
    order: numbering of the ranks from the innermost; default: tp-cp-dp-pp
    param_dtype: format of gathered weights, where frameworks let it be chosen; fp32 with a
        16-bit recipe is autocast; default: the framework's choice
    reduce_dtype: format of reduced gradients, where it can be chosen; default: the framework's
        choice
    quantized_weights: ZeRO-3: gathered weights travel in 8 bit (ZeRO++)
    quantized_gradients: ZeRO-3: gradients travel in 4 bit, within a node, then between nodes
        (ZeRO++)
    bucket_size: gradients that are sent together, where it can be chosen: 25MiB; default: the
        framework's habit
    padding_mask: batches come with a mask: tokens are gathered for flash attention
    fused_loss: cross-entropy in one kernel each way; default: the framework's choice
    loss_metrics: times that training metrics evaluate the loss again; default: 0
    overlap_experts: exchange tokens under the work of another micro-batch; default: the
        framework's choice
    dispatch: tokens go to each of their experts, or once to each rank: copies (default), once
    graphs: what CUDA graphs replay (dense: all but routed experts): none (default), dense, step
    fused_experts: activation and casts inside the experts' grouped products
    attention_8_bit: the attention core in 8 bit, too, with an 8-bit recipe
    small_gradients: gradients in 16 bit where the framework's habit is 32
    unfused: one kernel for each operation of norms, activation, rotary, dropout
    not_causal: every token attends to every other
    dropout: probability; default: the model's own recipe
    lora_rank: rank of the adapters (task lora); default: 16
    adapters: matrices with adapters (task lora): all (default), query-key-value
    document: mean tokens of documents packed into a sequence; default: one fills it
    expert_imbalance: tokens of the fullest expert rank over the mean, at least 1; default: 1
    software: date of framework and libraries, as 2025-06; default: today's
    checked_collectives: hosts check each collective (TORCH_DISTRIBUTED_DEBUG=DETAIL)
    blocking_transfers: pipeline transfers wait for the host
    tables: who holds which part of a network's embedding tables: spread (default), table-wise,
        column-wise, row-wise, table-row-wise, grid, data-parallel
    copy_below: tables of fewer rows are copied to all ranks; default: 0
    rows_from: tables of so many rows and more lie row-wise; default: none but by --tables
    table_columns: width of a slice of a table (column-wise, grid); default: 128
    table_cache: rows of the tables that the accelerators hold, the host all; default: 1
    table_hits: look-ups that find their row on the accelerator; default: the share of rows
    table_wise_tables: tables that lie table-wise, by their places from 0 on; default: none
    column_wise_tables: the same of column-wise; default: none
    row_wise_tables: the same of row-wise; default: none
    table_row_wise_tables: the same of table-row-wise; default: none
    grid_tables: the same of grid; default: none
    data_parallel_tables: the same of data-parallel; default: none
    convolutions: how a network's convolutions are split: default (default), data, sharded,
        sharded-in-node, tensor, tensor-in-node, tensor-in-node-sharded, spread, spread-in-node
    attentions: the same of its attention: default (default), data, sharded, sharded-in-node,
        tensor, tensor-in-node, tensor-in-node-sharded, spread, spread-in-node
    feed_forwards: the same of its feed-forward parts: default (default), data, sharded,
        sharded-in-node, tensor, tensor-in-node, tensor-in-node-sharded, spread, spread-in-node
    bottom_mlp: the same of its projections before the tables: default (default), data, sharded,
        sharded-in-node, tensor, tensor-in-node, tensor-in-node-sharded, spread, spread-in-node
    top_mlp: the same of its other projections: default (default), data, sharded, sharded-in-
        node, tensor, tensor-in-node, tensor-in-node-sharded, spread, spread-in-node
    interactions: the same of what joins its features: default (default), data, sharded,
        sharded-in-node, tensor, tensor-in-node, tensor-in-node-sharded, spread, spread-in-node
    expert_mlp: the same of its experts: default (default), data, sharded, sharded-in-node,
        tensor, tensor-in-node, tensor-in-node-sharded, spread, spread-in-node
    input_rate: samples a second that what feeds all ranks can read and prepare; default: no
        bound
    attention_flops: how MFU counts attention: full (default), causal
    """

    model: Described
    cluster: Described
    calibration: Described
    gpus: int
    seq: int
    global_batch: int
    framework: Literal["megatron", "fsdp", "deepspeed", "nanotron", "jax", "megatron-deepspeed", "other", "ddp-horovod", "torchrec", "tensorflow"]
    precision: Literal["fp32", "tf32", "fp16", "bf16", "fp8", "fp8-current", "fp8-block", "mxfp8", "fp4"]
    dp: int
    tp: int
    cp: int
    pp: int
    vpp: int
    ep: int
    etp: int
    micro_batch: int
    zero: int
    no_reshard: bool
    no_sp: bool
    recompute: Literal["none", "selective", "full", "every-second-product"]
    recompute_every: int
    schedule: Literal["1f1b", "gpipe", "breadth-first", "zero-bubble", "zero-bubble-2", "zero-bubble-v", "dual-pipe", "dual-pipe-v", "chimera", "interleaved", "zero-bubble-h2"]
    offload: Union[str, Sequence[Literal["optimizer", "activations", "parameters"]]]
    overlap_gradients: Literal["off", "on"]
    overlap_parameters: Literal["off", "on"]
    overlap_tensor: Literal["off", "on"]
    small_activation_inputs: bool
    vocab: int
    slice: str
    board_power: str
    memory_bandwidth: str
    network: str
    network_bandwidth: str
    task: Literal["pretrain", "finetune", "lora"]
    optimizer: Literal["adam", "adamw", "sgd", "adafactor", "muon", "adam-8bit"]
    attention: Literal["unfused", "flash1", "flash2", "flash3", "triton"]
    method: str
    shard: int
    secondary_shard: int
    keep_gathered: bool
    cp_exchange: Literal["ring", "all-to-all"]
    recompute_pieces: Union[str, Sequence[Literal["core", "norm", "latent-up", "activation", "feed-forward", "experts"]]]
    recompute_one_in: int
    recompute_early_stop: Literal["off", "on"]
    first_stage_layers: int
    last_stage_layers: int
    embedding_slots: int
    head_slots: int
    split_vocabulary: bool
    order: str
    param_dtype: Literal["bf16", "fp32"]
    reduce_dtype: Literal["bf16", "fp32"]
    quantized_weights: bool
    quantized_gradients: bool
    bucket_size: str
    padding_mask: bool
    fused_loss: Literal["off", "on"]
    loss_metrics: int
    overlap_experts: Literal["off", "on"]
    dispatch: Literal["copies", "once"]
    graphs: Literal["none", "dense", "step"]
    fused_experts: bool
    attention_8_bit: bool
    small_gradients: bool
    unfused: bool
    not_causal: bool
    dropout: float
    lora_rank: int
    adapters: Literal["all", "query-key-value"]
    document: int
    expert_imbalance: float
    software: str
    checked_collectives: bool
    blocking_transfers: bool
    tables: Literal["spread", "table-wise", "column-wise", "row-wise", "table-row-wise", "grid", "data-parallel"]
    copy_below: int
    rows_from: int
    table_columns: int
    table_cache: float
    table_hits: float
    table_wise_tables: Union[str, Sequence[str]]
    column_wise_tables: Union[str, Sequence[str]]
    row_wise_tables: Union[str, Sequence[str]]
    table_row_wise_tables: Union[str, Sequence[str]]
    grid_tables: Union[str, Sequence[str]]
    data_parallel_tables: Union[str, Sequence[str]]
    convolutions: Literal["default", "data", "sharded", "sharded-in-node", "tensor", "tensor-in-node", "tensor-in-node-sharded", "spread", "spread-in-node"]
    attentions: Literal["default", "data", "sharded", "sharded-in-node", "tensor", "tensor-in-node", "tensor-in-node-sharded", "spread", "spread-in-node"]
    feed_forwards: Literal["default", "data", "sharded", "sharded-in-node", "tensor", "tensor-in-node", "tensor-in-node-sharded", "spread", "spread-in-node"]
    bottom_mlp: Literal["default", "data", "sharded", "sharded-in-node", "tensor", "tensor-in-node", "tensor-in-node-sharded", "spread", "spread-in-node"]
    top_mlp: Literal["default", "data", "sharded", "sharded-in-node", "tensor", "tensor-in-node", "tensor-in-node-sharded", "spread", "spread-in-node"]
    interactions: Literal["default", "data", "sharded", "sharded-in-node", "tensor", "tensor-in-node", "tensor-in-node-sharded", "spread", "spread-in-node"]
    expert_mlp: Literal["default", "data", "sharded", "sharded-in-node", "tensor", "tensor-in-node", "tensor-in-node-sharded", "spread", "spread-in-node"]
    input_rate: float
    attention_flops: Literal["full", "causal"]


class ServingFields(TypedDict, total=False):
    """What serving is asked by.

    input_len: tokens of a prompt
    output_len: tokens of an answer
    batch: sequences of each copy that start and end together
    concurrency: clients of each copy, each with one request at a time
    weights: of weights; int8, int4, mxfp4 and nvfp4 are of memory alone: fp32, tf32, fp16,
        bf16, fp8, fp8-current, fp8-block, mxfp8, fp4, int8, int4, int4-experts, mxfp4,
        mxfp4-mxfp8, nvfp4, fp4-experts, int8-full; default: as the config keeps them, else
        bf16, fp16 where there is none
    cache: of keys and values, as the engine has them: bf16, fp8, int8, int4, nvfp4; default:
        bf16
    engine: software that serves: vllm, vllm-0.6, vllm-2024, tensorrt-llm, tensorrt-llm-2024,
        tensorrt-llm-2023, sglang, lmdeploy, deepspeed-mii, deepspeed, fastertransformer, llama-
        cpp; default: vllm
    memory_share: of an accelerator's memory, or of what weights leave of it (TensorRT-LLM), for
        the engine; default: the engine's
    step_tokens: of one step at most, of prompts and decoded; default: the engine's
    """

    input_len: int
    output_len: int
    batch: int
    concurrency: int
    weights: str
    cache: Literal["bf16", "fp8", "int8", "int4", "nvfp4"]
    engine: Literal["vllm", "vllm-0.6", "vllm-2024", "tensorrt-llm", "tensorrt-llm-2024", "tensorrt-llm-2023", "sglang", "lmdeploy", "deepspeed-mii", "deepspeed", "fastertransformer", "llama-cpp"]
    memory_share: float
    step_tokens: int


class PredictFields(RunFields, total=False):
    """What `predict` is asked by besides.

    files: a run file, or a configuration: Megatron-LM script, torchtitan .toml, DeepSpeed
        .json, nanotron .yaml; flags override its fields
    far_cluster: machine of the last pipeline stages, where it is another
    far_stages: how many of the pipeline's stages those are
    save: write the run to this file as well
    emit: print the configuration that starts the run: megatron, torchtitan, deepspeed, nanotron
    timeline: with --json: the slots of the pipeline, placed in time
    ops: each kernel and call, and what binds it
    """

    files: Union[Path, Sequence[Path]]
    far_cluster: Described
    far_stages: int
    save: str
    emit: Literal["megatron", "torchtitan", "deepspeed", "nanotron"]
    timeline: bool
    ops: bool


class PlanFields(RunFields, total=False):
    """What `plan` is asked by besides.

    files: a run file; flags override its fields
    fix: keep a searched field at a value, as tp=8
    max_dp: keep dp at most there
    max_tp: keep tp at most there
    max_cp: keep cp at most there
    max_pp: keep pp at most there
    max_ep: keep ep at most there
    max_etp: keep etp at most there
    max_micro_batch: keep micro-batch at most there
    max_recompute_every: keep recompute-every at most there
    max_zero: keep zero at most there
    max_vpp: keep vpp at most there
    max_embedding_slots: keep embedding-slots at most there
    max_head_slots: keep head-slots at most there
    objective: what is best: time (default), throughput, memory, energy, money, table-planner
    headroom: share of the memory to leave free, as 10%
    top: layouts of different kind; default: 5
    exhaustive: price every layout, without bounds
    emit: print the configuration of the best: megatron, torchtitan, deepspeed, nanotron
    save: write the best as a run file
    plot: draw to this folder
    """

    files: Union[Path, Sequence[Path]]
    fix: Mapping[str, Any]
    max_dp: int
    max_tp: int
    max_cp: int
    max_pp: int
    max_ep: int
    max_etp: int
    max_micro_batch: int
    max_recompute_every: int
    max_zero: int
    max_vpp: int
    max_embedding_slots: int
    max_head_slots: int
    objective: Literal["time", "throughput", "memory", "energy", "money", "table-planner"]
    headroom: Union[float, str]
    top: int
    exhaustive: bool
    emit: Literal["megatron", "torchtitan", "deepspeed", "nanotron"]
    save: str
    plot: str


class CommsFields(RunFields, total=False):
    """What `comms` is asked by besides.

    files: a run file (.toml), or traces of one run, of any known format
    trace: traces to compare with what the run is expected to do
    compare: two recordings, before and after: what changed, the most first
    trace_steps: steps in the traces; default: found by marks, counts or repetition
    steps: of the traces these steps alone, by the numbers that they mark
    csv: write the calls to this file
    csv_steps: write every measured step of every rank to this file
    csv_kernels: write the measured kernels and products to this file
    save: write what was measured to a database
    plot: draw to this folder
    timeline: with --json: every measured kernel and call in its place
    small: messages below this size are small; default: where latency is more than half of the
        time
    clusters: the same run on each of these clusters, beside one another
    study: the communication study, of its models on its cluster
    report: renew the generated tables of DIR/communication.md and the plots beside it
    """

    files: Union[Path, Sequence[Path]]
    trace: Union[str, Sequence[str]]
    compare: Union[str, Sequence[str]]
    trace_steps: int
    steps: str
    csv: str
    csv_steps: str
    csv_kernels: str
    save: str
    plot: str
    timeline: bool
    small: str
    clusters: Union[str, Sequence[str]]
    study: bool
    report: str


class AdviseFields(RunFields, total=False):
    """What `advise` is asked by besides.

    files: a run file; flags override its fields
    trace: traces of the run, of any known format
    trace_steps: steps in the traces; default: found by marks, counts or repetition
    steps: of the traces these steps alone, by the numbers that they mark
    """

    files: Union[Path, Sequence[Path]]
    trace: Union[str, Sequence[str]]
    trace_steps: int
    steps: str


class ScaleFields(RunFields, total=False):
    """What `scale` is asked by besides.

    sweep: which command of scale
    files: a run file; flags override its fields
    best: each point takes the best layout (headway plan), not the given one
    at: accelerators, as 8,16,32; default: 1 to 64 times --gpus
    threshold: share of what the first accelerators bring, below which more bring little;
        default: 0.5
    tokens: tokens to train on: 15T, 300B, 2e12
    mtbf: time between interruptions of one accelerator; default: 50677 h
    hardware_share: of interruptions, those that send a node to repair; default: 0.78
    restart: from an interruption until training goes on; default: 10 min
    repair: until a failed node is back as a spare; default: 24 h
    spares: spare nodes; default: so many that the run costs least
    checkpoint_bandwidth: of the storage, all ranks together; default: 122 MB/s an accelerator
    checkpoint_size: of a checkpoint; default: weights, master copy and optimiser states
    checkpoint_blocking: that a checkpoint stops training, the rest of its write going on beside
        it; default: all
    interval: between checkpoints; default: the best
    step_noise: spread of one accelerator's step time, as 0.01, or a file of measured times;
        default: 0: the forecast's mean straggling
    price: US dollars for an accelerator's hour; default: the cluster's
    pue: power usage effectiveness; default: the cluster's
    carbon: kg of CO2 equivalent a kWh; default: 0.385
    loss_law: loss by parameters and tokens: besiroglu (default), hoffmann
    critical_batch: tokens, or the law that headway calibrate --steps wrote; default: by
        --batch-law
    batch_law: what the critical batch goes by: Kaplan's law of the loss that the run reaches,
        the tokens it trains on, or MLPerf's published points of a language model: by-loss, by-
        tokens, gpt3, llama31_405b, llama31_8b; default: by-loss
    critical_batch_at: by-tokens: the tokens after which --critical-batch is right
    critical_batch_exponent: by-tokens: the power of the tokens that it grows with; yours;
        default: 0
    sparse_samples: samples of sparse training (--method sparse) to a loss over those of dense,
        small batches; default: 1: no published number
    sparse_steps: the same of steps with a large batch; default: 1: no published number
    csv: write the points to this file
    plot: draw to this folder
    keep: what of a step stays the same; default: tokens
    bandwidth: factors of the rates beyond the node; default: 0.125 to 8
    latency: factors of the latencies beyond the node; default: 0.125 to 8
    domain: accelerators that the innermost links join; default: 8 to 512
    phases: the phases in place: {phase: [{tokens, ...}], best}
    report: renew the generated tables of DIR/scaling.md and the plots beside it
    sites: numbers of sites, each with the run's accelerators; default: 1,2,4,8
    compare: a method beside synchronous training, as --method of a run has it; may be repeated;
        default: qsgd, gossip, ad-psgd, diloco, streaming-diloco, eager-diloco
    sync_every: steps between meetings of those that do not state them (every); default: 30, as
        published
    penalty: your own loss over that of synchronous training, as gossip=1.01
    loss_data_exponent: tokens grow with the penalty to the power 1/X, instead of by --loss-law
    extrapolate: where none is published: DiLoCo's penalty by its fitted laws, none for gossip
        beyond what its spectral gap takes
    points: batch, and steps or samples, to the target; default: MLPerf's published points
    laws: laws that headway calibrate --steps wrote
    measured: runs with a target: their time by the law and their throughput, and its error
    name: of which points or law; default: all
    batch: batches, samples a step; default: powers of two
    throughput: samples a second, for the time to the target
    density: share of the weights that are not zero: what the hardware saves of them
    sparsity: how the zeros lie: none, 2:4, blocks
    value_bits: of a weight and a gradient; default: 16
    block: edge of a block of --sparsity blocks; default: 32
    masks_sent: which weights are not zero is sent with the gradients
    samples: share of the samples that are trained on
    tokens_kept: share of the tokens or pixels of a sample
    width: share of the channels or the hidden width
    depth: share of the layers
    first_tokens: a curriculum of lengths: share of the tokens that it begins with
    growing: share of training over which it grows to all; default: 1
    pj_a_bit: energy of a bit of memory read or written; default: 5
    functions: the functions in place: {function: [{matrix, offset}]}
    """

    sweep: str
    files: Union[Path, Sequence[Path]]
    best: bool
    at: Union[Union[float, str], Sequence[Union[float, str]]]
    threshold: float
    tokens: Union[float, str]
    mtbf: str
    hardware_share: float
    restart: str
    repair: str
    spares: int
    checkpoint_bandwidth: str
    checkpoint_size: str
    checkpoint_blocking: str
    interval: str
    step_noise: float
    price: float
    pue: float
    carbon: float
    loss_law: Literal["besiroglu", "hoffmann"]
    critical_batch: Union[float, str]
    batch_law: Literal["by-loss", "by-tokens", "gpt3", "llama31_405b", "llama31_8b"]
    critical_batch_at: Union[float, str]
    critical_batch_exponent: float
    sparse_samples: float
    sparse_steps: float
    csv: str
    plot: str
    keep: Literal["sequences", "tokens"]
    bandwidth: Union[Union[float, str], Sequence[Union[float, str]]]
    latency: Union[Union[float, str], Sequence[Union[float, str]]]
    domain: Union[Union[float, str], Sequence[Union[float, str]]]
    phases: Mapping[str, Any]
    report: str
    sites: Union[str, Sequence[str]]
    compare: Union[str, Sequence[str]]
    sync_every: float
    penalty: Union[str, Sequence[str]]
    loss_data_exponent: float
    extrapolate: bool
    points: str
    laws: str
    measured: str
    name: str
    batch: Union[str, Sequence[str]]
    throughput: float
    density: float
    sparsity: Literal["none", "2:4", "blocks"]
    value_bits: float
    block: float
    masks_sent: bool
    samples: float
    tokens_kept: float
    width: float
    depth: float
    first_tokens: float
    growing: float
    pj_a_bit: float
    functions: Mapping[str, Any]


class LimitsFields(TypedDict, total=False):
    """What `limits` is asked by.

    files: settings of your own
    preset: a published comparison (grand_dense where nothing is asked for): base_dense,
        base_sparse, batch, beyond, grand_dense, grand_sparse, relaxed, shallow
    gpu: a machine of `headway list machines`, or a .toml of your own
    settings: settings described in place, as a setting's .toml
    sparse: models with experts in every setting
    as_published: with the slip of the study's program, to compare numbers
    explain: add what binds, what formulas say, and the model's weak points
    rows: write every model's best layout to this file
    plot: draw to this folder
    sensitivity: how far each number of the machine moves the limits, and which most
    smooth: add the limits between the models of the curve: they change smoothly
    real: beside each setting, real transformers: the prediction of their steps
    cluster: of --real, a name or .toml; default: what the machine stands for
    seq: tokens in a sequence; default: 2048
    months: in which a run must end; default: 3
    relax: beside each setting, with less communication: ad-psgd, asynchronous, decoupled,
        diloco, eager-diloco, ensemble, evolution, federated, fp4-exchange, fp8-exchange,
        gossip, local-sgd, local-updates, masked, one-bit-adam, powersgd, qsgd, signs, stale,
        streaming-diloco, subnetworks, terngrad, top-k, zero-one-adam
    sync_every: steps between meetings
    loose_level: level from which outwards replicas meet rarely
    compression: gradient bytes over bytes sent
    blocks: blocks with losses of their own
    submodels: submodels trained apart
    sample_penalty: data needed, times that of synchronous training
    sites: data centres that share the run, or the shares of unlike ones: 4,2,1
    site_bandwidth: of one GPU to other sites, "1 GB/s" or unlimited; a list: of each site
    site_distance: between sites: light in glass takes 5 ms for 1000 km
    budget: co-design: the machine, its network and the layout within this money
    power_budget: the same within this power at the meter, "100 MW"
    width: for the model of this d_model; default: the widest within the budget
    domain: accelerators of a domain that are tried, repeatable
    fabric: bandwidth of an accelerator between domains that is tried, repeatable
    parts: the same in place
    report: renew the tables of DIR/limits.md and the drawings beside it
    """

    files: Union[Path, Sequence[Path]]
    preset: Union[Literal["base_dense", "base_sparse", "batch", "beyond", "grand_dense", "grand_sparse", "relaxed", "shallow"], Sequence[Literal["base_dense", "base_sparse", "batch", "beyond", "grand_dense", "grand_sparse", "relaxed", "shallow"]]]
    gpu: Union[str, Sequence[str]]
    settings: Sequence[Mapping[str, Any]]
    sparse: bool
    as_published: bool
    explain: bool
    rows: str
    plot: str
    sensitivity: bool
    smooth: bool
    real: bool
    cluster: Described
    seq: int
    months: float
    relax: str
    sync_every: float
    loose_level: str
    compression: float
    blocks: int
    submodels: int
    sample_penalty: float
    sites: Union[float, str]
    site_bandwidth: str
    site_distance: float
    budget: float
    power_budget: str
    width: int
    domain: Union[str, Sequence[str]]
    fabric: Union[str, Sequence[str]]
    parts: Mapping[str, Any]
    report: str


class ValidateFields(TypedDict, total=False):
    """What `validate` is asked by.

    corpus: measured runs, kernels or collectives, told by the columns; default: the built-in
        runs
    cluster: on which all measured collectives ran, with its own constants
    by: what groups of rows share: source (default), accelerator, framework, scale, parallelism,
        engine, model, precision, load
    runs: published flagship runs instead of a corpus
    rows: add every row to the document
    report: renew the generated tables of DIR/validation.md and the plots beside it
    calibration: what runs of your own say (headway calibrate --runs)
    data: folder with measurements/; default: those built in
    """

    corpus: Union[str, Sequence[str]]
    cluster: Described
    by: Literal["source", "accelerator", "framework", "scale", "parallelism", "engine", "model", "precision", "load"]
    runs: bool
    rows: bool
    report: str
    calibration: Described
    data: str


class ListFields(TypedDict, total=False):
    """What `list` is asked by.

    what: what is listed: models, clusters, accelerators, machines, methods, fields, schemas
    of: of fields: a launch script, a framework's configuration or a run file, whose fields of a
        run are listed with their values
    """

    what: Literal["models", "clusters", "accelerators", "machines", "methods", "fields", "schemas"]
    of: str


class BenchFields(TypedDict, total=False):
    """What `bench` is asked by.

    what: what is measured: kernels, collectives, limits, plan
    signature: digest of the fixed cases
    left_out: collectives: each system predicted by constants fitted without it, too (a minute)
    report: collectives: renew the tables of DIR/models/collectives.md
    data: folder with measurements/; default: those built in
    """

    what: Literal["kernels", "collectives", "limits", "plan"]
    signature: bool
    left_out: bool
    report: str
    data: str


class CalibrateFields(TypedDict, total=False):
    """What `calibrate` is asked by.

    what: constants to fit, steps where nothing is asked for: steps, intervals, own, kernels,
        collectives, serving
    data: folder with measurements/; default: those built in
    write: renew DIR/calibration/*.toml of a checkout; default: data
    entries: steps: write only these of the fit, as shared framework.NAME network.NAME
    runs: what measured steps of your own say: a .csv as measurements/training.csv, or run files
        with [measured]
    steps: the law of steps to a target by the batch: columns batch, and steps or samples; name
    rows: intervals: write each run as predicted without its source
    kernels: serving: measured kernels of serving engines
    corpus: serving: measured serving
    left_out: serving: errors of fits without what they predict, too
    report: serving: renew the tables of DIR/models/infer-fit.md
    collectives: fit a cluster's network on nccl-tests or OSU logs, traces, or folders of them
    cluster: the cluster of the logs
    output: write the fitted cluster, or what the runs say; default: print it
    gpus_per_node: ranks on a node; default: as a log lists its hosts, else as the cluster has
    """

    what: Literal["steps", "intervals", "own", "kernels", "collectives", "serving"]
    data: str
    write: bool
    entries: Union[str, Sequence[str]]
    runs: Union[str, Sequence[str]]
    steps: str
    rows: str
    kernels: str
    corpus: str
    left_out: bool
    report: str
    collectives: Union[str, Sequence[str]]
    cluster: Described
    output: str
    gpus_per_node: int


class SimulateFields(RunFields, total=False):
    """What `simulate` is asked by besides.

    simulate: which command of simulate; a run itself where none is named
    files: a run file; flags override its fields
    algorithm: repeatable; calls placed by this algorithm instead of priced, as
        tp.all_reduce=ring; best: the fastest
    choice: repeatable; compression, synchronisation, priority, algorithm, in-network, full-
        bisection, torus, or a field of the run; default: the usual ones
    micro_batches: micro-batches of a step
    forward: forward pass of a micro-batch through all that a rank has: "18.5 ms"
    backward: the gradient of its input alone
    weight: the gradient of its weights, which every schedule adds
    transfer: from one rank to the next, beside what they compute; default: 0 s
    joined: a forward pass under a backward pass (dual-pipe, dual-pipe-v): of the two one by
        one; default: 1
    stages: times of each stage instead: columns stage, forward, backward, weight
    svg: draw the timeline to this file
    ops: that table as text
    op: all_reduce, all_gather, reduce_scatter, all_to_all
    ranks: where the topology has no size
    bytes: the whole tensor; of all_to_all what a rank has for all
    topology: switch, full, torus:8x8, mesh:5x5, cubes:4x4x8, switches:8x8, fat-tree:4x8:2,
        clos:16, rails:32x8, dragonfly:2x4x2, sites:4x16
    bandwidth: of a link one way, of each level or dimension; default: 50 GB/s
    latency: of a link, of a message through a switch; default: 2 us
    chunks: of algorithms in chunks; default: the best
    seed: of hashed uplinks
    every_rank: each message of each rank, alike or not
    seeds: draw so many steps; default: 1
    slot_noise: standard deviation of the kernels of a slot on a rank, of their time
    step_noise: of the kernels of a rank all along a step
    slow_ranks: global ranks whose kernels take --slow-factor
    slow_factor: what the kernels of slow ranks take, of the usual; default: 2
    slow_link_ranks: ranks whose network has --slow-link-share of its bandwidth
    slow_link_nodes: the same of all ranks of nodes
    slow_link_share: what is left of a slow link; default: 0.5
    flapping_ranks: ranks whose network is down for a part of each period
    flapping_period: from one failure of a flapping link to the next: "2 s"
    flapping_down: the part of a period that it is down; default: 0.1
    sequence_variation: unequal sequences: standard deviation of a micro-batch's attention, of
        its mean
    pause: of a host that collects garbage: "200 ms"
    pause_every: slots from one pause to the next
    pause_together: all ranks pause behind the same slots, not each behind its own
    neighbour_share: of the network's bandwidth, that another job takes
    neighbour_placement: where that job's nodes stand: packed, scattered; default: scattered
    mtbf: time between interruptions of one accelerator: "50677 h"
    detection: from an interruption until it is seen; default: 0 s
    restart: from then on until training goes on; default: 0 s
    checkpoint_blocking: that a checkpoint stops training; default: 0 s
    interval: between checkpoints
    what_if: what the step would take without its slowest stage or worker
    perfetto: write the timeline to this file, for ui.perfetto.dev
    chrome: the same as Chrome's trace events
    chakra: write a Chakra trace for each rank there, and what ASTRA-sim reads beside them
    timeline: with --json: everything in its place, for who draws it
    """

    simulate: Literal["codesign", "pipeline", "replay", "network", "collective", "recording"]
    files: Union[Path, Sequence[Path]]
    algorithm: Union[str, Sequence[str]]
    choice: Union[str, Sequence[str]]
    micro_batches: int
    forward: str
    backward: str
    weight: str
    transfer: str
    joined: float
    stages: str
    svg: str
    ops: str
    op: str
    ranks: int
    bytes: str
    topology: Union[str, Mapping[str, Any]]
    bandwidth: str
    latency: str
    chunks: int
    seed: int
    every_rank: bool
    seeds: int
    slot_noise: float
    step_noise: float
    slow_ranks: Union[Union[float, str], Sequence[Union[float, str]]]
    slow_factor: float
    slow_link_ranks: Union[Union[float, str], Sequence[Union[float, str]]]
    slow_link_nodes: Union[Union[float, str], Sequence[Union[float, str]]]
    slow_link_share: float
    flapping_ranks: Union[Union[float, str], Sequence[Union[float, str]]]
    flapping_period: str
    flapping_down: float
    sequence_variation: float
    pause: str
    pause_every: int
    pause_together: bool
    neighbour_share: float
    neighbour_placement: Literal["packed", "scattered"]
    mtbf: str
    detection: str
    restart: str
    checkpoint_blocking: str
    interval: str
    what_if: bool
    perfetto: str
    chrome: str
    chakra: str
    timeline: bool


class InferFields(ServingFields, total=False):
    """What `infer` is asked by besides.

    files: a run file of serving; flags override its fields
    model: built-in name (headway list models), config.json or .toml
    cluster: built-in name (headway list clusters) or .toml
    gpus: accelerators; default: tp x pp x cp x dp
    rate: requests a second to all copies, at random moments
    ttft: what a good answer's first token keeps to: the share that does is told
    tpot: the same of each token after it
    goodput: the highest rate of which so many keep to ttft and tpot, as 0.9; of the best that
        so many do
    input_spread: of prompts about input-len: uniform:0.8 (evenly from this share up),
        normal:0.3, log-normal:1.2 (deviation over the mean)
    output_spread: the same of answers
    count: requests placed in time; default: 10 of a client, 2,000 others
    prefix_hit: of a prompt that the cache holds already; default: 0
    tp: tensor-parallel degree; default: 1
    pp: pipeline-parallel degree; default: 1
    ep: ranks over which experts are spread, of tp x dp; default: 1
    dp: copies, of attention where experts are shared; default: 1
    cp: ranks that share each prompt, and then its cache; default: 1
    prefill: on accelerators of its own: tp=4,copies=2, of tp, pp, ep, dp, cp, copies, step-
        tokens
    decode: the same; concurrency and rate are then of all copies together
    stream: the cache moves layer by layer while prefill makes it
    imbalance: of experts: the i-th busiest is chosen as i to minus it; default: 0.6, as
        measured; 0: all alike
    redundant_experts: copies of the busiest, which even out ranks
    exchange: how tokens travel to experts and back: collective, or kernels of its own (DeepEP):
        collective, kernels; default: collective
    two_batches: a pass in two halves, of which one computes while the other's tokens are on
        their way to experts (two-batch overlap)
    step_sequences: of a copy at a time at most; default: the engine's
    prompts: in steps of their own, or beside what is decoded: first, beside; default: the
        engine's
    admit: requests with room for the whole answer, or for the prompt: whole, prompt; default:
        the engine's
    block: tokens of a block of the cache; default: the engine's
    eager: no graph replays decode passes: the host launches their kernels one by one
    guesses: tokens that are guessed, and then checked in one pass
    acceptance: of guesses that are right where all before them are
    draft: model that guesses; default: the model's own prediction layers
    best: the best ways on --gpus: of users' speed against accelerators'
    formats: with best: any, or weights and after a slash their cache, as bf16,fp8/fp8: what the
        best are chosen among; default: weights and cache
    disaggregate: with best: of prefill and decode apart, their ratio searched, too
    curve: what ever more load gets, up to capacity: concurrency, rate, batch
    ops: each kernel and call of both passes, and what binds it
    requests: CSV of input_len, output_len and, where it has them, arrival_s
    arrivals: CSV of moments to all copies: arrival_s, rising
    plot: draw the curve, or the front of the best, to this folder
    """

    files: Union[Path, Sequence[Path]]
    model: Described
    cluster: Described
    gpus: int
    rate: float
    ttft: str
    tpot: str
    goodput: float
    input_spread: str
    output_spread: str
    count: int
    prefix_hit: float
    tp: int
    pp: int
    ep: int
    dp: int
    cp: int
    prefill: str
    decode: str
    stream: bool
    imbalance: float
    redundant_experts: int
    exchange: Literal["collective", "kernels"]
    two_batches: bool
    step_sequences: int
    prompts: Literal["first", "beside"]
    admit: Literal["whole", "prompt"]
    block: int
    eager: bool
    guesses: int
    acceptance: float
    draft: Union[str, Mapping[str, Any]]
    best: bool
    formats: str
    disaggregate: bool
    curve: Literal["concurrency", "rate", "batch"]
    ops: bool
    requests: str
    arrivals: str
    plot: str


class DesignFields(RunFields, ServingFields, total=False):
    """What `design` is asked by besides.

    files: a run file, which flags override; more axes
    vary: repeatable; memory, units, package, bandwidth, capacity, memory-energy, link, link-
        bandwidth, link-latency, link-energy, domain, network, network-bandwidth, network-
        latency, network-energy, node, area, arithmetic, peak, power; values A,B,C or
        FROM..TO:COUNT
    csv: write the machines to this file
    plot: draw to this folder
    """

    files: Union[Path, Sequence[Path]]
    vary: Union[str, Sequence[str]]
    csv: str
    plot: str


class JobsFields(TypedDict, total=False):
    """What `jobs` is asked by.

    files: the stream; without one PAC-ML's, a job each 1000 s
    stream: the stream in place
    arrivals: jobs come as this table says: arrival_s, and where it has them job and limit_s
    replay: decide the jobs of this table anew
    profile: with replay: one more model, by the name of its file
    as_published: times and rules of PAC-ML's code, quirks and all
    policy: repeatable; none, min, sipmlCAP, max, random, acceptable, cheapest, shortest,
        lookaheadDEPTH, rollout
    seeds: streams that are drawn for each load
    plot: draw to this folder
    """

    files: Union[Path, Sequence[Path]]
    stream: Mapping[str, Any]
    arrivals: str
    replay: str
    profile: str
    as_published: bool
    policy: Union[str, Sequence[str]]
    seeds: int
    plot: str


class Forecast(Predicted):
    """What predict gives. Quantities are in SI units, the unit in their names."""

    __slots__ = ()
    command = "predict"
    if TYPE_CHECKING:
        model: str
        cluster: str
        far_cluster: str
        far_stages: int
        parameters: int
        active_parameters: int
        job: Record
        layout: Record
        step_time_s: float
        interval_step_time_s: Union[Records, None]
        parts_s: Record
        #: times of each class of equal stages for one micro-batch; send_s: one transfer
        pipeline: Record
        tokens_per_s: float
        tokens_per_s_per_gpu: float
        model_flops_per_s_per_gpu: float
        attention_flops: str
        mfu: float
        hfu: float
        memory_bytes: Record
        #: the measured runs that interval_step_time_s is of: of how many the step was timed, how many
        #: of them had this run's framework, its accelerator, and (of_setup) its framework on any
        #: accelerator of its architecture with as many bits in products; and how many doublings of
        #: ranks, parameters and sequence this run lies outside of those of its framework; of stages on
        #: two machines, the fewer runs of both
        interval_from: Union[Record, None]
        interval_memory_bytes: Union[Records, None]
        fits: bool
        energy_j: float
        calls: Records
        #: where asked for: kernels and calls of the rank that sets the pace, and what of their time
        #: compute, memory, network and latency are answerable for; times of a part add up to it
        ops: Records
        notes: Records
        framework: str
        version: str
        files: Records


class Plan(Result):
    """What plan gives. Quantities are in SI units, the unit in their names."""

    __slots__ = ()
    command = "plan"
    _rows = "best"
    _plots = True
    if TYPE_CHECKING:
        framework: str
        version: str
        files: Records
        model: str
        cluster: str
        gpus: int
        job: Record
        objective: str
        headroom: float
        layouts: int
        proven: bool
        best: Records
        binds: Records
        with_endless_memory: Union[Record, None]
        without: Records
        sensitivity: Records
        pareto: Records
        remedies: Records
        notes: Records


class Communication(Result):
    """What comms gives. Quantities are in SI units, the unit in their names."""

    __slots__ = ()
    command = "comms"
    _rows = "calls"
    _plots = True
    if TYPE_CHECKING:
        model: str
        cluster: str
        format: str
        run_ranks: int
        recorded_ranks: int
        steps: float
        steps_by: str
        steps_by_counts: Union[float, None]
        verdict: str
        as_expected: bool
        findings: Records
        expected_s: float
        measured_s: float
        transfer_s: Union[float, None]
        waiting_s: Union[float, None]
        exposed_s: float
        rows: Records
        late_ranks: Records
        recorded_groups: Records
        stages: Records
        omissions: Records
        assumptions: Records
        parameters: int
        job: Record
        layout: Record
        step_time_s: float
        fits: bool
        small_means: str
        mean_rank: Record
        classes: Records
        textbook: Records
        notes: Records
        source: Records
        unread: Records
        ranks: Records
        groups: Records
        calls_by_group: Records
        waiting_by_group: Records
        matched: Records
        unmatched: int
        #: steps that the source marks; 0: none
        marked_steps: int
        #: of a source without marks: what every rank repeats; null: nothing
        repeated_steps: Union[Record, None]
        clock_error_s: Union[float, None]
        ranks_waiting: Union[Records, None]
        overlap: Union[Records, None]
        critical_path: Union[Record, None]
        exchanges: Union[Records, None]
        kernels: Union[Records, None]
        products: Union[Records, None]
        histogram: Union[Record, None]
        #: everything in its place, where it was asked for; seconds rounded to a nanosecond, on the
        #: clock that all ranks share
        timeline: Record
        models: Records
        runs: Records
        correlations: Records
        clusters: Records
        left_out: Records


class Advice(Result):
    """What advise gives."""

    __slots__ = ()
    command = "advise"
    _rows = "changes"


class Scaling(Result):
    """What scale gives. Quantities are in SI units, the unit in their names."""

    __slots__ = ()
    command = "scale"
    _rows = "series"
    _plots = True
    if TYPE_CHECKING:
        runs: Records
        model: str
        cluster: str
        gpus: int
        tokens: float
        global_batch_tokens: float
        steps: float
        step_time_s: float
        mfu: float
        tokens_per_s: float
        fits: bool
        time_s: Record
        interval_time_s: Union[Records, None]
        goodput: float
        interruptions: float
        mean_time_between_interruptions_s: Union[float, None]
        checkpoint: Record
        spare_nodes: int
        gpu_hours: float
        spare_gpu_hours: float
        power_w_per_gpu: float
        energy_j: Record
        co2_kg: float
        price_usd: Union[float, None]
        price_usd_by_provider: Record
        loss_nats_per_token: Union[float, None]
        critical_batch_tokens: Union[float, None]
        token_factor: Union[float, None]
        step_factor: Union[float, None]
        interval_step_time_s: Union[Records, None]
        #: the measured runs that interval_step_time_s is of: of how many the step was timed, how many
        #: of them had this run's framework, its accelerator, and (of_setup) its framework on any
        #: accelerator of its architecture with as many bits in products; and how many doublings of
        #: ranks, parameters and sequence this run lies outside of those of its framework; of stages on
        #: two machines, the fewer runs of both
        interval_from: Union[Record, None]
        by_gpus: Records
        left_out: Records
        assumptions: Records
        notes: Records
        problems: Records
        axis: str
        seq: int
        global_batch: int
        threshold: float
        series: Records
        crossover: Union[Record, None]
        crossover_searched_gpus: Records
        gpus_per_site: int
        target_loss: float
        loss_law: str
        parameters: float
        methods: Records
        #: for each bandwidth the soonest of those whose penalty is known
        first: Records
        pays_below: Records
        #: DiLoCo's best settings for the model by published fits
        local_updates: Records
        laws: Records
        without: Records
        batches: Records
        sparse_samples: float
        sparse_steps: float
        #: shares of dense training
        sparse_work: Union[Record, None]
        targets: Records
        joules_per_flop: float
        joules_per_byte: float
        flop_per_s: float
        slimmed: Records
        solution: Records
        limit: Records
        bias: float
        descent_eigenvalues: Records
        descends: bool
        preconditioned_curvature: float
        own_layouts_time_s: float
        #: null: none runs all phases
        one_layout_time_s: Union[float, None]
        phases: Records


class Limits(Result):
    """What limits gives. Quantities are in SI units, the unit in their names."""

    __slots__ = ()
    command = "limits"
    _rows = "settings"
    _plots = True
    if TYPE_CHECKING:
        title: str
        settings: Records


class Validation(Result):
    """What validate gives. errors of predicted runs by group; docs/validation.md says what each member means Errors of predicted runs by group; docs/validation.md says what each member means."""

    __slots__ = ()
    command = "validate"
    _rows = "groups"
    if TYPE_CHECKING:
        by: str
        groups: Records
        all: Record
        aims: Records
        #: where they are asked for: every row, predicted or with the reason why not
        rows: Records


class Listing(Result):
    """What list gives. names of what is built in; of machines and clusters their numbers, too"""

    __slots__ = ()
    command = "list"
    if TYPE_CHECKING:
        accelerators: Records
        #: of schemas: JSON Schema of each command's requests and answers, as who runs the program may
        #: ask
        commands: Record
        clusters: Records
        #: of clusters: what one of one's own most often has otherwise than its base; a level's
        #: bandwidth is each accelerator's
        cluster_numbers: Records
        fields: Records
        #: fields of a run, as the text of the request says them; an object where it describes what no
        #: name stands for
        given: Record
        #: what of the text was not taken, and why
        notes: Records
        machines: Records
        methods: Records
        #: of methods of training: what may be stated of each, with what stands where nothing is
        method_numbers: Records
        models: Records
        #: of machines: what a setting of the limits study may change
        numbers: Records


class Bench(Result):
    """What bench gives."""

    __slots__ = ()
    command = "bench"


class Calibration(Result):
    """What calibrate gives."""

    __slots__ = ()
    command = "calibrate"


class Simulation(Result):
    """What simulate gives. Quantities are in SI units, the unit in their names."""

    __slots__ = ()
    command = "simulate"
    _rows = "stages"
    if TYPE_CHECKING:
        model: str
        cluster: str
        step_time_s: float
        parts_s: Record
        #: whose parts they are, of the first seed where ranks were drawn: it waits least
        stage: int
        forecast: Record
        #: until the last stage ends, before what all ranks have once a step
        placed_s: float
        critical_path: Record
        #: calls placed by named algorithms; absent: none
        algorithms: Records
        stages: Records
        #: where ranks were placed one by one; step_time_s and parts_s are then means over seeds,
        #: placed_s, critical_path and stages of ranks that are alike
        ranks: Record
        failures: Record
        timeline: Record
        choices: Records
        together_keeping_result: Record
        together: Record
        schedule: str
        pp: int
        vpp: int
        micro_batches: int
        #: from the first start of any rank to the last end
        makespan_s: float
        #: of a rank, from its first start to its last end
        spans_s: Records
        #: of a rank in the makespan
        idle_s: Records
        #: micro-batches, of each chunk they are in, held until the weight gradient
        peak_in_flight: Records
        peak_in_flight_until_input_gradient: Records
        #: F forward, B input gradient, W weight gradient, D both; stage.micro-batch; r: of the copy of
        #: the model that runs the other way; + joins a pair that runs together
        order: Records
        format: str
        #: that the source marks
        steps: int
        #: the source says what waits for what
        of_graph: bool
        #: whose partners are not recorded, or cannot be told
        calls_alone: int
        #: from the first start to the last end
        measured_s: float
        #: run again with the transfers as measured
        own_network_s: float
        network: str
        #: on that network
        simulated_s: float
        #: of one operation in groups that are alike; transfers of each call once, waiting of all its
        #: ranks
        calls: Records
        dp_ranks: Records
        transfer_s: float
        pipelines: Records
        step_s: float
        #: every pass at its mean
        ideal_step_s: float
        slowdown: float
        #: all passes but its own at their mean
        slowdown_without_stage: Records
        #: the same of each rank with its stages, in the order of dp_ranks
        slowdown_without_worker: Records
        #: its own passes at their mean
        slowdown_stage_mended: Records
        slowdown_worker_mended: Records
        end_s: float
        flows: Records
        links: Records
        op: str
        algorithm: str
        topology: str
        bytes: float
        time_s: float
        bytes_sent_per_rank: float
        #: no algorithm takes less
        bound_s: float
        chunks: float
        #: steps alike were placed once
        by_classes: bool
        messages_placed: int


class Serving(Result):
    """What infer gives. Quantities are in SI units, the unit in their names."""

    __slots__ = ()
    command = "infer"
    _rows = "best"
    _plots = True
    if TYPE_CHECKING:
        model: str
        cluster: str
        engine: str
        gpus: int
        weights: str
        cache: str
        #: of a step at most
        step_tokens: int
        input_len: int
        output_len: int
        layout: Record
        #: sequences of each copy that start and end together
        batch: int
        #: clients of each copy
        concurrency: int
        #: requests a second to all copies
        rate: float
        #: of a file
        requests: int
        prefill: Record
        decode: Record
        #: of a prompt's cache, from prefill to decode
        cache_move_s: float
        cache_move_requests_per_s: float
        #: of prefill, moving the cache and decode what answers fewest
        binds: str
        fits: bool
        #: of what fits: requests are answered as fast as they come
        stable: bool
        #: of all copies, at most
        capacity_requests_per_s: float
        #: to the first token, in the mean
        ttft_s: float
        #: of each token after it, in the mean; 0: an answer has no other
        tpot_s: float
        #: of a whole answer, in the mean
        latency_s: float
        throughput_output_tok_s: float
        #: with prompts
        throughput_total_tok_s: float
        tokens_per_s_per_user: float
        tokens_per_s_per_gpu: float
        #: of each copy at a time, at most
        sequences: float
        quantiles: Record
        #: times that a request was put out of the cache, in the mean
        computed_anew: float
        interval: Record
        interval_from: Record
        share_within_limits: float
        #: within the limits, of all copies
        goodput_requests_per_s: float
        #: the highest rate that goodput asks for
        rate_within_limits: float
        closed_form: Record
        #: the guesses of a decode pass
        draft_s: float
        #: of output, all accelerators
        energy_j_per_token: float
        power_w: Record
        #: US dollars, of output
        price_per_million_tokens: float
        #: of it what prompts take
        price_per_million_input_tokens: float
        #: and what makes the output
        price_per_million_output_tokens: float
        #: where asked for
        ops: Record
        parts_s: Record
        #: prefill passes of parts_s that a prompt takes, each with a piece of it; below 1: several
        #: prompts share one
        prompt_passes: float
        memory_bytes: Record
        #: of cache that fit; where all layers keep a state, of sequences as long as these
        kv_tokens: float
        #: where it does not: flags that would make it fit, what makes most of an accelerator first
        would_fit: Records
        #: what stands on no measurement
        notes: Records
        #: ways in closed form that are legal and fit
        tried: int
        #: of them, in time
        placed: int
        #: of weights and cache, where they are searched
        formats: Records
        front: Records
        #: where no way fits: of twice as many accelerators, four times ... the first of which some way
        #: does
        would_fit_gpus: int
        #: what grows; of prefill and decode apart for all copies together
        curve: Any
        points: Records


class Design(Result):
    """What design gives. what which part of a machine brings; quantities are in SI units, the unit in their names"""

    __slots__ = ()
    command = "design"
    _rows = "points"
    _plots = True
    if TYPE_CHECKING:
        workload: str
        cluster: str
        gpus: int
        base: Record
        #: of what is served, where the base does not fit: flags that would make it fit, what makes
        #: most of an accelerator first
        would_fit: Records
        #: of a step whose base does not fit: the change of its layout that would
        notes: Records
        #: every combination, the last axis fastest
        points: Records
        #: where along an axis most of a time becomes bound by something else
        moves: Records


class Jobs(Result):
    """What jobs gives. a stream of jobs on one machine: what policies block; quantities are in SI units, the unit in their names"""

    __slots__ = ()
    command = "jobs"
    _rows = "policies"
    _plots = True
    if TYPE_CHECKING:
        machine: str
        servers: int
        #: streams that were drawn for each load
        seeds: int
        as_published: bool
        #: share of the jobs whose limit no degree holds, even on the empty machine
        hopeless: float
        #: a row for each policy at each load
        policies: Records
        #: how much less a policy blocks than max and acceptable on the same streams
        gains: Records


def predict(*operands: Operand, progress: Progress = None, threads: int = 0,
            **fields: Unpack[PredictFields]) -> Forecast:
    """Time, memory, calls and energy of one training step.

    operands: a run file, or a configuration: Megatron-LM script, torchtitan .toml, DeepSpeed .json,
    nanotron .yaml; flags override its fields.

    Arguments are the fields of PredictFields and RunFields, the flags of `headway predict`.
    """
    return ask(Forecast, fields, progress, threads, operands, "files", None,
               ())


def plan(*operands: Operand, progress: Progress = None, threads: int = 0,
         **fields: Unpack[PlanFields]) -> Plan:
    """The best layout of every legal one, and why it is.

    operands: a run file; flags override its fields.

    Arguments are the fields of PlanFields and RunFields, the flags of `headway plan`.
    """
    return ask(Plan, fields, progress, threads, operands, "files", None,
               ())


def comms(*operands: Operand, progress: Progress = None, threads: int = 0,
          **fields: Unpack[CommsFields]) -> Communication:
    """The calls of a step: expected, measured from traces, or both compared.

    operands: a run file (.toml), or traces of one run, of any known format.

    Arguments are the fields of CommsFields and RunFields, the flags of `headway comms`.
    """
    return ask(Communication, fields, progress, threads, operands, "files", None,
               ())


def advise(*operands: Operand, progress: Progress = None, threads: int = 0,
           **fields: Unpack[AdviseFields]) -> Advice:
    """What would make a run faster, by its own trace.

    operands: a run file; flags override its fields.

    Arguments are the fields of AdviseFields and RunFields, the flags of `headway advise`.
    """
    return ask(Advice, fields, progress, threads, operands, "files", None,
               ())


def scale(*operands: Operand, progress: Progress = None, threads: int = 0,
          **fields: Unpack[ScaleFields]) -> Scaling:
    """How far training scales: whole runs, and what they cost.

    operands: a run file; flags override its fields.

    The first operand may be weak, strong, model, context, hardware, network, layout, run,
    published, convergence, batch, slimming, subnetworks.

    Arguments are the fields of ScaleFields and RunFields, the flags of `headway scale`.
    """
    return ask(Scaling, fields, progress, threads, operands, "files", "sweep",
               ('weak', 'strong', 'model', 'context', 'hardware', 'network', 'layout', 'run', 'published', 'convergence', 'batch', 'slimming', 'subnetworks'))


def limits(*operands: Operand, progress: Progress = None, threads: int = 0,
           **fields: Unpack[LimitsFields]) -> Limits:
    """How large a training run can become before moving data stops it.

    operands: settings of your own.

    Arguments are the fields of LimitsFields, the flags of `headway limits`.
    """
    return ask(Limits, fields, progress, threads, operands, "files", None,
               ())


def validate(progress: Progress = None, threads: int = 0,
             **fields: Unpack[ValidateFields]) -> Validation:
    """Predict measured runs, kernels or collectives and report the error.

    Arguments are the fields of ValidateFields, the flags of `headway validate`.
    """
    return ask(Validation, fields, progress, threads, (), None, None,
               ())


def list(*operands: Operand, progress: Progress = None, threads: int = 0,
         **fields: Unpack[ListFields]) -> Listing:
    """Built-in models, clusters, accelerators, machines; the fields of a run.

    operands: what is listed: models, clusters, accelerators, machines, methods, fields, schemas.

    Arguments are the fields of ListFields, the flags of `headway list`.
    """
    return ask(Listing, fields, progress, threads, operands, "what", None,
               ())


def bench(*operands: Operand, progress: Progress = None, threads: int = 0,
          **fields: Unpack[BenchFields]) -> Bench:
    """The digest of fixed cases, and errors of the cost models.

    operands: what is measured: kernels, collectives, limits, plan.

    Arguments are the fields of BenchFields, the flags of `headway bench`.
    """
    return ask(Bench, fields, progress, threads, operands, "what", None,
               ())


def calibrate(*operands: Operand, progress: Progress = None, threads: int = 0,
              **fields: Unpack[CalibrateFields]) -> Calibration:
    """Fit the cost models to measurements.

    operands: constants to fit, steps where nothing is asked for: steps, intervals, own, kernels,
    collectives, serving.

    Arguments are the fields of CalibrateFields, the flags of `headway calibrate`.
    """
    return ask(Calibration, fields, progress, threads, operands, "what", None,
               ())


def simulate(*operands: Operand, progress: Progress = None, threads: int = 0,
             **fields: Unpack[SimulateFields]) -> Simulation:
    """A step placed in time, kernel by kernel and call by call; pipelines, measured passes.

    operands: a run file; flags override its fields.

    The first operand may be codesign, pipeline, replay, network, collective, recording.

    Arguments are the fields of SimulateFields and RunFields, the flags of `headway simulate`.
    """
    return ask(Simulation, fields, progress, threads, operands, "files", "simulate",
               ('codesign', 'pipeline', 'replay', 'network', 'collective', 'recording'))


def infer(*operands: Operand, progress: Progress = None, threads: int = 0,
          **fields: Unpack[InferFields]) -> Serving:
    """Serving a model: time to the first token and of each after it, tokens/s.

    operands: a run file of serving; flags override its fields.

    Arguments are the fields of InferFields and ServingFields, the flags of `headway infer`.
    """
    return ask(Serving, fields, progress, threads, operands, "files", None,
               ())


def design(*operands: Operand, progress: Progress = None, threads: int = 0,
           **fields: Unpack[DesignFields]) -> Design:
    """Technology: what which part of the machine brings, in training or serving.

    operands: a run file, which flags override; more axes.

    Arguments are the fields of DesignFields and RunFields and ServingFields, the flags of `headway design`.
    """
    return ask(Design, fields, progress, threads, operands, "files", None,
               ())


def jobs(*operands: Operand, progress: Progress = None, threads: int = 0,
         **fields: Unpack[JobsFields]) -> Jobs:
    """A stream of jobs on one machine: what policies block.

    operands: the stream; without one PAC-ML's, a job each 1000 s.

    Arguments are the fields of JobsFields, the flags of `headway jobs`.
    """
    return ask(Jobs, fields, progress, threads, operands, "files", None,
               ())


_RESULTS = {result.command: result for result in (
    Forecast, Plan, Communication, Advice, Scaling, Limits, Validation, Listing, Bench,
    Calibration, Simulation, Serving, Design, Jobs)}


def restored(command: str, text: str, request: str, exit_code: int) -> Result:
    """A result that was pickled."""
    return _RESULTS[command](text, request, exit_code)
