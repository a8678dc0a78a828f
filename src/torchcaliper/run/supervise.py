"""Run the program as a child, where this process has something to do after it.

That is so with `--fail-on`, since only after the program has ended is it known what its own exit code is, and on
Windows, which has no exec. The child shares the console, the process group and the signals with this process.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

#: signals that others send to this process and mean the program
_FORWARDED = ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2")


def supervise(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run `command` to its end and return its exit code; -N where signal N has killed it.

    The child finds its own pid in `TORCHCALIPER_ROOT_PID`. OSError when it cannot be started.
    """
    return _supervise_windows(command, environment) if os.name == "nt" else _supervise_posix(command, environment)


def end_as(code: int) -> int:
    """End as the program did whose exit code `supervise` has returned: by the same signal, or return its code."""
    if code >= 0 or os.name == "nt":
        return code
    number = signal.Signals(-code)
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    sys.stdout.flush()
    sys.stderr.flush()
    os.kill(os.getpid(), number)
    return 128 + number


def _supervise_windows(command: Sequence[str], environment: Mapping[str, str]) -> int:
    # Its pid is not known before it runs: the bootstrap fills it in for the first process that finds it empty.
    child = subprocess.Popen(list(command), env={**environment, "TORCHCALIPER_ROOT_PID": ""})
    while True:
        try:
            code = child.wait()
            break
        except KeyboardInterrupt:
            continue  # it reaches both; the child decides what it means
    # Windows codes are unsigned (0xC000013A after Ctrl-C), and sys.exit takes a signed one of 32 bits.
    return code - 2**32 if code >= 2**31 else code


def _supervise_posix(command: Sequence[str], environment: Mapping[str, str]) -> int:
    forwarded = {getattr(signal, name) for name in _FORWARDED}
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {*forwarded, signal.SIGCHLD})
    parent = os.getpid()
    receiving, sending = os.pipe()  # closed by a successful exec
    child = os.fork()
    if child == 0:
        os.close(receiving)
        _become(command, environment, mask, parent, sending)
    os.close(sending)
    with os.fdopen(receiving, "rb") as stream:
        failure = stream.read()
    if failure:
        os.waitpid(child, 0)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        number = int(failure)
        raise OSError(number, os.strerror(number), command[0])
    while True:
        number, by_terminal = _wait_for({*forwarded, signal.SIGCHLD})
        if number in forwarded and not by_terminal:
            os.kill(child, number)
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid == child:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            return os.waitstatus_to_exitcode(status)


def _become(
    command: Sequence[str], environment: Mapping[str, str], mask: set[int | signal.Signals], parent: int, sending: int
) -> NoReturn:
    try:
        _die_with(parent)
        restore_signals()
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        os.execve(command[0], list(command), {**environment, "TORCHCALIPER_ROOT_PID": str(os.getpid())})
    except OSError as error:
        os.write(sending, str(error.errno).encode())
    finally:
        os._exit(127)


def restore_signals() -> None:
    """Give back what Python ignores for itself, and a program that is not Python would inherit."""
    for name in ("SIGPIPE", "SIGXFSZ"):
        number = getattr(signal, name, None)
        if number is not None:
            signal.signal(number, signal.SIG_DFL)


def _die_with(parent: int) -> None:
    """Have this process killed when its parent is killed: who kills the run means the program (Linux only)."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(127)


def _wait_for(signals: set[signal.Signals]) -> tuple[int, bool]:
    """The next signal (0: none yet), and whether a terminal has sent it: then the child has it too."""
    if hasattr(signal, "sigtimedwait"):
        info = signal.sigtimedwait(signals, 1.0)  # a signal of a process with several threads may go elsewhere
        if info is None:
            return 0, False
        return info.si_signo, info.si_code > 0  # the kernel's; those of kill() are 0 and below
    number = signal.sigwait(signals)
    return number, number in (signal.SIGINT, signal.SIGQUIT) and _in_foreground()


def _in_foreground() -> bool:
    try:
        return os.tcgetpgrp(0) == os.getpgrp()
    except OSError:
        return False
