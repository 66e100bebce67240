//! `cargo xtask dist`: a program and a wheel that need no build, checked where nothing can be built.
//!
//! The program is one file: the C library is linked into it. The wheel serves Python from 3.11 on, and gets
//! the tag of the oldest `manylinux` that the symbols of this machine's C library allow. The check makes a
//! small tree of Debian without compilers, and runs the example of the README and a PageRank in Python with
//! that tree as the root directory and without a network.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where the results go.
const OUT: &str = "target/dist";
const PARTS: [&str; 3] = ["program", "wheel", "check"];
/// The sizes to stay below, in megabytes.
const PROGRAM_MB: f64 = 21.0;
const WHEEL_MB: f64 = 12.0;
/// Links the C library into the program, and packs the addresses to relocate, which saves 0.8 MB.
const STATIC: &str = "-C target-feature=+crt-static -C link-arg=-Wl,-z,pack-relative-relocs";
/// The package of the example that most others depend on.
const FIRST: &str = "libc6";
/// Ranks the packages of the example in Python.
const RANK: &str =
    "import esker; db = esker.import_('/esker/examples/debian/dependencies.tsv.gz', '/debian.esker')
for package, rank in db.graph().pagerank().top(3): print(package, round(rank, 4))";

/// Makes the given parts, or all if none is given.
#[allow(clippy::print_stdout)]
pub(crate) fn run(root: &Path, parts: &[String]) -> Result<bool, String> {
    if let Some(other) = parts.iter().find(|part| !PARTS.contains(&part.as_str())) {
        return Err(format!("dist has no part {other:?}, but {}", PARTS.join(", ")));
    }
    let wants = |part: &str| parts.is_empty() || parts.iter().any(|wanted| wanted == part);
    let out = root.join(OUT);
    fs::create_dir_all(&out).map_err(|error| at(&out, error))?;
    if wants("program") {
        program(root, &out)?;
    }
    if wants("wheel") {
        wheel(root, &out)?;
    }
    if wants("check") {
        check(root, &out)?;
    }
    println!("\n| file | MB | aim |\n| --- | ---: | --- |");
    for (file, aim) in made(&out)? {
        let megabytes = fs::metadata(&file).map_err(|error| at(&file, error))?.len() as f64 / 1e6;
        let missed = if megabytes > aim { ", missed" } else { "" };
        println!("| `{OUT}/{}` | {megabytes:.1} | {aim:.0}{missed} |", name(&file));
    }
    Ok(true)
}

fn at(path: &Path, error: impl std::fmt::Display) -> String {
    format!("{}: {error}", path.display())
}

fn name(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// What lies in the directory of the results, each with its aim in megabytes.
fn made(out: &Path) -> Result<Vec<(PathBuf, f64)>, String> {
    let entries = fs::read_dir(out).map_err(|error| at(out, error))?;
    let files = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_file());
    let mut files: Vec<_> = files
        .filter_map(|file| match name(&file) {
            name if name.ends_with(".whl") => Some((file, WHEEL_MB)),
            name if name.starts_with("esker-") => Some((file, PROGRAM_MB)),
            _ => None,
        })
        .collect();
    files.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(files)
}

/// Runs a command to its end, with its progress on standard error; returns what it printed on standard
/// output.
#[allow(clippy::print_stdout)]
fn output(command: &mut Command) -> Result<String, String> {
    println!("== {command:?}");
    let ended = command.stderr(Stdio::inherit()).output();
    let ended = ended.map_err(|error| format!("{}: {error}", command.get_program().to_string_lossy()))?;
    let text = String::from_utf8_lossy(&ended.stdout).into_owned();
    match ended.status.success() {
        true => Ok(text),
        false => Err(format!("{command:?} failed ({}): {text}", ended.status)),
    }
}

/// The triple of this machine, as `rustc -vV` prints it.
fn triple(version: &str) -> Option<&str> {
    version.lines().find_map(|line| line.strip_prefix("host: "))
}

