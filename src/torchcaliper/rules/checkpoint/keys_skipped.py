"""C101."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Evidence, Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.rules.checkpoint.prefix_mismatch import is_prefix, is_told
from torchcaliper.run.record import Run
from torchcaliper.run.record_state import StateLoad

#: renamed layers from which the names are taken for a mistake; one alone is how a new head looks
_LAYERS = 2


class KeysSkipped(Rule):
    """Weights of a checkpoint that found no place in the module.

    ## What it finds
    `load_state_dict` that fails over missing, unexpected or misshapen keys, with the names that were nearly right; and
    the silent cases: `strict=False` whose result nobody looks at, where none of the parameters was loaded, or several
    layers were left out although weights of the same shape under a near name are in the checkpoint; and a filter over
    the names (`if name in model_state`) that leaves nothing.

    ## Why it matters
    What is not loaded keeps its random initial values. With `strict=False` the program goes on without a word and
    scores at chance level, or trains from scratch what was meant to be pretrained.

    ## Faulty
        model.load_state_dict(checkpoint, strict=False)     # encoder.layers.0.* in the file, encoder.blocks.0.* here

    ## Sound
        state = {name.replace("layers", "blocks"): value for name, value in checkpoint.items()}
        model.load_state_dict(state)

    ## When it is silent
    When the returned keys are used by the program (printed, checked); when all of the checkpoint found a place, or all
    of the module got its values; when only one layer is missing, as with a new head; for failures that are caught.

    ## References
    * https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.load_state_dict
    """

    code = "C101"
    name = "keys-skipped"
    severity = Severity.ERROR

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for load in run.states.loads:
            if is_prefix(load):
                continue
            if load.failed:
                if load.uncaught:
                    yield self._failed(run, load)
            elif is_told(load) and (not load.loaded or len(_renamed_layers(load)) >= _LAYERS):
                yield self._silent(run, load)

    def _failed(self, run: Run, load: StateLoad) -> Finding:
        fix = "Rename the keys before loading: {{name.replace(old, new): value for name, value in state.items()}}."
        if load.shapes and not load.missing_count:
            fix = (
                "Build {module} with the sizes that the checkpoint was made with, or leave these keys out of the state "
                "and check what load_state_dict(state, strict=False) returns."
            )
        elif not load.renamed:
            fix = "Build {module} as it was when the checkpoint was made, or load the part that is meant."
        return self.finding(
            "the state does not fit {module}: {missing} keys missing, {unexpected} unexpected, {shapes} misshapen",
            at=run.at(load.site),
            evidence=_names(load),
            fix=fix,
            first_step=load.step,
            module=load.module,
            missing=load.missing_count,
            unexpected=load.unexpected_count,
            shapes=len(load.shapes),
        )

    def _silent(self, run: Run, load: StateLoad) -> Finding:
        if load.filter_site is not None:
            return self.finding(
                "the filter leaves nothing of the checkpoint: none of the {keys} parameters of {module} is loaded",
                at=run.at(load.filter_site),
                evidence=[evidence("what is left is loaded here", run.at(load.site)), *_names(load)],
                fix="Rename the keys to those of the module, load strictly, and look at what is missing.",
                first_step=load.step,
                keys=load.keys,
                module=load.module,
            )
        return self.finding(
            "strict=False hides that {left} of the {keys} parameters of {module} were not loaded",
            at=run.at(load.site),
            evidence=_names(load),
            fix="Rename the keys and load strictly, or look at the missing_keys and unexpected_keys that it returns.",
            count=load.times,
            first_step=load.step,
            left=load.missing_count,
            keys=load.keys,
            module=load.module,
        )


def _names(load: StateLoad) -> list[Evidence]:
    shown = [
        evidence("`{theirs}` in the state is probably `{ours}` of the module", theirs=theirs, ours=ours)
        for theirs, ours in load.renamed[:4]
    ]
    shown += [
        evidence("`{name}` is {theirs} in the state and {ours} in the module", name=name, theirs=theirs, ours=ours)
        for name, theirs, ours in load.shapes[:4]
    ]
    if not load.renamed:
        for words, names, count in (
            ("missing: {names}", load.missing, load.missing_count),
            ("unexpected: {names}", load.unexpected, load.unexpected_count),
        ):
            if names:
                more = f", ... ({count} in all)" if count > 4 else ""
                shown.append(evidence(words, names=", ".join(names[:4]) + more))
    return shown


def _renamed_layers(load: StateLoad) -> set[str]:
    return {ours.rpartition(".")[0] for _, ours in load.renamed}
