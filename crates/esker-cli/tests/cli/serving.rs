//! `esker serve`: what the command does beside answering.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::place::Place;

/// All users of a machine see the arguments of programs.
#[test]
fn the_program_that_opens_the_link_is_not_told_the_token() {
    let place = Place::new();
    place.file("a.csv", "from,to\na,b\n");
    place.ok("import a.csv g.esker");
    place.file(
        "xdg-open",
        "#!/bin/sh\nls -l \"$1\" > told.part\ncat \"$1\" >> told.part\nmv told.part told\n",
    );
    let shim = place.path().join("xdg-open");
    std::fs::set_permissions(&shim, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = place.command("serve g.esker --open");
    let path = format!("{}:{}", place.path().display(), std::env::var("PATH").unwrap());
    let mut child =
        command.env("PATH", path).env("TMPDIR", place.path()).stdout(Stdio::piped()).spawn().unwrap();
    let mut link = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut link).unwrap();
    let told = place.path().join("told");
    let begin = Instant::now();
    while !told.exists() && begin.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let told = std::fs::read_to_string(told).unwrap();
    let (argument, page) = told.split_once('\n').unwrap();
    let token = link.trim().split_once("#token=").unwrap().1;
    assert!(argument.starts_with("-rw-------") && !argument.contains(token), "{argument}");
    assert!(page.contains(link.trim()), "{page}");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    child.wait().unwrap();
    let left = std::fs::read_dir(place.path())
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok());
    assert_eq!(left.filter(|name| name.ends_with(".html")).count(), 0);
}
