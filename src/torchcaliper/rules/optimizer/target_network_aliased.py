"""O112 target-network-aliased."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run

#: copies before it is told: a loop that hands one network's weights to all of several, itself among them, copies onto
#: itself once in between
COPIES = 2


class TargetNetworkAliased(Rule):
    """The target or averaged network is the online network: both names stand for the same memory.

    ## What it finds

    A copy of weights from one network to another, by `load_state_dict` or a soft update over their parameters, where
    the two are one object or share the memory of all their parameters, and that network is being trained. It is the
    attempt to copy that proves the two were meant to differ.

    ## Why it matters

    A target network has to lag behind: it gives the goals that the online network learns. When both are the same,
    each update moves the goal as well, bootstrapped values chase themselves, and the synchronisation, which does
    nothing, hides it. `model.to(device)` returns the module itself, and `copy.copy` copies the outer object only.

    ## Faulty

    ```python
    self.policy_net = model.to(device)
    self.target_net = model.to(device)
    ...
    self.target_net.load_state_dict(self.policy_net.state_dict())
    ```

    ## Sound

    ```python
    self.policy_net = model.to(device)
    self.target_net = copy.deepcopy(self.policy_net)
    ```

    ## When it is silent

    When nothing tries to copy one into the other: tied weights, shared backbones, one model handed to several objects,
    wrappers such as DDP. When the same statement also copies between networks that differ.

    ## References

    * <https://docs.python.org/3/library/copy.html>
    * Mnih et al., "Human-level control through deep reinforcement learning", Nature 518 (2015)
    """

    code = "O112"
    name = "target-network-aliased"
    severity = Severity.ERROR
    explains = ("O113",)

    def judge_run(self, run: Run) -> Iterator[Finding]:
        honest = {c.site for c in run.ledger.copies if not c.same_storage}
        told = set()
        for copy in run.ledger.copies:
            named = copy.target_name and copy.source_name and copy.target_name != copy.source_name
            enough = copy.times >= COPIES or run.complete
            if (
                not (copy.same_storage and copy.target_trained and named and enough)
                or copy.site in honest
                or copy.site in told
            ):
                continue
            told.add(copy.site)
            facts = []
            if copy.alias_site is not None:
                facts.append(
                    evidence(
                        "{target} is written with the weights of {source} here, its own memory ({times} times)",
                        run.at(copy.site),
                        target=copy.target_name,
                        source=copy.source_name,
                        times=copy.times,
                    )
                )
            names = copy.alias_names or [copy.target_name, copy.source_name]
            yield self.finding(
                "`{first}` and `{second}` are one network: they share the memory "
                "of all parameters, so the copy changes nothing",
                at=run.at(copy.alias_site if copy.alias_site is not None else copy.site),
                evidence=facts,
                fix="make the second one with copy.deepcopy(...), and synchronise it from the trained one",
                count=copy.times,
                first_step=copy.first_step,
                subjects={f"copy:{copy.site}"} | ({f"root:{copy.target}"} if copy.target is not None else set()),
                first=names[0],
                second=names[-1],
            )
