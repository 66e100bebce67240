# Installs what Esker needs and the machine lacks, after one line that says so. Where it cannot, it says what to
# do, and fails. Other scripts read this file, at the root of the repository, since a new `cargo` goes on their path:
#
#     . scripts/prepare.sh
#     prepare build                   # a linker and Rust
#     prepare build python checks     # also Python with venv; rustfmt and clippy
#     prepare browser                 # Chromium, for the test of the page
#
# tests/prepare tests it.
# shellcheck shell=sh

prepare() {
    prepare_packages=
    prepare_rust=
    prepare_components=
    prepare_cargo_home=${CARGO_HOME:-${HOME:-}/.cargo}
    if [ -x "$prepare_cargo_home/bin/cargo" ]; then
        PATH=$prepare_cargo_home/bin:$PATH
    fi
    for prepare_part; do
        "prepare_find_$prepare_part" || return 1
    done
    prepare_say
    prepare_install_packages && prepare_install_rust && prepare_install_components
}

prepare_find_build() {
    command -v cc >/dev/null || prepare_packages="$prepare_packages gcc libc6-dev"
    if command -v cargo >/dev/null; then
        prepare_expect_rust
        return
    fi
    prepare_rust=yes
    command -v curl >/dev/null || prepare_packages="$prepare_packages curl ca-certificates"
}

# Fails if Rust is older than the workspace says.
prepare_expect_rust() {
    prepare_wanted=$(sed -n 's/^rust-version = "1\.\([0-9]*\).*/\1/p' Cargo.toml)
    prepare_found=$(cargo --version | sed -n 's/^cargo 1\.\([0-9]*\).*/\1/p')
    if [ "${prepare_found:-0}" -lt "$prepare_wanted" ]; then
        prepare_stop "Esker needs Rust 1.$prepare_wanted or later, and $(command -v cargo) is older." \
            "Run \`rustup update stable\`. If the package manager installed Rust, remove it and run this again."
    fi
}

prepare_find_python() {
    if ! command -v python3 >/dev/null; then
        prepare_packages="$prepare_packages python3 python3-venv"
    elif ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
        prepare_stop "Esker needs Python 3.11 or later, and $(command -v python3) is older." \
            "Install a later one, and put it on the path as python3."
    elif ! python3 -c 'import ensurepip' 2>/dev/null; then
        prepare_packages="$prepare_packages python3-venv"
    fi
}

prepare_find_checks() {
    for prepare_tool in fmt:rustfmt clippy:clippy; do
        cargo "${prepare_tool%:*}" --version >/dev/null 2>&1 || prepare_components="$prepare_components ${prepare_tool#*:}"
    done
}

prepare_find_browser() {
    command -v chromium >/dev/null || prepare_packages="$prepare_packages chromium"
}

prepare_say() {
    prepare_list=${prepare_packages# }
    if [ -n "$prepare_rust" ]; then
        prepare_list="${prepare_list:+$prepare_list; }Rust, by rustup, for this user"
    fi
    if [ -n "$prepare_components" ]; then
        prepare_list="${prepare_list:+$prepare_list; }of Rust:$prepare_components"
    fi
    if [ -n "$prepare_list" ]; then
        echo "Installing what is missing: $prepare_list" >&2
    fi
}

prepare_install_packages() {
    [ -n "$prepare_packages" ] || return 0
    prepare_as_root=
    if ! command -v apt-get >/dev/null; then
        prepare_stop "There is no apt-get here." \
            "Install what Debian calls$prepare_packages with this system's package manager, and run this again."
        return
    elif [ "$(id -u)" != 0 ]; then
        prepare_as_root=sudo
        # Without a terminal nobody can type the password.
        [ -t 0 ] || prepare_as_root='sudo -n'
        if ! command -v sudo >/dev/null || ! $prepare_as_root true; then
            prepare_stop "Packages can only be installed as root." \
                "Run \`apt-get install$prepare_packages\` as root, and then this again."
            return
        fi
    fi
    # The lists of packages may be older than what the servers have.
    # shellcheck disable=SC2086 # several words
    $prepare_as_root apt-get update -q &&
        $prepare_as_root apt-get install -qy --no-install-recommends $prepare_packages ||
        prepare_stop "apt-get failed." "Install$prepare_packages, and run this again."
}

prepare_install_rust() {
    [ -n "$prepare_rust" ] || return 0
    prepare_script=$(mktemp)
    # The host from which the script downloads Rust.
    if curl --proto '=https' --tlsv1.2 -sSf https://static.rust-lang.org/rustup/rustup-init.sh -o "$prepare_script" &&
        sh "$prepare_script" -y -q --profile minimal --no-modify-path; then
        rm -f "$prepare_script"
        PATH=$prepare_cargo_home/bin:$PATH
        echo "Rust is in $prepare_cargo_home/bin; to use it in other shells, put that on the path." >&2
    else
        rm -f "$prepare_script"
        prepare_stop "Rust could not be installed." \
            "Look at https://rustup.rs for other ways; Esker needs what Cargo.toml calls rust-version, or later."
    fi
}

prepare_install_components() {
    [ -n "$prepare_components" ] || return 0
    # shellcheck disable=SC2086 # several words
    rustup component add $prepare_components ||
        prepare_stop "Rust lacks$prepare_components." "Install them as this Rust was installed, and run this again."
}

prepare_stop() {
    printf '%s\n' "$@" >&2
    return 1
}
