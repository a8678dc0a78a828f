"""Losses and gradients that are not finite, and where that began; the course of the loss."""

from __future__ import annotations

import math
import sys
import weakref
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from torchcaliper.run.events import Backward, Ended, Forward, LossCall, Operation, ScalerCall, Step
from torchcaliper.run.finiteness import value_of
from torchcaliper.run.instrument import Instrument
from torchcaliper.run.instruments.birth import (
    MAY_BE_SINGULAR,
    Birth,
    first_bad,
    has_bad,
    has_infinite_slope,
    plain_name,
    read,
    singular,
)
from torchcaliper.run.instruments.graph_lines import ACCUMULATE, GraphLines, in_order
from torchcaliper.run.instruments.nested import tensors_in
from torchcaliper.run.interruption import message
from torchcaliper.run.probes.forward import autocast_region
from torchcaliper.run.record_numerics import ConstantOne, LossHistory, LowPrecision, NonFinite, SummedLoss
from torchcaliper.run.transforms import is_transforming

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

#: graphs searched for the beginning of NaN: after the first everything is NaN
_SEARCHES = 4
#: steps with an infinite loss and finite gradients from which on it is told
_LASTING = 3
#: losses of a line that are kept from its beginning, and of its end
_FIRST, _RECENT = 8, 16
#: lines with losses that are followed
_LINES = 32
#: nodes of a graph put in order in every look; larger ones only when something is not finite
_NODES = 4_000
#: distance between neighbouring numbers, relative to their size
_WIDTHS = {torch.float16: 2.0**-10, torch.bfloat16: 2.0**-7}
#: values in half precision followed in a look
_FOLLOWED = 4_000

#: operators that put a constant into a tensor, and the largest one that float16 holds
_TAKES_CONSTANT = frozenset(
    ("mul", "__mul__", "__rmul__", "multiply", "mul_", "where", "full", "full_like", "new_full", "fill_", "tensor",
     "new_tensor", "__setitem__", "add", "__add__", "__radd__", "sub", "__sub__", "masked_fill")
)  # fmt: skip
_LARGEST = 65_504


