"""The living run: it hands events to instruments, has rules judge the record, tells findings and keeps the log."""

from __future__ import annotations

import os
import sys
import threading
import traceback
from collections.abc import Callable
from time import perf_counter  # the function itself: the program may put another in its place
from types import FrameType
from typing import Any, Protocol

import torch
from torch._C._dynamo.eval_frame import set_eval_frame

from torchcaliper.run.budget import Budget
from torchcaliper.run.callsite import CallSites
from torchcaliper.run.events import Ended, Step
from torchcaliper.run.instrument import Instrument
from torchcaliper.run.interruption import is_circumstance, is_the_programs, message
from torchcaliper.run.objects import Objects
from torchcaliper.run.operators import OperatorWatch
from torchcaliper.run.patches import Local, Patches
from torchcaliper.run.record import Failure, Run
from torchcaliper.run.rest import Rest
from torchcaliper.run.surveys import Surveys
from torchcaliper.run.unseen import unseen

#: seconds between two savings of the record, and between two judgements once the first steps are over
_INTERVAL = 1.0
#: saving and judging may take this share of the time at most; a huge record is saved less often
_SHARE = 0.01

#: events of a thread that trains
_TRAINING = frozenset(
    f"{name}_{end}" for name in ("step", "zero_grad", "clip", "scaler", "scheduler") for end in ("begin", "end")
)

#: judges the record and tells what is new in it; whether there was anything new
Judge = Callable[[Run], bool]


class Say(Protocol):
    """Tells the user a line; a `minor` one may be left out."""

    def __call__(self, text: str, *, minor: bool = False) -> None: ...


