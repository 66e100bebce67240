# Makes environments of Python for tests. Other scripts read this file, at the root of the repository:
#
#     . scripts/environment.sh
#     environment target/python python/tests/requirements.txt
#
# shellcheck shell=bash

# Makes an environment in a folder with the packages that a file lists, unless it is there. Of several that want it
# at the same time, one makes it, and the others wait.
environment() {
    mkdir -p "$(dirname "$1")"
    (
        flock 9
        cmp --silent "$2" "$1/installed.txt" && exit
        rm -rf "$1" && python3 -m venv "$1" &&
            "$1/bin/pip" install --quiet --disable-pip-version-check --requirement "$2" &&
            cp "$2" "$1/installed.txt"
    ) 9>"$1.lock"
}
