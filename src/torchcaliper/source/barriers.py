"""Layers that an optimizer holds and no loss can reach."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from torchcaliper.source.graphs import reach_of_all
from torchcaliper.source.operations import CUTS
from torchcaliper.source.steps import backwards, held_by, held_by_optimizer, is_hooked, loss_of, steps_of
from torchcaliper.source.trace import Event, Trace
from torchcaliper.source.values import Symbol


@dataclass(slots=True)
class Barred:
    """What bars the only ways from the losses to layers that are to be trained, and the step that waits for them."""

    barrier: Symbol
    step: Event

    @property
    def by_cut(self) -> bool:
        """Whether a value left the graph; else autograd did not record it."""
        return self.barrier.recorded or self.barrier.op in CUTS


def barred_layers(trace: Trace) -> Iterator[Barred]:
    """For each optimizer that steps: layers whose outputs lead to a loss, and never by a recorded way.

    Nothing for what is updated by hand, where something is frozen (`requires_grad`), where a loss comes from what is
    not known, or where the program differentiates by other means.
    """
    if not trace.complete or is_hooked(trace) or not trace.is_program:
        return
    if any(event.attribute == "requires_grad" or event.name == "requires_grad_" for event in trace.events):
        return
    if any(event.full == "torch.autograd.grad" for event in trace.named("grad")):
        return
    reached = reach_of_all(loss_of(backward) for backward in backwards(trace))
    if reached.unknown or not reached.parameters:
        return
    by_hand: set[int] = set()
    for event in trace.named("data", "copy_", "mul_", "lerp_", "add_"):
        by_hand |= held_by(event.receiver).parts
    told: set[int] = set()
    for step in steps_of(trace):
        held = held_by_optimizer(step.optimizer)
        if not held.known:
            continue
        parts = held.parts - by_hand
        for layer, barrier in reached.barred.items():
            if layer in parts and layer not in reached.layers and id(barrier) not in told:
                told.add(id(barrier))
                yield Barred(barrier, step.event)
