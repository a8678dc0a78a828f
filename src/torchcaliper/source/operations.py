"""What is known of PyTorch by name: parameters of operations and layers, which methods belong to tensors, modes.

Names and orders of parameters are those of PyTorch 2.13's documentation.
"""

from __future__ import annotations

from functools import lru_cache

from torchcaliper.source.values import External

AUTOCAST = (
    "torch.autocast",
    "torch.amp.autocast",
    "torch.cuda.amp.autocast",
    "torch.cpu.amp.autocast",
    "torch.amp.autocast_mode.autocast",
)
NO_GRAD = ("torch.no_grad", "torch.inference_mode", "torch.autograd.no_grad", "torch.autograd.inference_mode")
MODULE_BASES = (
    "torch.nn.Module",
    "torch.nn.Sequential",
    "torch.nn.ModuleList",
    "torch.nn.ModuleDict",
    "lightning.LightningModule",
    "lightning.pytorch.LightningModule",
    "pytorch_lightning.LightningModule",
    "transformers.PreTrainedModel",
)
#: outside modules that are pieces of another one: `torch.nn.modules.loss.X` is `torch.nn.X`
PIECES = {
    "torch.nn.modules": "torch.nn",
    "torch.utils.data.dataset": "torch.utils.data",
    "torch.utils.data.dataloader": "torch.utils.data",
    "torch.utils.data.sampler": "torch.utils.data",
    "torch.utils.data.distributed": "torch.utils.data.distributed",
    "torch.cuda.amp.grad_scaler": "torch.cuda.amp",
}

_NORM = ("input", "normalized_shape", "weight", "bias", "eps")
_LOSS = ("input", "target", "size_average", "reduce", "reduction")
#: operation -> its parameters in order. Methods of tensors have the first one as their receiver.
PARAMETERS: dict[str, tuple[str, ...]] = {
    "softmax": ("input", "dim"),
    "log_softmax": ("input", "dim"),
    "softmin": ("input", "dim"),
    "gumbel_softmax": ("input", "tau", "hard", "eps", "dim"),
    "sigmoid": ("input",),
    "logsigmoid": ("input",),
    "tanh": ("input",),
    "relu": ("input", "inplace"),
    "dropout": ("input", "p", "training", "inplace"),
    "dropout1d": ("input", "p", "training", "inplace"),
    "dropout2d": ("input", "p", "training", "inplace"),
    "dropout3d": ("input", "p", "training", "inplace"),
    "alpha_dropout": ("input", "p", "training", "inplace"),
    "feature_alpha_dropout": ("input", "p", "training", "inplace"),
    "cross_entropy": (
        "input",
        "target",
        "weight",
        "size_average",
        "ignore_index",
        "reduce",
        "reduction",
        "label_smoothing",
    ),
    "nll_loss": ("input", "target", "weight", "size_average", "ignore_index", "reduce", "reduction"),
    "binary_cross_entropy": ("input", "target", "weight", "size_average", "reduce", "reduction"),
    "binary_cross_entropy_with_logits": (
        "input",
        "target",
        "weight",
        "size_average",
        "reduce",
        "reduction",
        "pos_weight",
    ),
    "kl_div": ("input", "target", "size_average", "reduce", "reduction", "log_target"),
    "mse_loss": _LOSS,
    "l1_loss": _LOSS,
    "smooth_l1_loss": (*_LOSS, "beta"),
    "huber_loss": ("input", "target", "reduction", "delta"),
    "soft_margin_loss": _LOSS,
    "multilabel_soft_margin_loss": ("input", "target", "weight", "size_average", "reduce", "reduction"),
    "poisson_nll_loss": ("input", "target", "log_input", "full", "size_average", "eps", "reduce", "reduction"),
    "ctc_loss": (
        "log_probs",
        "targets",
        "input_lengths",
        "target_lengths",
        "blank",
        "reduction",
        "zero_infinity",
    ),
    "scaled_dot_product_attention": ("query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale"),
    "layer_norm": _NORM,
    "batch_norm": ("input", "running_mean", "running_var", "weight", "bias", "training", "momentum", "eps"),
    "normalize": ("input", "p", "dim", "eps"),
    "linear": ("input", "weight", "bias"),
    "embedding": ("input", "weight", "padding_idx"),
    "view": ("input",),
    "reshape": ("input",),
    "flatten": ("input", "start_dim", "end_dim"),
    "squeeze": ("input", "dim"),
    "unsqueeze": ("input", "dim"),
    "transpose": ("input", "dim0", "dim1"),
    "permute": ("input",),
    "argmax": ("input", "dim", "keepdim"),
    "argmin": ("input", "dim", "keepdim"),
    "max": ("input", "dim", "keepdim"),
    "min": ("input", "dim", "keepdim"),
    "mean": ("input", "dim", "keepdim"),
    "sum": ("input", "dim", "keepdim"),
    "std": ("input", "dim"),
    "var": ("input", "dim"),
    "log": ("input",),
    "exp": ("input",),
    "sqrt": ("input",),
    "cat": ("tensors", "dim"),
    "stack": ("tensors", "dim"),
    "matmul": ("input", "other"),
    "bmm": ("input", "mat2"),
    "einsum": ("equation",),
    "masked_fill": ("input", "mask", "value"),
    "where": ("condition", "input", "other"),
    "clamp": ("input", "min", "max"),
    "to": ("input",),
    "one_hot": ("input", "num_classes"),
    "clip_grad_norm_": ("parameters", "max_norm", "norm_type", "error_if_nonfinite"),
    "clip_grad_value_": ("parameters", "clip_value"),
    "checkpoint": ("function",),
    "save": ("obj", "f"),
    "load": ("f", "map_location", "pickle_module", "weights_only"),
    "trace": ("func", "example_inputs"),
    "export": ("mod", "args", "kwargs"),
    "compile": ("model",),
    "deepcopy": ("x",),
    "cosine_similarity": ("x1", "x2", "dim", "eps"),
    "pad_sequence": ("sequences", "batch_first", "padding_value"),
    "pack_padded_sequence": ("input", "lengths", "batch_first", "enforce_sorted"),
    "random_split": ("dataset", "lengths", "generator"),
    "chunk": ("input", "chunks", "dim"),
    "split": ("tensor", "split_size_or_sections", "dim"),
}

