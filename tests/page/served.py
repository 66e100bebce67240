"""A running `esker serve`, and the link that it printed."""

import re
import subprocess
import threading
import time
from pathlib import Path
from queue import Empty, Queue

START_SECONDS = 20


class Served:
    def __init__(self, program: Path, database: Path) -> None:
        # Port 0: the system chooses a free one.
        command = [str(program), "serve", str(database), "--port", "0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.lines: Queue[str] = Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self.link = self._wait()

    def _read(self) -> None:
        for line in self.process.stdout:
            self.lines.put(line)

    def _wait(self) -> str:
        seen = []
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            try:
                seen.append(self.lines.get(timeout=0.2))
            except Empty:
                if self.process.poll() is not None:
                    break
                continue
            found = re.search(r"http://\S+#token=\S+", seen[-1])
            if found:
                return found.group()
        self.stop()
        raise AssertionError(f"esker serve printed no link: {''.join(seen)}")

    @property
    def token(self) -> str:
        return self.link.split("#token=")[1]

    def with_state(self, fragment: str) -> str:
        """The link that also sets the state of the page."""
        return f"{self.link}&{fragment}"

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
