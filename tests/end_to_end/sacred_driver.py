"""Run programs one after the other, each in a fork of this process, which has imported torch.

`python sacred_driver.py HOW FOLDER OUT NAME...`: HOW is "plain", "watched" or "stared" (watched, with a close look at
every step). OUT receives NAME.out, NAME.err and NAME.code of each, and NAME.run with the record of the watch.
"""

import json
import os
import sys
import time
from pathlib import Path

import torch
import torch._dynamo  # noqa: F401  (the first optimizer imports it, which takes seconds)


def watch(run: Path, how: str) -> None:
    """Attach the watch as the bootstrap does."""
    from torchcaliper.rule import Stage
    from torchcaliper.run import attach
    from torchcaliper.run.instrument import Instrument

    class Stare(Instrument):
        name = "stare"

        def on_step_end(self, event: object) -> None:
            self.session.look()
            self.session.surveys.again()

    run.mkdir()
    options = {"quiet": True, "ignore": [stage.value for stage in Stage]}
    os.environ.update(
        TORCHCALIPER_RUN=str(run), TORCHCALIPER_OPTIONS=json.dumps(options), TORCHCALIPER_ROOT_PID=str(os.getpid())
    )
    attach.install()
    session = attach.current()
    if how == "stared" and session is not None:
        session.add(Stare(session))


def become(folder: str, name: str) -> None:
    """Go on as that program."""
    path = f"{folder}/{name}.py"
    with open(path, encoding="utf-8") as file:
        code = compile(file.read(), path, "exec")
    sys.argv[:] = [path]
    sys.path[0] = folder
    end = leave
    main = vars(sys.modules["__main__"])
    for key in [key for key in main if not key.startswith("__")]:
        del main[key]
    main["__file__"] = path
    exec(code, main)
    end()


def leave() -> None:
    """End as Python does, without its taking down of all modules, which takes a fork of torch a second."""
    import atexit  # the module's own names are gone by then
    import os
    import sys
    import threading

    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(0)


def drive(how: str, folder: str, out: str, names: list[str]) -> None:
    if how != "plain":
        from torchcaliper.rule import all_rules

        all_rules()
    for name in names:
        begin = time.perf_counter()
        child = os.fork()
        if child == 0:
            for number, stream in ((1, "out"), (2, "err")):
                descriptor = os.open(f"{out}/{name}.{stream}", os.O_WRONLY | os.O_CREAT)
                os.dup2(descriptor, number)
                os.close(descriptor)
            if how != "plain":
                watch(Path(out, f"{name}.run"), how)
            become(folder, name)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        Path(out, f"{name}.code").write_text(str(code))
        print(f"{name} {time.perf_counter() - begin:.2f} s", flush=True)


drive(*sys.argv[1:4], sys.argv[4:])