class Numerics(Instrument):
    """Finiteness of what is trained with."""

    name = "numerics"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.lines = GraphLines()
        self._searches = 0
        self._losses: dict[int | None, LossHistory] = {}
        self._since: list[LossHistory] = []  # losses gone backward since the last step
        self._root: int | None = None
        self._loss_site: int | None = None
        self._pending: list[NonFinite] = []  # found since the last step
        self._awaited: NonFinite | None = None  # a loss that has not gone backward yet
        self._singular: list[tuple[Birth, int | None]] = []  # of this step's graphs
        self._slopes: dict[int | None, str] = {}  # lines of this step's graphs whose derivative may be infinite
        self._constant: int | None = None
        self._over = False
        self._infinite = 0
        self._halves: dict[int, tuple[weakref.ref[torch.Tensor], int | None, str]] = {}
        self._sums: dict[int | None, SummedLoss] = {}
        self._backward_site: int | None = None

    # what is needed to name lines

    def on_operation(self, event: Operation) -> None:
        self.lines.note(event)
        result = event.result
        if type(result) is torch.Tensor and result.dtype in _WIDTHS and not is_transforming():
            self._follow_half(event, result)
        if self._constant is None and event.name in _TAKES_CONSTANT:
            self._note_constant(event)

    def _note_constant(self, event: Operation) -> None:
        """A constant that float16 turns to infinity without a word."""
        made = event.args[0] if event.result is None and event.args else event.result
        if type(made) is not torch.Tensor or made.dtype is not torch.float16:
            return
        for given in (*event.args, *event.kwargs.values()):
            if isinstance(given, float | int) and math.isfinite(given) and abs(given) > _LARGEST:
                self._constant = event.site

    def _follow_half(self, event: Operation, result: torch.Tensor) -> None:
        """Remember which line turned a value that needs no gradient to half precision, up to a sine or cosine of it."""
        if event.name in ("cos", "sin", "polar"):
            self._judge_angle(event)
        if result.requires_grad or len(self._halves) >= _FOLLOWED:
            return
        given = [
            a for a in tensors_in((event.args, event.kwargs), 8) if a.is_floating_point() or a.dtype is torch.int64
        ]
        halves = [a for a in given if a.dtype in _WIDTHS]
        site = event.site
        for tensor in halves:
            known = self._halves.get(id(tensor))
            if known is not None and known[0]() is tensor:
                site = known[1]
                break
        self._halves[id(result)] = (weakref.ref(result), site, event.name if site == event.site else "")

    def _judge_angle(self, event: Operation) -> None:
        angle = event.args[0] if event.args else None
        if type(angle) is not torch.Tensor or angle.dtype not in _WIDTHS or angle.requires_grad or not angle.numel():
            return
        largest = float(angle.detach().abs().max().item())
        # The distance between neighbours at this size; half of it is how far off an angle may be.
        if not math.isfinite(largest) or largest * _WIDTHS[angle.dtype] < 1.0:
            return
        known = self._halves.get(id(angle))
        site = known[1] if known is not None and known[0]() is angle else event.site
        dtype = str(angle.dtype).removeprefix("torch.")
        record = next((r for r in self.run.numerics.low_precision if r.kind == "angle" and r.site == site), None)
        if record is None:
            record = LowPrecision("angle", event.name, site, dtype, largest, self._root, self.session.step, times=0)
            self.run.numerics.low_precision.append(record)
        record.times += 1
        record.value = max(record.value, largest)

    def on_forward_end(self, event: Forward) -> None:
        if event.error is not None:
            self._refused(event.error, event)
        elif event.grad:
            self._root = self.session.objects.known_root(event.root)

    # losses

    def on_loss_end(self, event: LossCall) -> None:
        if not event.grad:
            return
        self._loss_site = event.site
        if event.function == "binary_cross_entropy":
            self._rounded_probabilities(event)
        value = value_of(event.value)
        bad = value is not None and not math.isfinite(value)
        if value is not None and bad and not self._over and self._awaited is None and self._searches < _SEARCHES:
            self._awaited = self._search(event.value, event.site, value)
        if self.session.looking:
            self._note_sum(event)

    def _rounded_probabilities(self, event: LossCall) -> None:
        """Probabilities in half precision: all that are nearer to 1 than its last digit are 1."""
        given = event.args[0] if event.args else None
        region = autocast_region()
        if region is None or not isinstance(given, torch.Tensor) or given.dtype not in _WIDTHS:
            return
        found = self.run.numerics.low_precision
        record = next((r for r in found if r.kind == "loss" and r.site == event.site), None)
        if record is None:
            record = LowPrecision(
                "loss", event.function, event.site, region[1], 0.0, self._root, self.session.step, times=0
            )
            found.append(record)
        record.times += 1

    def _note_sum(self, event: LossCall) -> None:
        """A loss that is summed, and the line of its module."""
        value = event.value
        node = value.grad_fn if isinstance(value, torch.Tensor) else None
        if node is None or value.dim() or getattr(node, "_saved_reduction", 1) != 2:
            return
        given = next((a for a in event.args if isinstance(a, torch.Tensor)), None)
        if given is None or given.dim() == 0:
            return
        module = _loss_module(sys._getframe(1))
        made = self.session.objects.made(module) if module is not None else None
        record = self._sums.get(event.site)
        if record is None:
            if len(self._sums) >= _LINES:
                return
            site = made[1] if made is not None and made[1] is not None else event.site
            record = self._sums[event.site] = SummedLoss(event.function, site, event.site, self._root, 0)
            self.run.numerics.summed_losses.append(record)
        record.values = max(record.values, given.numel())

    def _history(self, site: int | None) -> LossHistory:
        history = self._losses.get(site)
        if history is None:
            history = self._losses[site] = LossHistory(site)
            self.run.numerics.losses.append(history)
        return history

    def on_backward_begin(self, event: Backward) -> None:
        of_loss, self._awaited = self._awaited is not None, None
        self._backward_site = event.site
        if len(event.tensors) != 1:
            return
        loss = event.tensors[0]
        deep = self.session.deep
        value = value_of(loss)
        if value is None and deep:
            value = _synchronised(loss)
        if value is not None and (event.site in self._losses or len(self._losses) < _LINES):
            self._follow(event.site, value)
        if value is not None and not math.isfinite(value):
            if not self._over and self._searches < _SEARCHES:
                found = self._search(loss, event.site, value)
                if found is not None:
                    found.backward_site = event.site
                    # A scale can make a finite loss infinite, and nothing but that.
                    found.before_scale = of_loss or math.isnan(value)
                    found.constant_site = self._constant
                    self.run.numerics.non_finite.append(found)
                    self._pending.append(found)
                    self.session.judge_soon()
            return
        if self.session.looking:
            nodes = in_order([loss], _NODES)
            if nodes:
                self.lines.learn(nodes)
                self._look_for_singular(nodes)
                self._look_for_half(nodes)
                self._look_for_ones(nodes)

    def _follow(self, site: int | None, value: float) -> None:
        history = self._history(site)
        history.seen += 1
        if history.root is None:
            history.root = self._root
        if not math.isfinite(value):
            history.non_finite += 1
            if history.first_non_finite is None:
                history.first_non_finite = self.session.step
        else:
            history.largest = max(history.largest, abs(value))
            if len(history.first) < _FIRST:
                history.first.append(value)
            history.recent.append(value)
            del history.recent[:-_RECENT]
        if history not in self._since and len(self._since) < _LINES:
            self._since.append(history)

    # where it began

    def _search(self, loss: torch.Tensor, site: int | None, value: float) -> NonFinite | None:
        self._searches += 1
        nodes = in_order([loss])
        birth = first_bad(nodes)
        history = self._losses.get(site)
        previous = history.recent[-1] if history is not None and history.recent else None
        record = NonFinite(
            "unknown",
            "",
            site,
            sure=False,
            root=self._root,
            loss_site=self._loss_site,
            step=self.session.step,
            loss=value,
            previous=previous,
            dtype=str(loss.dtype).removeprefix("torch."),
        )
        if birth is not None:
            self._describe(record, birth, self.lines.sites(nodes)[birth.node] if birth.node >= 0 else (None, False))
        if record.kind in ("parameter", "unknown") and self._singular:
            # The gradients of the step before must have been it: this step's values only inherit.
            birth, line = self._singular[-1]
            self._describe(record, birth, (line, line is not None))
            record.in_gradient = True
        elif record.kind == "parameter":
            self._suspect(record, nodes)
        return record

    def _suspect(self, record: NonFinite, nodes: list[Any]) -> None:
        """The line of the one operator whose derivative may be infinite where its value is finite.

        The step before was not looked at; its gradients have put NaN into the parameters although its loss was finite.
        """
        places = self._slopes_of(nodes)
        if len(places) == 1:
            self._blame(record, places)

    def _slopes_of(self, nodes: list[Any]) -> dict[int | None, str]:
        """Lines with operators that can have a finite value without a finite derivative."""
        sites = self.lines.sites(nodes)
        places: dict[int | None, str] = {}
        for node, (site, _) in zip(nodes, sites, strict=True):
            if has_infinite_slope(node):
                written = self._backward_of(node)
                places.setdefault(site if written is None else written, plain_name(node.name()))
        return places

    def _backward_of(self, node: Any) -> int | None:
        """Where the program has written the backward of an autograd.Function of its own."""
        code = getattr(getattr(getattr(node, "_forward_cls", None), "backward", None), "__code__", None)
        sites = self.session.sites
        if code is None or not sites.is_user(code.co_filename):
            return None
        return sites.number(sites.absolute(code.co_filename), code.co_firstlineno, code.co_name)

    @staticmethod
    def _blame(record: NonFinite, places: dict[int | None, str]) -> None:
        ((site, operator),) = places.items()
        if site is not None:
            record.kind, record.operator, record.site, record.in_gradient = "slope", operator, site, True

    @staticmethod
    def _describe(record: NonFinite, birth: Birth, line: tuple[int | None, bool]) -> None:
        record.kind, record.operator = birth.kind, birth.operator
        record.bad, record.of, record.value = birth.bad, birth.of, birth.value
        record.dtype = birth.dtype or record.dtype
        if line[0] is not None:
            record.site, record.sure = line

    # ways that are closed

    def _look_for_ones(self, nodes: list[Any]) -> None:
        """Normalisations over a single element: what went in does not matter any more."""
        for i, node in enumerate(nodes):
            name = node.name()
            if name == "DivBackward0":
                above, below = read(node, "self"), read(node, "other")
                if above is None or below is None or above.numel() < 2 or above.shape != below.shape:
                    continue
                if node.next_functions[1][0] is None or not torch.allclose(above, below, rtol=1e-6, atol=0.0):
                    continue
            elif name == "SoftmaxBackward0":
                result = read(node, "result")
                if result is None or result.numel() < 2 or not bool((result == 1).all().item()):
                    continue
            else:
                continue
            site = self.lines.sites(nodes)[i][0]
            record = next((c for c in self.run.numerics.constants if c.site == site), None)
            if record is None:
                if len(self.run.numerics.constants) >= _LINES:
                    return
                record = ConstantOne(plain_name(name), site)
                self.run.numerics.constants.append(record)
            record.looks += 1
            if not record.parameters:
                record.parameters = self._parameters_before(node)

    def _parameters_before(self, node: Any) -> list[int]:
        found, seen, left = set(), {node}, [node]
        while left and len(seen) < _NODES:
            for below, _ in left.pop().next_functions:
                if below is None or below in seen:
                    continue
                seen.add(below)
                left.append(below)
                if below.name() == ACCUMULATE:
                    number = self.session.objects.known_parameter(below.variable)
                    if number is not None:
                        found.add(number)
        return sorted(found)

    # gradients

    def _look_for_singular(self, nodes: list[Any]) -> None:
        """Operators without a finite derivative where they stand now; told only if a gradient turns out non-finite."""
        self._slopes.update(self._slopes_of(nodes))
        suspects = [i for i, node in enumerate(nodes) if node.name() in MAY_BE_SINGULAR]
        if not suspects or len(suspects) > 512:
            return
        found = singular([nodes[i] for i in suspects])
        if found:
            sites = self.lines.sites(nodes)
            self._singular = [(birth, sites[suspects[birth.node]][0]) for birth in found]

    def on_scaler_end(self, event: ScalerCall) -> None:
        if event.call == "step" and event.stepped is False:
            for found in self._pending:
                found.skipped = True
            self._pending.clear()

    def on_step_begin(self, event: Step) -> None:
        number = self.session.objects.known_optimizer(event.optimizer)
        for history in self._since:
            if number is not None and number not in history.optimizers:
                history.optimizers.append(number)
        if self._pending:
            bad = bad_gradient(event.optimizer) is not None
            self._infinite += not bad and event.scaler is None
            for found in self._pending:
                # A mean over nothing passes back zeros: nothing is harmed but the loss, and the step is wasted. An
                # infinite loss with finite gradients (a log of what a ReLU has cut off) is an accident when it comes
                # once, and no measure of anything when it comes again and again.
                found.stepped = bad or found.kind in ("no_targets", "empty") or self._infinite >= _LASTING
            self._over |= bad
        elif self.session.deep and not self._over and event.scaler is None:
            self._check_gradients(event)

    def _check_gradients(self, event: Step) -> None:
        parameter = bad_gradient(event.optimizer)
        if parameter is None:
            self._singular.clear()
            self._slopes.clear()
            return
        record = NonFinite(
            "unknown",
            "",
            self._backward_site,
            sure=False,
            in_gradient=True,
            root=self._root,
            loss_site=self._loss_site,
            backward_site=self._backward_site,
            step=self.session.step,
            stepped=True,
        )
        known = self.session.objects.known_parameter(parameter)
        if known is not None:
            record.parameter = self.run.ledger.parameters[known].name
            record.root = self.run.ledger.parameters[known].root
        if self._since and self._since[-1].recent:
            record.loss = self._since[-1].recent[-1]
        if self._singular:
            birth, line = self._singular[-1]
            self._describe(record, birth, (line, line is not None))
        elif len(self._slopes) == 1:
            self._blame(record, self._slopes)
        self.run.numerics.non_finite.append(record)
        self._over = True
        self.session.judge_soon()

    def on_step_end(self, event: Step) -> None:
        self._halves.clear()
        self._since.clear()
        self._pending.clear()
        if not self._over:
            self._awaited = None

    def on_backward_end(self, event: Backward) -> None:
        if event.error is not None and "returned nan values" in message(event.error) and not self._over:
            record = NonFinite(
                "unknown",
                plain_name(message(event.error).partition("'")[2].partition("'")[0]),
                event.site,
                sure=False,
                in_gradient=True,
                root=self._root,
                loss_site=self._loss_site,
                backward_site=event.site,
                step=self.session.step,
                ended=True,
            )
            if self._singular:
                birth, line = self._singular[-1]
                self._describe(record, birth, (line, line is not None))
            self.run.numerics.non_finite.append(record)
            self._over = True

    def on_ended(self, event: Ended) -> None:
        found = self._awaited
        if found is not None and not self._over:
            found.ended = True
            self.run.numerics.non_finite.append(found)

    # half precision

    def _refused(self, error: BaseException, event: Forward) -> None:
        """A constant that a half-precision type cannot hold: torch raises."""
        text = message(error)
        if "without overflow" not in text or ("Half" not in text and "BFloat16" not in text):
            return
        sites, site, operator = self.session.sites, None, ""
        trace = error.__traceback__
        while trace is not None:
            code = trace.tb_frame.f_code
            if sites.is_user(code.co_filename):
                site = sites.number(sites.absolute(code.co_filename), trace.tb_lineno, code.co_name)
            trace = trace.tb_next
        self.run.numerics.low_precision.append(
            LowPrecision(
                "constant",
                operator,
                site if site is not None else event.site,
                "bfloat16" if "BFloat16" in text else "float16",
                root=self.session.objects.known_root(event.root),
                step=self.session.step,
                message=text,
            )
        )

    def _look_for_half(self, nodes: list[Any]) -> None:
        """Infinities that arise in half precision although the loss is still finite (a maximum, a saturated exp)."""
        if self.run.numerics.low_precision:
            return
        for i, node in enumerate(nodes):
            for saved in ("result", "self", "other"):
                tensor = read(node, saved)
                if tensor is None or tensor.dtype is not torch.float16:
                    continue
                if has_bad(tensor) and (tensor.isnan().any().item() or tensor.max().item() == math.inf):
                    birth = first_bad(nodes[: i + 1])
                    if birth is None or birth.kind in ("input", "parameter"):
                        return
                    self.run.numerics.low_precision.append(
                        LowPrecision(
                            "overflow",
                            birth.operator,
                            self.lines.sites(nodes)[birth.node][0],
                            birth.dtype,
                            birth.value,
                            root=self._root,
                            step=self.session.step,
                        )
                    )
                    return


