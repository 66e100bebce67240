"""Tests scripts/prepare.sh with a path that holds stubs: what it installs, in which order, and where it stops."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What Debian's base system has and the script uses.
BASE = ["sed", "mktemp", "rm"]
CARGO = 'case "$1" in --version) echo "cargo 1.{minor}.0 (0123abcd 2026-01-01)";; esac'
PYTHON = 'case "$2" in *version_info*) exit {old};; *) exit {bare};; esac'


class Machine:
    """A directory of programs, most of which only note how they were called."""

    def __init__(self, directory):
        self.bin = pathlib.Path(directory, "bin")
        self.home = pathlib.Path(directory, "home")
        self.log = pathlib.Path(directory, "log")
        self.bin.mkdir()
        self.home.mkdir()
        self.log.touch()
        for name in BASE:
            (self.bin / name).symlink_to(shutil.which(name))
        # Runs the script of rustup, which installs cargo.
        self.add("sh", f'echo "sh $*" >>{self.log}; mkdir="$HOME/.cargo/bin"; {shutil.which("mkdir")} -p "$mkdir"\n'
                       f'printf "#!/bin/sh\\n" >"$mkdir/cargo"; {shutil.which("chmod")} +x "$mkdir/cargo"', noted=False)
        self.add("id", "echo 0", noted=False)

    def add(self, name, does="", noted=True):
        """A program that is called `name`."""
        note = f'echo "{name} $*" >>{self.log}\n' if noted else ""
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{note}{does}\n")
        path.chmod(0o755)
        return self

    def with_rust(self, minor=999):
        return self.add("cargo", CARGO.format(minor=minor), noted=False)

    def with_python(self, old=0, bare=0):
        return self.add("python3", PYTHON.format(old=old, bare=bare), noted=False)

    def prepare(self, *parts):
        """The exit code, what was said, the calls, and where cargo is."""
        script = f'set -eu; . scripts/prepare.sh; prepare {" ".join(parts)}; command -v cargo'
        environment = {"PATH": str(self.bin), "HOME": str(self.home)}
        done = subprocess.run([shutil.which("sh"), "-c", script], cwd=ROOT, env=environment, text=True, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        calls = [" ".join(call.split()) for call in self.log.read_text().splitlines()]
        return done.returncode, done.stderr, calls, done.stdout.strip()


class Prepare(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.machine = Machine(directory.name)

    def test_a_machine_that_has_all_is_left_alone(self):
        self.machine.add("cc").with_rust().with_python()
        code, said, calls, cargo = self.machine.prepare("build", "python", "checks")
        self.assertEqual((code, said, calls), (0, "", []))
        self.assertEqual(cargo, str(self.machine.bin / "cargo"))

    def test_the_base_system_gets_everything_after_one_line(self):
        curl, chmod = self.machine.bin / "curl", shutil.which("chmod")
        makes = f'printf "#!/bin/sh\\necho curl \\"\\$*\\" >>{self.machine.log}" >{curl}; {chmod} +x {curl}'
        self.machine.add("apt-get", f'case "$1" in install) {makes};; esac')
        code, said, calls, cargo = self.machine.prepare("build", "python")
        self.assertEqual(code, 0, said)
        packages = "gcc libc6-dev curl ca-certificates python3 python3-venv"
        first, *_ = said.splitlines()
        self.assertEqual(first, f"Installing what is missing: {packages}; Rust, by rustup, for this user")
        self.assertEqual(calls[:2], ["apt-get update -q", f"apt-get install -qy --no-install-recommends {packages}"])
        self.assertTrue(calls[2].startswith("curl --proto =https --tlsv1.2 -sSf https://static.rust-lang.org/rustup/rustup-init.sh -o "), calls)
        self.assertTrue(calls[3].endswith(" -y -q --profile minimal --no-modify-path"), calls)
        self.assertEqual(cargo, str(self.machine.home / ".cargo/bin/cargo"))

    def test_rust_that_is_not_on_the_path_is_found(self):
        self.machine.add("cc").with_rust()
        home = self.machine.home / ".cargo/bin"
        home.mkdir(parents=True)
        shutil.move(self.machine.bin / "cargo", home / "cargo")
        self.assertEqual(self.machine.prepare("build"), (0, "", [], str(home / "cargo")))

    def test_others_than_root_use_sudo(self):
        self.machine.add("apt-get", noted=False).add("id", "echo 1000", noted=False).add("sudo").with_rust()
        code, _, calls, _ = self.machine.prepare("build")
        installs = "sudo -n apt-get install -qy --no-install-recommends gcc libc6-dev"
        self.assertEqual((code, calls), (0, ["sudo -n true", "sudo -n apt-get update -q", installs]))

    def stops(self, remedy, *parts):
        code, said, calls, _ = self.machine.prepare(*parts)
        self.assertEqual(code, 1)
        self.assertIn(remedy, said)
        return calls

    def test_without_the_rights_of_root_it_says_what_to_install(self):
        self.machine.add("apt-get").add("id", "echo 1000", noted=False).with_rust()
        self.assertEqual(self.stops("Run `apt-get install gcc libc6-dev` as root", "build"), [])
        self.machine.add("sudo", "exit 1", noted=False)  # asks for a password
        self.assertEqual(self.stops("Run `apt-get install gcc libc6-dev` as root", "build"), [])

    def test_on_another_system_it_says_what_to_install(self):
        self.machine.with_rust().with_python(bare=1)
        self.stops("Install what Debian calls gcc libc6-dev python3-venv with this", "build", "python")

    def test_without_a_network_it_says_what_failed(self):
        self.machine.add("apt-get", "exit 100").with_rust()
        self.stops("apt-get failed.", "build")
        self.machine.add("cc").add("curl", "exit 6")
        (self.machine.bin / "cargo").unlink()
        self.stops("Rust could not be installed.", "build")

    def test_what_is_too_old_is_not_replaced(self):
        self.machine.add("cc").with_rust(minor=63)
        self.assertEqual(self.stops("Run `rustup update stable`.", "build"), [])
        self.machine.with_rust().with_python(old=1)
        self.assertEqual(self.stops("Esker needs Python 3.11 or later", "build", "python"), [])

    def test_components_of_rust_are_added(self):
        self.machine.add("cc").add("cargo", CARGO.format(minor=999).replace("esac", "clippy) exit 1;; esac"), noted=False)
        self.stops("Rust lacks clippy.", "build", "checks")
        self.machine.add("rustup")
        code, said, calls, _ = self.machine.prepare("build", "checks")
        self.assertEqual((code, calls), (0, ["rustup component add clippy"]))
        self.assertEqual(said, "Installing what is missing: of Rust: clippy\n")


if __name__ == "__main__":
    unittest.main()
