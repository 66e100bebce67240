//! Databases that earlier formats left.

use std::path::Path;

use crate::place::Place;

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// No earlier format was released, so nothing but a new import is offered.
#[test]
fn a_database_of_an_earlier_format_is_refused_in_one_sentence() {
    let place = Place::new();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/databases/format-4");
    copy(&from, &place.path().join("old.esker"));
    for command in ["info old.esker", "run wcc old.esker -o -", "check old.esker", "recover old.esker"] {
        place.fails(1, command, "written by an Esker before its first release");
        place.fails(1, command, "import the graph again");
    }
}