def _synchronised(loss: torch.Tensor) -> float | None:
    if type(loss) is not torch.Tensor or loss.dim() or not loss.is_floating_point() or loss.is_meta:
        return None
    return float(loss.item())


def _loss_module(frame: Any) -> nn.Module | None:
    """The loss module whose forward is on the stack."""
    for _ in range(16):
        if frame is None:
            return None
        if frame.f_code.co_name == "forward" and frame.f_code.co_filename.endswith("loss.py"):
            module = frame.f_locals.get("self")
            return module if isinstance(module, nn.Module) else None
        frame = frame.f_back
    return None


def bad_gradient(optimizer: Any) -> torch.Tensor | None:
    """A parameter of an optimizer whose gradient is not finite; one wait per device and type."""
    groups: dict[tuple[torch.device, torch.dtype], list[tuple[torch.Tensor, torch.Tensor]]] = {}
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            gradient = parameter.grad if parameter.is_leaf else None
            if gradient is None or gradient.is_sparse or gradient.is_meta or not gradient.is_floating_point():
                continue
            local = getattr(gradient, "to_local", None)
            values = local() if local is not None else gradient
            if type(values) is torch.Tensor:  # a fake one has no memory to read
                groups.setdefault((values.device, values.dtype), []).append((parameter, values))
    with torch.no_grad():
        for (_, dtype), pairs in groups.items():
            wider = torch.float32 if dtype in (torch.float16, torch.bfloat16) else None
            options = {"dtype": wider} if wider is not None else {}
            norms = torch.stack(torch._foreach_norm([g for _, g in pairs], 2, **options)).tolist()
            for (parameter, gradient), norm in zip(pairs, norms, strict=True):
                if not math.isfinite(norm) and gradient.numel() and has_bad(gradient):
                    return parameter
    return None