#: layers that do what a function does: class -> (operation, parameters of the constructor)
LAYERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "Softmax": ("softmax", ("dim",)),
    "Softmax2d": ("softmax", ()),
    "LogSoftmax": ("log_softmax", ("dim",)),
    "Softmin": ("softmin", ("dim",)),
    "Sigmoid": ("sigmoid", ()),
    "LogSigmoid": ("logsigmoid", ()),
    "Tanh": ("tanh", ()),
    "ReLU": ("relu", ("inplace",)),
    "Dropout": ("dropout", ("p", "inplace")),
    "Dropout1d": ("dropout", ("p", "inplace")),
    "Dropout2d": ("dropout", ("p", "inplace")),
    "Dropout3d": ("dropout", ("p", "inplace")),
    "Flatten": ("flatten", ("start_dim", "end_dim")),
    "Unflatten": ("unflatten", ("dim", "unflattened_size")),
    "Identity": ("identity", ()),
    "Linear": ("linear", ("in_features", "out_features", "bias")),
    "LazyLinear": ("linear", ("out_features", "bias")),
    "Bilinear": ("bilinear", ("in1_features", "in2_features", "out_features", "bias")),
    "Embedding": ("embedding", ("num_embeddings", "embedding_dim", "padding_idx")),
    "EmbeddingBag": ("embedding_bag", ("num_embeddings", "embedding_dim")),
    **{
        f"Conv{n}d": (
            f"conv{n}d",
            ("in_channels", "out_channels", "kernel_size", "stride", "padding", "dilation", "groups", "bias"),
        )
        for n in (1, 2, 3)
    },
    **{
        f"ConvTranspose{n}d": (
            f"conv_transpose{n}d",
            ("in_channels", "out_channels", "kernel_size", "stride", "padding", "output_padding", "groups", "bias"),
        )
        for n in (1, 2, 3)
    },
    **{
        f"BatchNorm{n}d": ("batch_norm", ("num_features", "eps", "momentum", "affine", "track_running_stats"))
        for n in (1, 2, 3)
    },
    "LayerNorm": ("layer_norm", ("normalized_shape", "eps", "elementwise_affine", "bias")),
    "GroupNorm": ("group_norm", ("num_groups", "num_channels")),
    **{
        name: (
            name.lower(),
            ("input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional"),
        )
        for name in ("LSTM", "GRU")
    },
    "RNN": (
        "rnn",
        ("input_size", "hidden_size", "num_layers", "nonlinearity", "bias", "batch_first", "dropout", "bidirectional"),
    ),
    "MultiheadAttention": (
        "multi_head_attention",
        (
            "embed_dim",
            "num_heads",
            "dropout",
            "bias",
            "add_bias_kv",
            "add_zero_attn",
            "kdim",
            "vdim",
            "batch_first",
        ),
    ),
    "CrossEntropyLoss": (
        "cross_entropy",
        ("weight", "size_average", "ignore_index", "reduce", "reduction", "label_smoothing"),
    ),
    "NLLLoss": ("nll_loss", ("weight", "size_average", "ignore_index", "reduce", "reduction")),
    "BCELoss": ("binary_cross_entropy", ("weight", "size_average", "reduce", "reduction")),
    "BCEWithLogitsLoss": (
        "binary_cross_entropy_with_logits",
        ("weight", "size_average", "reduce", "reduction", "pos_weight"),
    ),
    "KLDivLoss": ("kl_div", ("size_average", "reduce", "reduction", "log_target")),
    "MSELoss": ("mse_loss", ("size_average", "reduce", "reduction")),
    "L1Loss": ("l1_loss", ("size_average", "reduce", "reduction")),
    "SmoothL1Loss": ("smooth_l1_loss", ("size_average", "reduce", "reduction", "beta")),
    "HuberLoss": ("huber_loss", ("reduction", "delta")),
    "CTCLoss": ("ctc_loss", ("blank", "reduction", "zero_infinity")),
    "PoissonNLLLoss": (
        "poisson_nll_loss",
        ("log_input", "full", "size_average", "eps", "reduce", "reduction"),
    ),
}
#: parameters of a layer's forward, where they are not simply the operation's
FORWARD: dict[str, tuple[str, ...]] = {
    "MultiheadAttention": ("query", "key", "value", "key_padding_mask", "need_weights", "attn_mask"),
}
LOSSES = frozenset(op for op in PARAMETERS if op.endswith(("_loss", "cross_entropy", "_with_logits", "kl_div")))
#: losses that average over elements of two tensors of one shape
PAIRWISE_LOSSES = frozenset({"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"})
#: operations whose result has the values of the input at other places, or some of them: kinds pass through
RESHAPES = frozenset(
    (
        "view reshape flatten unflatten squeeze unsqueeze transpose permute contiguous clone getitem to float double "
        "half bfloat16 cpu cuda expand expand_as view_as reshape_as t T mT swapaxes swapdims movedim moveaxis narrow "
        "index_select gather chunk split unbind select cat stack concat identity repeat requires_grad_ type type_as "
        "item_of flip roll detach masked_select take cast rearrange"
    ).split()
)
#: what ends a graph: the result does not lead back to parameters
CUTS = frozenset(
    "detach detach_ item tolist numpy data argmax argmin argsort long int bool round floor ceil sign".split()
)
#: names of methods that make an unknown value a tensor
TENSOR_METHODS = frozenset(
    (
        "softmax log_softmax sigmoid tanh relu view reshape flatten squeeze unsqueeze transpose permute contiguous "
        "clone detach detach_ item numpy tolist cpu cuda float double half long int bool bfloat16 size dim numel "
        "argmax "
        "argmin max min mean sum std var log exp sqrt abs pow clamp clamp_ masked_fill masked_fill_ matmul mm bmm t "
        "expand expand_as repeat gather scatter scatter_ index_select backward requires_grad_ add add_ mul mul_ sub "
        "sub_ div div_ zero_ fill_ copy_ normal_ uniform_ chunk split unbind norm eq ne gt lt ge le any all cumsum "
        "logsumexp topk sort argsort round floor ceil sign rsqrt log1p expm1 type_as view_as retain_grad register_hook "
        "byte swapaxes addmm baddbmm tril triu narrow prod nonzero erf lerp lerp_ unfold softplus logsigmoid new_zeros "
        "new_ones new_full new_tensor data_ptr is_contiguous storage element_size bernoulli bernoulli_ multinomial "
        "roll cos sin tan flip diag diagonal log_ sqrt_ exp_ tanh_ sigmoid_ relu_ logit nan_to_num nanmean amax amin"
    ).split()
)
#: constructors of tensors that no graph leads to
FRESH = frozenset(
    (
        "tensor as_tensor from_numpy zeros ones empty full rand randn randint randperm arange linspace eye zeros_like "
        "ones_like rand_like randn_like full_like empty_like Tensor FloatTensor LongTensor new_tensor new_zeros "
        "new_ones logspace normal bernoulli multinomial"
    ).split()
)


