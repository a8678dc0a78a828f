"""C102."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run
from torchcaliper.run.record_state import StateLoad

#: share of the missing parameters that a prefix must explain
_SHARE = 0.5
#: what is known to put a prefix before every name
_MAKERS = {
    "module.": "nn.DataParallel and DistributedDataParallel put it there: save model.module.state_dict()",
    "_orig_mod.": "torch.compile puts it there: save the state of the module that was compiled, or use model.compile()",
    "_fsdp_wrapped_module.": "FSDP puts it there: save with torch.distributed.checkpoint.state_dict",
}


class PrefixMismatch(Rule):
    """The names in a checkpoint have a prefix that the module's have not, or the reverse.

    ## What it finds
    `load_state_dict` where the missing and the unexpected keys are the same but for a prefix (`module.`, `_orig_mod.`,
    `model.`, `net.`, ...), with equal shapes: as a failure, or silently under `strict=False`.

    ## Why it matters
    Wrappers for several devices, compilation and training frameworks put their attribute's name before every key. A
    strict load fails with hundreds of names; with `strict=False` nothing is loaded and nothing is said.

    ## Faulty
        model.load_state_dict(torch.load("ddp.pt"), strict=False)           # module.fc.weight, ...

    ## Sound
        state = {name.removeprefix("module."): value for name, value in torch.load("ddp.pt").items()}
        model.load_state_dict(state)

    ## When it is silent
    When the returned keys are used by the program (printed, checked), and for failures that are caught.

    ## References
    * https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.load_state_dict
    * https://docs.pytorch.org/tutorials/intermediate/ddp_tutorial.html
    """

    code = "C102"
    name = "prefix-mismatch"
    severity = Severity.ERROR
    explains = ("C101",)

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for load in run.states.loads:
            if is_prefix(load) and (load.uncaught if load.failed else is_told(load)):
                yield self._finding(run, load)

    def _finding(self, run: Run, load: StateLoad) -> Finding:
        prefix = load.state_prefix or load.module_prefix
        theirs, ours = _example(load)
        shown = [
            evidence(
                "in the state `{theirs}`, ..., in {module} `{ours}`, ...", theirs=theirs, ours=ours, module=load.module
            )
        ]
        if prefix in _MAKERS:
            shown.append(evidence("{maker}", maker=_MAKERS[prefix]))
        if load.filter_site is not None:
            shown.append(
                evidence("the filter lets go of every name that the module does not have", run.at(load.filter_site))
            )
        elif not load.failed:
            shown.append(evidence("strict=False passes over it, and the program does not look at what was skipped"))
        return self.finding(
            "the names in the state begin with `{prefix}` and those of {module} do not: {count_names} of its {keys} "
            "parameters are not loaded"
            if load.state_prefix
            else "the names of {module} begin with `{prefix}` and those in the state do not: {count_names} of {keys} "
            "parameters are not loaded",
            at=run.at(load.site),
            evidence=shown,
            fix='Strip it and load strictly: {{k.removeprefix("{prefix}"): v for k, v in state.items()}}.'
            if load.state_prefix
            else 'Add it and load strictly: {{"{prefix}" + k: v for k, v in state.items()}}.',
            count=load.times,
            first_step=load.step,
            prefix=prefix,
            module=load.module,
            count_names=load.missing_count,
            keys=load.keys,
        )


def _example(load: StateLoad) -> tuple[str, str]:
    """A name as the state has it and as the module has it."""
    for ours in load.missing:
        theirs = load.state_prefix + ours if load.state_prefix else ours.removeprefix(load.module_prefix)
        if theirs in load.unexpected:
            return theirs, ours
    return load.unexpected[0], load.missing[0]


def is_prefix(load: StateLoad) -> bool:
    """Whether a prefix explains most of what is missing."""
    return load.prefix_count > 0 and load.prefix_count >= _SHARE * load.missing_count


def is_told(load: StateLoad) -> bool:
    """Whether a load that did not fail has left out what it could have loaded, and nobody looks at that."""
    left_out = load.unexpected_count > 0 or load.filter_site is not None
    return load.checked is False and load.missing_count > 0 and left_out