/// Builds the program, with `esker cluster`: one file that needs no library.
fn program(root: &Path, out: &Path) -> Result<(), String> {
    let version = output(Command::new("rustc").arg("-vV"))?;
    let triple = triple(&version).ok_or("rustc -vV names no host")?;
    // With `--target`, the flags do not reach build scripts and macros, which cannot be linked so.
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--profile", "dist", "-p", "esker-cli", "--features", "cluster"]);
    cargo.args(["--target", triple]);
    cargo.current_dir(root);
    output(cargo.env("RUSTFLAGS", STATIC))?;
    let file = out.join(format!("esker-{}-{triple}", env!("CARGO_PKG_VERSION")));
    let built = root.join("target").join(triple).join("dist/esker");
    fs::copy(&built, &file).map_err(|error| at(&built, error))?;
    let libraries = Command::new("ldd").arg(&file).output().map_err(|error| format!("ldd: {error}"))?;
    let libraries = [libraries.stdout, libraries.stderr].concat();
    let libraries = String::from_utf8_lossy(&libraries);
    match is_static(&libraries) {
        true => Ok(()),
        false => Err(format!("{} needs libraries:\n{libraries}", file.display())),
    }
}

/// Whether `ldd` finds that a file needs no library.
fn is_static(printed: &str) -> bool {
    ["statically linked", "not a dynamic executable"].iter().any(|words| printed.contains(words))
}

/// Builds the wheel.
fn wheel(root: &Path, out: &Path) -> Result<(), String> {
    let tools = tools(out)?;
    output(Command::new(tools.join("pip")).args(["install", "--quiet", "maturin>=1.9,<2"]))?;
    for old in wheels(out)? {
        fs::remove_file(&old).map_err(|error| at(&old, error))?;
    }
    let mut maturin = Command::new(tools.join("maturin"));
    maturin.args(["build", "--profile", "dist", "--locked", "--out"]).arg(out);
    output(maturin.current_dir(root))?;
    let file = the_wheel(out)?;
    match name(&file).contains("-abi3-manylinux_") {
        true => Ok(()),
        false => Err(format!("{} does not serve every Linux and every later Python", name(&file))),
    }
}

fn wheels(out: &Path) -> Result<Vec<PathBuf>, String> {
    let files = made(out)?.into_iter().map(|(file, _)| file);
    Ok(files.filter(|file| file.extension().is_some_and(|extension| extension == "whl")).collect())
}

fn the_wheel(out: &Path) -> Result<PathBuf, String> {
    match &wheels(out)?[..] {
        [file] => Ok(file.clone()),
        other => Err(format!("{OUT} holds {} wheels: make one with cargo xtask dist wheel", other.len())),
    }
}

/// The programs of a virtual environment of Python, made if it is missing.
fn tools(out: &Path) -> Result<PathBuf, String> {
    let bin = out.join("tools/bin");
    if !bin.join("pip").exists() {
        output(Command::new("python3").args(["-m", "venv", "--clear"]).arg(out.join("tools")))?;
    }
    Ok(bin)
}

/// Runs program and wheel with a fresh tree of Debian as the root directory.
#[allow(clippy::print_stdout)]
fn check(root: &Path, out: &Path) -> Result<(), String> {
    let is_program = |(file, _): &(PathBuf, f64)| !name(file).ends_with(".whl");
    let (program, _) = made(out)?
        .into_iter()
        .find(is_program)
        .ok_or_else(|| format!("{OUT} holds no program: make it with cargo xtask dist program"))?;
    let wheel = the_wheel(out)?;
    let bare = Bare::make(&out.join("root"))?;
    let tried = try_program(&bare, root, &program).and_then(|ranks| {
        print!("{ranks}");
        expect_first(&ranks)?;
        let ranks = try_wheel(&bare, out, &wheel)?;
        print!("{ranks}");
        expect_first(&ranks)
    });
    bare.remove()?;
    tried
}

/// Runs the example of the README.
fn try_program(bare: &Bare, root: &Path, program: &Path) -> Result<String, String> {
    bare.copy(program, "/usr/local/bin/esker")?;
    bare.copy(&root.join("examples"), "/esker/examples")?;
    bare.run(&["env", "ESKER=/usr/local/bin/esker", "/esker/examples/debian/rank.sh"])
}