class Session:
    """One watched process (or one `watch()` block)."""

    def __init__(
        self, run: Run, judge: Judge, save: Callable[[Run], None], say: Say, overhead: float | None = None
    ) -> None:
        self.run = run
        self.local = Local()
        self.patches = Patches(self.local, self._probe_failed)
        self.sites = CallSites(run.sites, run.program.cwd or os.getcwd())
        self.objects = Objects(run, self.sites)
        self.operators = OperatorWatch(self)
        self.surveys = Surveys()
        self.rest = Rest(self)
        self.budget = Budget(overhead)
        self.faults: list[str] = []
        self._judge, self._save, self._say = judge, save, say
        self._instruments: dict[str, Instrument] = {}
        self._handlers: dict[str, list[tuple[Callable[[Any], None], str]]] = {}
        self._started = perf_counter()
        self._spent = 0.0
        self._steps: dict[int, int] = {}
        self._next_judgement = 4
        self._judged_at = self._saved_at = self._started
        self._judge_cost = self._save_cost = 0.0
        self._soon = False
        self.over = False
        self.measuring = False  # a gradient of our own is on its way: a hook of ours in the graph takes no notice
        self._undo: list[Callable[[], object]] = []
        self._last_error: tuple[int, Failure] | None = None
        self.thread = threading.get_ident()
        #: instruments know nothing of threads: those of a program that trains in several take turns
        self._turn = threading.RLock()
        self._trained = False  # `thread` has begun a backward
        self._blind = False

    def on_lift(self, undo: Callable[[], object]) -> None:
        """Have `undo` called when the watch is taken off."""
        self._undo.append(undo)

    def lift(self) -> None:
        """Take the watch off the program."""
        self.over = True
        self.operators.stop()
        self.patches.lift()
        while self._undo:
            self._undo.pop()()

    # threads

    def trains_here(self) -> bool:
        """A backward of this thread begins; False when it is not to be watched."""
        with self._turn:
            if self._blind or self._crowded(training=True):
                return False
            self.thread, self._trained = threading.get_ident(), True
            return True

    def _crowded(self, training: bool) -> bool:
        """Whether what this thread does is not looked at, since another one trains.

        Gradients are written without Python's lock: to read one that belongs to another thread at such a moment can
        crash the process. So one thread at a time is watched, and when a second one trains beside it, none.
        Threads that Python does not know are the engine's own and belong to the backward.
        """
        mine = threading.get_ident()
        if mine == self.thread or not self._trained or not _is_known(mine) or not _is_known(self.thread):
            return False
        if training:
            self._blind = True
            self._say("torchcaliper: the program trains in several threads at once: watched until here", minor=True)
        return True

    # instruments

    def add(self, instrument: Instrument) -> None:
        """Let an instrument hear the events it has handlers for."""
        self._instruments[instrument.name] = instrument
        for attribute in dir(instrument):
            if attribute.startswith("on_"):
                self._handlers.setdefault(attribute[3:], []).append((getattr(instrument, attribute), instrument.name))

    def instrument(self, name: str) -> Instrument | None:
        """Another instrument by its name."""
        return self._instruments.get(name)

    def hears(self, kind: str) -> bool:
        """Whether any instrument handles events of this kind."""
        return kind in self._handlers

    def emit(self, kind: str, event: Any) -> None:
        """Tell an event. Runs within the program: whatever goes wrong stays here."""
        handlers = self._handlers.get(kind)
        if not handlers or self.over or self._blind:
            return
        begin = perf_counter()
        local = self.local
        outer, local.busy = local.busy, True
        grad, dynamo = torch.is_grad_enabled(), set_eval_frame(None)
        try:
            with self._turn, unseen():
                if self._crowded(kind in _TRAINING):
                    return
                for handle, name in handlers:
                    try:
                        handle(event)
                    except BaseException as error:
                        if is_the_programs(error):
                            raise
                        self._instrument_failed(name, error)
        finally:
            local.busy = outer
            set_eval_frame(dynamo)
            if torch.is_grad_enabled() is not grad:  # a signal has left a context of ours half-way
                torch._C._set_grad_enabled(grad)
            spent = perf_counter() - begin
            if not self.budget.took(spent):
                self._spent += spent

    def pass_step(self, event: Step) -> None:
        """A step of an optimizer in a rest: those who count steps are told, at little cost. They touch no tensors."""
        if self.over or self._blind or self._crowded(training=True):
            return
        for handle, name in self._handlers.get("step_passed", ()):
            try:
                handle(event)
            except BaseException as error:
                if is_the_programs(error):
                    raise
                self._instrument_failed(name, error)
        self.step_done(event)

    def _instrument_failed(self, name: str, error: BaseException) -> None:
        if is_circumstance(error):
            return
        self._handlers = {
            kind: kept for kind, handlers in self._handlers.items() if (kept := [h for h in handlers if h[1] != name])
        }
        self.fault(f"instrument {name}", error)

    def _probe_failed(self, name: str, error: BaseException) -> None:
        self.fault(f"probe {name}", error)

    def fault(self, what: str, error: BaseException) -> None:
        """Say once that a part of ours failed and is off; the program goes on."""
        self.faults.append(f"{what}\n{''.join(traceback.format_exception(error))}")
        self._say(
            f"torchcaliper: {what} failed ({type(error).__name__}: {error}) and is switched off; the program goes on"
        )

    # places and numbers

    def site(self, frame: FrameType | None) -> int | None:
        """The user's site at or outside of a frame."""
        return self.sites.site(frame)

    def site_at(self, path: str, line: int, function: str) -> int:
        """The number of a place found by reading source."""
        return self.sites.number(path, line, function)

    def user_frames(self) -> list[FrameType]:
        """The user's frames on this thread, innermost first."""
        return self.sites.user_frames(sys._getframe(1))

    def serial(self) -> int:
        """The next serial number."""
        return self.objects.serial()

    @property
    def step(self) -> int:
        """Index of the current step: steps of the busiest optimizer so far."""
        return self.run.steps

    @property
    def backwards(self) -> int:
        return self.run.backwards

    @property
    def forwards(self) -> int:
        return self.run.forwards

    # looks

    def look(self) -> None:
        """Ask for a close look at the operators of the next training step."""
        self.operators.wanted = True

    @property
    def looking(self) -> bool:
        """Whether every operator is told now."""
        return self.operators.on

    @property
    def deep(self) -> bool:
        """Whether this training step is looked at deeply. Where something is compiled, operators are not told then."""
        return self.budget.deep

    def training_begins(self) -> None:
        """A forward with gradients begins: decide whether its step is looked at."""
        if self.budget.has_begun and not self.operators.is_due:
            return
        if self.budget.step_begins(self.operators.is_due):
            self.run.deep_steps = self.budget.looks
            self.operators.start()

    # rests

    def may_rest(self) -> bool:
        """Whether nothing is going on that needs every call."""
        if self.operators.on or self.operators.is_due or self.local.stepping:
            return False
        return all(instrument.may_rest() for instrument in self._instruments.values())

    def resumed(self, optimizer: object) -> None:
        """Tell the instruments that calls were left out until now."""
        for instrument in self._instruments.values():
            instrument.resumed(optimizer)

    # judging and saving

    def judge_soon(self) -> None:
        """Ask that rules are judged at the end of this step."""
        self._soon = True

    def step_done(self, event: Step) -> None:
        """Count a step of an optimizer, and judge and save when it is time."""
        if self.over or self._blind:
            return
        if not event.nested:
            number = self.objects.optimizer(event.optimizer)
            count = self._steps[number] = self._steps.get(number, 0) + 1
            self.run.ledger.optimizers[number].steps = count
            self.run.steps = max(self.run.steps, count)
        self.operators.step_ends()
        if not event.nested:
            self.budget.step_ends()
            self.rest.stepped(event.optimizer)
        self.tick(self.run.steps)

    def tick(self, count: int) -> None:
        """Judge and save if it is time: at powers of two of `count`, then once a second."""
        if self.over or self._blind:
            return
        now = perf_counter()
        due = count >= self._next_judgement
        if due:
            self._next_judgement = max(2 * self._next_judgement, count + 1)
        since = now - self._judged_at
        if due or (self._soon and since > 0.2) or since > max(_INTERVAL, self._judge_cost / _SHARE):
            self._soon = False
            self.judge()
            self._judge_cost = perf_counter() - now
            self._judged_at = perf_counter()
        if now - self._saved_at > max(_INTERVAL, self._save_cost / _SHARE):
            self.save()
        self._spent += perf_counter() - now

    def refresh(self) -> None:
        """Bring the record up to date."""
        local = self.local
        outer, local.busy = local.busy, True
        grad, dynamo = torch.is_grad_enabled(), set_eval_frame(None)
        try:
            with self._turn, unseen():
                if self._blind or self._crowded(training=False):
                    return
                for name, instrument in list(self._instruments.items()):
                    try:
                        instrument.refresh()
                    except BaseException as error:
                        if is_the_programs(error):
                            raise
                        if not is_circumstance(error):
                            self._instruments.pop(name)
                        self._instrument_failed(name, error)
            self.run.seconds = perf_counter() - self._started
            self.run.overhead = (self._spent + self.budget.spent) / max(self.run.seconds, 1e-9)
        finally:
            local.busy = outer
            set_eval_frame(dynamo)
            if torch.is_grad_enabled() is not grad:
                torch._C._set_grad_enabled(grad)

    def judge(self) -> None:
        """Have the rules judge the record now."""
        self.refresh()
        try:
            with self._turn:
                told = self._judge(self.run)
        except BaseException as error:
            if is_the_programs(error):
                raise
            self.fault("judging", error)
            self._judge = lambda run: False
            return
        if told:  # what has been said is to be found in the report, however the program ends
            self.save()

    def save(self) -> None:
        """Save the record."""
        begin = perf_counter()
        self.refresh()
        try:
            with self._turn:
                self._save(self.run)
        except BaseException as error:
            if is_the_programs(error):
                raise
            self.fault("saving the log", error)
            self._save = lambda run: None
        self._saved_at = perf_counter()
        self._save_cost = self._saved_at - begin

    def failed(self, call: str, error: BaseException, site: int | None, **details: Any) -> Failure | None:
        """Record an exception that came out of a watched call; the outermost call of one exception adds nothing."""
        if not isinstance(error, Exception) or isinstance(error, StopIteration):
            return None
        known, text = self._last_error, message(error)
        if known is not None and known[0] == id(error) and known[1].message == text:
            return None
        failure = Failure(call, type(error).__name__, text, site, self.run.steps, details=details)
        self._last_error = (id(error), failure)
        self.run.failures.append(failure)
        del self.run.failures[:-20]
        self._soon = True
        return failure

    def finish(self, kind: str, error: BaseException | None = None) -> None:
        """The program ends: tell the instruments, judge and save for the last time."""
        if self.over:
            return
        self.operators.stop()
        self.run.ending = None if self._blind else kind
        if error is not None and isinstance(error, Exception):
            self._last_failure(error)
        self.emit("ended", Ended(kind, error))
        self.over = True  # daemon threads may still train
        self.judge()
        self.save()

    def _last_failure(self, error: Exception) -> None:
        known = self._last_error
        if known is not None and known[0] == id(error):
            known[1].uncaught = True
            return
        frame = None
        trace = error.__traceback__
        while trace is not None:
            if self.sites.is_user(trace.tb_frame.f_code.co_filename):
                frame = trace
            trace = trace.tb_next
        site = None
        if frame is not None:
            code = frame.tb_frame.f_code
            site = self.sites.number(self.sites.absolute(code.co_filename), frame.tb_lineno, code.co_name)
        self.run.failures.append(
            Failure("program", type(error).__name__, message(error), site, self.run.steps, uncaught=True)
        )


def _is_known(thread: int) -> bool:
    """Whether a thread is alive and one that Python has started."""
    found = threading._active.get(thread)  # type: ignore[attr-defined]
    return found is not None and not isinstance(found, threading._DummyThread)
