"""The command ``esker`` as a process, which does the work of clusters."""

from __future__ import annotations

import contextlib
import io
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from typing import IO, TYPE_CHECKING, Any, Iterator, NamedTuple

from . import _cancel, _errors

if TYPE_CHECKING:
    from ._selectors import Path

INSTALL = "install it with `cargo install --path crates/esker-cli --features cluster`, or name it with command="
#: Seconds between two looks whether the block that the thread is in was cancelled.
_LOOK_EVERY = 0.025
#: Seconds that a command has to end after a signal, if no caller waits for its outcome: its workers end within 5.
_END_TIMEOUT = 10
#: Seconds that a command has to end after Ctrl-C in a terminal, which signals it too; a second signal would end it at once.
_SAME_SIGNAL = 0.5
#: Exit codes of a command that a signal ended.
INTERRUPTED = (130, -signal.SIGINT, -signal.SIGTERM)


class Finished(NamedTuple):
    """What a command that has ended left."""

    code: int
    output: str
    errors: str


def find(command: Path | None) -> str:
    """The command that does the work."""
    if command is not None:
        found = shutil.which(command)
        if found is None:
            raise _errors.NotFoundError(f"{os.fspath(command)} is no command: {INSTALL}")
        return os.path.abspath(found)
    beside = pathlib.Path(sys.executable).with_name("esker")
    found = str(beside) if beside.is_file() else shutil.which("esker")
    if found is None:
        raise _errors.NotFoundError(f"clusters need the command `esker`, which is neither beside Python nor on PATH: {INSTALL}")
    return os.path.abspath(found)


def _environment() -> dict[str, str]:
    """The environment of commands, which has them print a failure as a line of JSON."""
    return {**os.environ, "ESKER_ERRORS": "json"}


def run(words: list[str]) -> Finished:
    """Runs a command to its end. A cancellation ends it as Ctrl-C does; the outcome tells whether the work has stopped or was done.

    Raises:
        Cancelled: The work has stopped.
    """
    _cancel.current()
    process = subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="replace", env=_environment()
    )
    asked = False
    with process:
        try:
            while True:
                try:
                    output, errors = process.communicate(timeout=_LOOK_EVERY)
                    break
                except subprocess.TimeoutExpired:
                    if not asked and _cancel.is_cancelled():
                        asked = True
                        process.send_signal(signal.SIGINT)
        except KeyboardInterrupt:
            _end(process, _SAME_SIGNAL)
            raise
        except BaseException:
            _end(process)
            raise
    if asked and process.returncode in INTERRUPTED:
        raise _errors.Cancelled("cancelled")
    return Finished(process.returncode, output, errors)


class Running:
    """A command that runs, and what it writes."""

    def __init__(self, process: subprocess.Popen[bytes], errors: IO[bytes]) -> None:
        assert process.stdout is not None
        self._process, self._errors = process, errors
        self.output = io.BufferedReader(_Output(process.stdout))

    def finish(self) -> Finished:
        """Waits for the end of a command that has written all."""
        while True:
            try:
                code = self._process.wait(_LOOK_EVERY)
                break
            except subprocess.TimeoutExpired:
                _cancel.current()
        self._errors.seek(0)
        return Finished(code, "", self._errors.read().decode(errors="replace"))


@contextlib.contextmanager
def running(words: list[str]) -> Iterator[Running]:
    """Starts a command, which ends with the block as after Ctrl-C."""
    _cancel.current()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, bufsize=0, env=_environment())
        try:
            yield Running(process, errors)
        except KeyboardInterrupt:
            _end(process, _SAME_SIGNAL)
            raise
        finally:
            if process.stdout is not None:
                process.stdout.close()  # A command that waits to write goes on.
            _end(process)


class _Output(io.RawIOBase):
    """What a command writes. The wait for more ends if the block that the thread is in is cancelled."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._file.closed:
            raise _errors.ClosedError("the block of follow() has ended, and the command with it")
        ready = select.poll()
        ready.register(self._file, select.POLLIN)
        while not ready.poll(_LOOK_EVERY * 1000):
            _cancel.current()
        read: int = self._file.readinto(buffer)  # type: ignore[attr-defined]
        return read


def _end(process: subprocess.Popen[Any], grace: float = 0) -> None:
    """Ends a command and its workers, as Ctrl-C does, if it still runs after seconds of grace."""
    try:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(grace)
        process.send_signal(signal.SIGINT)
        process.wait(_END_TIMEOUT)
    except BaseException as error:
        process.kill()
        process.wait()
        if not isinstance(error, subprocess.TimeoutExpired):
            raise