/// Installs the wheel and what it depends on, all brought along as files, and runs a PageRank.
fn try_wheel(bare: &Bare, out: &Path, wheel: &Path) -> Result<String, String> {
    let version = bare.run(&["python3", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"])?;
    let needed = out.join("needed");
    if needed.exists() {
        fs::remove_dir_all(&needed).map_err(|error| at(&needed, error))?;
    }
    let mut pip = Command::new(tools(out)?.join("pip"));
    pip.args(["download", "--quiet", "--only-binary", ":all:", "--python-version", version.trim(), "--dest"]);
    output(pip.arg(&needed).arg(wheel))?;
    bare.copy(&needed, "/wheels")?;
    bare.run(&["python3", "-m", "venv", "/python"])?;
    bare.run(&["/python/bin/pip", "install", "--quiet", "--no-index", "--find-links", "/wheels", "esker"])?;
    bare.run(&["/python/bin/python", "-c", RANK])
}

fn expect_first(ranks: &str) -> Result<(), String> {
    match ranks.contains(FIRST) {
        true => Ok(()),
        false => Err(format!("{FIRST} is not among the first:\n{ranks}")),
    }
}

/// A small tree of Debian: the essential packages and Python, and no compiler.
struct Bare {
    tree: PathBuf,
    /// What runs a command as the administrator, whom `debootstrap` and `chroot` need.
    administrator: &'static [&'static str],
}

impl Bare {
    fn make(tree: &Path) -> Result<Self, String> {
        let user = output(Command::new("id").arg("-u"))?;
        let administrator: &[&str] = if user.trim() == "0" { &["env"] } else { &["sudo"] };
        let bare = Self { tree: tree.to_owned(), administrator };
        bare.remove()?;
        let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
        let mut make = bare.administrator(&[
            "debootstrap",
            "--variant=minbase",
            "--include=python3-venv",
            codename(&release),
        ]);
        let made = output(make.arg(tree).stdout(Stdio::null()));
        made.map_err(|error| format!("{error}\nThe check needs debootstrap: apt-get install debootstrap"))?;
        let compilers = "! command -v cc gcc clang rustc cargo";
        bare.run(&["sh", "-c", compilers]).map_err(|_| "the tree of Debian holds a compiler".to_owned())?;
        Ok(bare)
    }

    fn administrator(&self, words: &[&str]) -> Command {
        let mut command = Command::new(self.administrator[0]);
        command.args(&self.administrator[1..]).args(words);
        command
    }

    /// Copies a file or a directory to a path in the tree.
    fn copy(&self, from: &Path, to: &str) -> Result<(), String> {
        let to = self.tree.join(to.trim_start_matches('/'));
        let parent = to.parent().unwrap_or(&self.tree);
        output(self.administrator(&["mkdir", "-p"]).arg(parent))?;
        output(self.administrator(&["cp", "-r"]).arg(from).arg(to)).map(drop)
    }

    /// Runs a command with the tree as its root directory, without variables of this machine and without a
    /// network.
    fn run(&self, words: &[&str]) -> Result<String, String> {
        let mut command = self.administrator(&["unshare", "--net", "chroot"]);
        command.arg(&self.tree).args(["env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8"]);
        output(command.args(words))
    }

    fn remove(&self) -> Result<(), String> {
        output(self.administrator(&["rm", "-rf", "--one-file-system"]).arg(&self.tree)).map(drop)
    }
}

/// The name of the release of Debian that runs here; the stable one elsewhere.
fn codename(release: &str) -> &str {
    let value = |key: &str| release.lines().find_map(|line| line.strip_prefix(key));
    match value("ID=") {
        Some("debian") => value("VERSION_CODENAME=").unwrap_or("stable"),
        _ => "stable",
    }
}

#[cfg(test)]
mod tests {
    use super::{codename, expect_first, is_static, run, triple};

    #[test]
    fn what_tools_print_is_understood() {
        assert_eq!(
            triple("rustc 1.95.0\nbinary: rustc\nhost: x86_64-unknown-linux-gnu\n"),
            Some("x86_64-unknown-linux-gnu")
        );
        assert!(is_static("\tstatically linked\n") && is_static("not a dynamic executable"));
        assert!(!is_static("\tlinux-vdso.so.1\n\tlibc.so.6 => /lib/libc.so.6\n"));
        assert!(expect_first("vertex rank\nlibc6 0.1\n").is_ok() && expect_first("perl 0.1").is_err());
        assert_eq!(codename("PRETTY_NAME=\"x\"\nVERSION_CODENAME=trixie\nID=debian\n"), "trixie");
        assert_eq!(codename("VERSION_CODENAME=noble\nID=ubuntu\n"), "stable");
    }

    #[test]
    fn an_unknown_part_is_refused_before_anything_is_built() {
        let refused = run(std::path::Path::new("/nowhere"), &["program".to_owned(), "image".to_owned()]);
        assert_eq!(refused.unwrap_err(), "dist has no part \"image\", but program, wheel, check");
    }
}
