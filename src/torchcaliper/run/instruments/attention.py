"""Attention weights at padded keys, read where they are computed.

Padding is known by the token ids: by a padding index of the embedding, a mask or lengths given beside the ids,
`pad_sequence`, a comparison of the ids with one value, or one id that stands only at the ends of rows of different
lengths, unless the rows are sorted, when the least or largest value stands there by itself.
"""

from __future__ import annotations

import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional as F

from torchcaliper.run.events import Forward, Operation, Step
from torchcaliper.run.instrument import Instrument
from torchcaliper.run.record_dependence import PaddingRead
from torchcaliper.run.trace import tensors
from torchcaliper.run.transforms import is_plain

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

#: attention operators looked at in one look; values of one that are read
_LOOKED, _VALUES = 64, 1 << 24
#: forwards without gradients of a network that are looked at
_EVALUATIONS = 8
#: attention that padding gets by rounding
_NONE = 1e-6


def _ids_and_masks(event: Forward) -> tuple[torch.Tensor | None, list[torch.Tensor]]:
    """The token ids that a network is given, and the masks beside them (True where a token is real)."""
    given = [t for t in tensors((*event.args, event.kwargs), 3) if is_plain(t) and t.dim() == 2][:8]
    whole = [t for t in given if t.dtype in (torch.int64, torch.int32)]
    masks, others = [], []
    for tensor in given:
        if tensor.dtype is torch.bool:
            masks.append(tensor)
        elif not tensor.is_complex() and tensor.numel() and bool(((tensor == 0) | (tensor == 1)).all()):
            masks.append(tensor == 1)
        elif any(tensor is w for w in whole):
            others.append(tensor)
    ids = others[0] if others and others[0].shape[0] > 1 and others[0].shape[1] > 2 else None
    if ids is None:
        return None, []
    return ids, [mask for mask in masks if mask.shape == ids.shape]


def _is_sorted(ids: torch.Tensor) -> bool:
    """Whether nearly all rows only rise or only fall."""
    rises = ids.diff(dim=1)
    return bool(((rises >= 0).all(1) | (rises <= 0).all(1)).float().mean() > 0.5)