def canonical(name: str) -> str:
    """One name for what torch offers under several."""
    if not name.startswith("torch."):
        return name
    if name.startswith("torch.nn.modules."):
        return "torch.nn." + name.rpartition(".")[2]
    for piece, whole in PIECES.items():
        if name.startswith(piece + "."):
            return whole + name[len(piece) :]
    if name.startswith("torch.optim.") and name.count(".") == 3 and not name.startswith("torch.optim.lr_scheduler"):
        # torch.optim.adam.Adam
        last = name.rpartition(".")[2]
        return f"torch.optim.{last}" if last[:1].isupper() else name
    return name


@lru_cache(maxsize=4096)
def outside(name: str) -> External:
    """The thing from outside of that name: one value, wherever it is named."""
    return External(canonical(name))


def is_class_name(name: str) -> bool:
    """Whether the last part of a full name is written as a class."""
    last = name.rpartition(".")[2]
    # torch.optim.SGD and torch.nn.GRU are classes; elsewhere capitals are for constants.
    return last[:1].isupper() and (not last.isupper() or name.startswith(("torch.nn.", "torch.optim.")))


def is_layer(name: str) -> bool:
    return name.startswith("torch.nn.") and name.count(".") == 2 and is_class_name(name)


def is_optimizer(name: str) -> bool:
    return name.startswith("torch.optim.") and name.count(".") == 2 and is_class_name(name)


def is_scheduler(name: str) -> bool:
    return name.startswith("torch.optim.lr_scheduler.") and is_class_name(name)


def is_scaler(name: str) -> bool:
    return name in ("torch.amp.GradScaler", "torch.cuda.amp.GradScaler", "torch.cpu.amp.GradScaler")


def is_loss(name: str) -> bool:
    return is_layer(name) and name.endswith("Loss")