class Attention(Instrument):
    """Keeps `run.dependence.padding_reads`."""

    name = "attention"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._stepping = False
        self._root: int | None = None
        self._given: list[weakref.ref[torch.Tensor]] = []
        self._pads: list[torch.Tensor] = []  # (rows, steps) bool, True where padded
        self._lengths: set[tuple[int, int]] = set()  # of everything that was embedded
        self._looked = 0
        #: (shape, value) of what pad_sequence made, and (None, value) where the program compares ids with a value
        self._filled: deque[tuple[tuple[int, ...] | None, float]] = deque(maxlen=8)
        session.patches.around(torch.nn.utils.rnn, "pad_sequence", lambda *call: call, self._was_filled)
        self._known: dict[tuple[int | None, str], tuple[PaddingRead, int]] = {}
        self._fillers: dict[int, int] = {}  # root -> the id under its padding masks in training
        self._unmasked: dict[int, int] = {}  # root -> forwards without gradients that were looked at

    def _was_filled(self, call: Any, result: Any, error: BaseException | None) -> None:
        args, kwargs = call
        if error is None and isinstance(result, torch.Tensor):
            value = args[2] if len(args) > 2 else kwargs.get("padding_value", 0.0)
            self._filled.append((tuple(result.shape), value))

    def _compared(self, event: Operation) -> None:
        """`ids == PAD` or `ids != PAD`: looked for in the ids of this step, and in those of later ones."""
        ids, value = (event.args[0], event.args[1]) if len(event.args) > 1 else (None, None)
        if not isinstance(ids, torch.Tensor) or type(value) is not int or ids.dim() != 2 or ids.is_floating_point():
            return
        if (None, value) not in self._filled:
            self._filled.append((None, value))

    def on_step_begin(self, event: Step) -> None:
        self._stepping = True
        self._pads.clear()
        self._lengths.clear()
        self._given.clear()
        self._looked = 0

    def on_step_end(self, event: Step) -> None:
        self._stepping = False

    def on_forward_begin(self, event: Forward) -> None:
        if self.session.looking and event.grad:
            self._root = self.session.objects.root(event.root)
            self._given = [weakref.ref(t) for t in tensors((*event.args, event.kwargs), 3)][:32]
            ids, masks = _ids_and_masks(event)
            if ids is not None and self._root not in self._fillers:
                for mask in masks:
                    filled = ids[~mask] if mask.any() else ids[:0]
                    if filled.numel() and bool((filled == filled[0]).all()):
                        self._fillers[self._root] = int(filled[0])
        elif not event.grad and self._fillers:
            self._evaluation(event)

    def _evaluation(self, event: Forward) -> None:
        """Padding in front, as for generation, and no mask, in a network that is trained with one."""
        root = self.session.objects.known_root(event.root)
        filler = self._fillers.get(root) if root is not None else None
        if root is None or filler is None or self._unmasked.get(root, 0) >= _EVALUATIONS:
            return
        self._unmasked[root] = self._unmasked.get(root, 0) + 1
        ids, masks = _ids_and_masks(event)
        if ids is None or any(not bool(mask.all()) for mask in masks):
            return
        padded = (ids == filler).long().cumprod(1).bool()
        lengths = padded.sum(1)
        if int(lengths.min()) == 0 and 1 < int(lengths.max()) < ids.shape[1]:
            key = (event.site, "left-out")
            if key not in self._known:
                record = PaddingRead(
                    "left-out",
                    root,
                    event.site,
                    int((lengths > 0).sum()),
                    0.0,
                    bool(masks),
                    first_step=self.session.step,
                )
                self._known[key] = (record, self.session.step)
                self.run.dependence.padding_reads.append(record)

    def on_operation(self, event: Operation) -> None:
        if self._stepping or not event.grad or (isinstance(event.result, torch.Tensor) and not is_plain(event.result)):
            return
        if event.name in ("eq", "ne", "__eq__", "__ne__"):
            self._compared(event)
        elif event.name == "embedding":
            self._embedded(event)
        elif event.name == "__getitem__":
            if self._looked:
                self._last_read(event)
        elif self._pads and self._looked < _LOOKED:
            if event.name == "softmax":
                self._weights(event)
            elif event.name == "scaled_dot_product_attention":
                self._fused(event)

    def _last_read(self, event: Operation) -> None:
        """The last column taken as the last step, where it is padding."""
        if len(event.args) < 2 or not isinstance(event.args[0], torch.Tensor) or not event.args[0].requires_grad:
            return
        source, index = event.args[0], event.args[1]
        if not isinstance(index, tuple) or len(index) < 2 or index[0] != slice(None) or type(index[1]) is not int:
            return
        if index[1] != -1 or source.dim() not in (2, 3):
            return
        keys = self._keys(source.shape[0], source.shape[1])
        if keys is None or keys.shape[0] != source.shape[0]:
            return
        padded = float(keys[:, -1].float().mean())
        if padded > 0.0:
            self._note(event, "last", keys, padded, False)

    # padding

    def _embedded(self, event: Operation) -> None:
        if len(event.args) < 2 or not isinstance(event.args[1], torch.Tensor) or event.args[1].dim() != 2:
            return
        ids = event.args[1]
        if ids.shape[0] < 2 or ids.shape[1] < 3:
            return
        index = event.args[2] if len(event.args) > 2 else event.kwargs.get("padding_idx", -1)
        pads = self._padding(ids, index if isinstance(index, int) else -1)
        shape = (ids.shape[0], ids.shape[1])
        if pads is not None and not any(p.shape == pads.shape and bool((p == pads).all()) for p in self._pads):
            self._pads.append(pads)
            return
        if pads is None:
            self._lengths.add(shape)

    def _padding(self, ids: torch.Tensor, index: int) -> torch.Tensor | None:
        masks = []  # (mask, whether the program itself says that this is padding)
        if index >= 0:
            masks.append((ids == index, True))
        for reference in self._given:
            given = reference()
            if given is not None and given is not ids and given.shape == ids.shape and not given.requires_grad:
                flag = given if given.dtype is torch.bool else None
                if flag is None and not given.is_complex() and bool(((given == 0) | (given == 1)).all()):
                    flag = given == 1
                if flag is not None and bool(flag.any()) and not bool(flag.all()):
                    masks += [(flag, True), (~flag, True)]
        masks += [(ids == value, True) for shape, value in self._filled if shape in (None, tuple(ids.shape))]
        for reference in self._given:
            lengths = reference()
            if lengths is not None and lengths.shape == ids.shape[:1] and not lengths.is_floating_point():
                steps = torch.arange(ids.shape[1], device=ids.device)
                ends = lengths.detach().to(ids.device)[:, None]
                masks += [(steps >= ends, True), (steps < ids.shape[1] - ends, True)]
        if not _is_sorted(ids):
            last = ids[:, -1]
            masks += [(ids == last[int(i)], False) for i in {0, len(last) // 2, len(last) - 1}]
        for mask, said in masks:
            if self._is_padding(ids, mask, 1 if said else 2):
                return mask.clone()
        return None

    @staticmethod
    def _is_padding(ids: torch.Tensor, mask: torch.Tensor, longest: int) -> bool:
        """Whether a mask covers ends of rows, of different lengths, all filled with one id that stands nowhere else."""
        lengths = mask.sum(1)
        if int(lengths.max()) == 0 or int(lengths.min()) == ids.shape[1] or len(set(lengths.tolist())) < 2:
            return False
        filled = ids[mask]
        if not bool((filled == filled[0]).all()) or (longest > 1 and bool((ids[~mask] == filled[0]).any())):
            return False
        steps = torch.arange(ids.shape[1], device=ids.device)
        at_end = steps >= (ids.shape[1] - lengths)[:, None]
        at_start = steps < lengths[:, None]
        return int(lengths.max()) >= longest and (bool((mask == at_end).all()) or bool((mask == at_start).all()))

    # attention

    def _keys(self, rows: int, steps: int) -> torch.Tensor | None:
        """The padding of keys of that number; None when more than one would fit."""
        found = [p for p in self._pads if p.shape[1] == steps and rows % p.shape[0] == 0]
        if len(found) != 1 or any(length == steps for _, length in self._lengths):
            return None
        return found[0]

    def _weights(self, event: Operation) -> None:
        weights, scores = event.result, event.args[0] if event.args else None
        dim = event.kwargs.get("dim", event.args[1] if len(event.args) > 1 else None)
        if not isinstance(weights, torch.Tensor) or not isinstance(scores, torch.Tensor) or weights.dim() not in (3, 4):
            return
        if dim not in (-1, weights.dim() - 1) or not weights.requires_grad or weights.numel() > _VALUES:
            return
        keys = self._keys(weights.shape[0], weights.shape[-1])
        if keys is None:
            return
        self._looked += 1
        with torch.no_grad():
            if weights.dim() == 3 and weights.shape[0] != keys.shape[0]:
                weights = weights.view(keys.shape[0], -1, *weights.shape[1:])  # heads beside samples, as torch has it
                scores = scores.detach().reshape(weights.shape)
            elif weights.shape[0] != keys.shape[0]:
                return
            least = torch.finfo(scores.dtype).min if scores.is_floating_point() else 0.0
            hidden = (scores.detach() <= max(least / 2, -1e4)).any() | torch.isinf(scores.detach()).any()
            self._keep(event, weights.detach(), keys, bool(hidden))

    def _fused(self, event: Operation) -> None:
        args, kwargs = event.args, event.kwargs
        query, key = (args[0], args[1]) if len(args) > 1 else (kwargs.get("query"), kwargs.get("key"))
        mask = args[3] if len(args) > 3 else kwargs.get("attn_mask")
        causal = bool(args[5] if len(args) > 5 else kwargs.get("is_causal", False))
        if not isinstance(query, torch.Tensor) or not isinstance(key, torch.Tensor) or query.dim() not in (3, 4):
            return
        if not query.requires_grad or query.numel() * key.shape[-2] > _VALUES:
            return
        keys = self._keys(query.shape[0], key.shape[-2])
        if keys is None:
            return
        self._looked += 1
        with torch.no_grad():
            query, key = query.detach().float(), key.detach().float()
            if query.dim() == 4 and key.shape[1] != query.shape[1]:
                return  # grouped queries
            scores = query @ key.transpose(-2, -1) * query.shape[-1] ** -0.5
            if mask is not None:
                hidden = ~mask if mask.dtype is torch.bool else None
                scores = scores.masked_fill(hidden, float("-inf")) if hidden is not None else scores + mask.detach()
            if causal:
                future = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
                scores = scores.masked_fill(future, float("-inf"))
            weights = F.softmax(scores, -1)
            if weights.shape[0] != keys.shape[0]:
                weights = weights.view(keys.shape[0], -1, *weights.shape[1:])
            self._keep(event, weights, keys, mask is not None)

    def _keep(self, event: Operation, weights: torch.Tensor, keys: torch.Tensor, masked: bool) -> None:
        """`weights`: (samples, ..., queries, keys)."""
        padded = keys.any(1)
        if weights.shape[-2] == keys.shape[1]:
            real = ~keys  # queries are the same sequence: what padding itself attends to is of no account
        else:
            real = torch.ones(keys.shape[0], weights.shape[-2], dtype=torch.bool, device=keys.device)
        weights = weights.reshape(keys.shape[0], -1, *weights.shape[-2:]).float()
        empty = torch.isnan(weights).any(-1) & real[:, None]
        if bool(empty.any()):
            if masked:
                self._note(event, "all-masked", keys, 0.0, masked)
            return
        given = (weights * keys[:, None, None, :]).sum(-1)
        given = given[real[:, None].expand_as(given) & padded[:, None, None].expand_as(given)]
        if not given.numel() or bool(torch.isnan(given).any()):
            return
        share, most = float(given.mean()), float(given.max())
        if most <= _NONE:
            return
        kind = "inverted" if masked and float(given.min()) > 0.999 else "attended"
        self._note(event, kind, keys, share, masked)

    def _note(self, event: Operation, kind: str, keys: torch.Tensor, share: float, masked: bool) -> None:
        key = (event.site, kind)
        known = self._known.get(key)
        if known is not None:
            record, step = known
            if step != self.session.step:
                record.times += 1
                record.share += (share - record.share) / record.times
                self._known[key] = (record, self.session.step)
            return
        record = PaddingRead(
            kind,
            self._root,
            event.site,
            int(keys.any(1).sum()),
            share,
            masked,
            first_step=self.session.step,
        )
        self._known[key] = (record, self.session.step)
        self.run.dependence.padding_reads.append(record)
