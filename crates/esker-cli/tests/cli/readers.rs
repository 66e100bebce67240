//! Reading a database that another process changes, or that is damaged.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use crate::place::Place;

/// A graph without weights, in one layer.
fn graph() -> Place {
    let place = Place::new();
    place.ok("generate kron --scale 10 --seed 1 g.esker");
    place
}

struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn readers_of_every_kind_run_beside_a_compaction() {
    let place = graph();
    let expected = place.json("run wcc g.esker --json")["answers"].clone();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                for encoding in ["tiles", "compressed", "tiles", "plain"] {
                    place.ok(&format!("compact g.esker --encoding {encoding}"));
                }
            }
        });
        // Ends the compactions also when an assertion fails.
        let _end = End(&is_over);
        for options in [
            "",
            "--encoding tiles",
            "--encoding tiles --residency pooled",
            "--residency pooled --encoding lists",
            "--residency headed",
        ] {
            let mut done = 0;
            // The database lacks tiles half of the time.
            for _ in 0..40 {
                let line = format!("run wcc g.esker --json {options}");
                let output = place.run(&line);
                if output.status.success() {
                    done += 1;
                    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
                    assert_eq!(report["answers"], expected, "{line}");
                    if done >= 12 {
                        break;
                    }
                } else {
                    let message = String::from_utf8_lossy(&output.stderr);
                    assert!(message.contains("`esker compact"), "{line}: {message}");
                }
            }
            assert!(done > 0, "{options}");
        }
        for line in [
            "info g.esker",
            "info g.esker --json",
            "check g.esker",
            "log g.esker",
            "export g.esker - --format el",
        ] {
            for _ in 0..12 {
                place.ok(line);
            }
        }
    });
}

#[test]
fn damaged_tiles_are_not_hidden() {
    let place = graph();
    place.ok("compact g.esker --encoding tiles");
    assert!(place.ok("info g.esker").contains("\ntiles "));
    let path = place.path().join("g.esker/layers/1/tiles.data");
    let mut content = std::fs::read(&path).unwrap();
    content[20] ^= 1;
    std::fs::write(&path, &content).unwrap();
    let output = place.run("info g.esker");
    let (said, told) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("UNREADABLE") && said.contains("vertices") && told.contains("tiles.data"),
        "{said}{told}"
    );
    let output = place.run("info g.esker --json");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(!output.status.success() && report["tiles_problem"].as_str().unwrap().contains("tiles.data"));
    // The lists still answer, and the tiles can be made anew.
    place.ok("run wcc g.esker");
    // A plain compaction finds one layer, and nothing to merge.
    assert!(place.ok("compact g.esker").contains("nothing to merge or write: 1 layer"));
    let output = place.run("check g.esker");
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("\nremedy: `esker compact --encoding tiles g.esker` "), "{said}");
    place.ok("compact g.esker --encoding tiles");
    place.ok("info g.esker");
    let sound = place.ok("check g.esker");
    assert!(!sound.contains("remedy"), "{sound}");
    place.ok("compact g.esker --heads 2");
    std::fs::remove_file(place.path().join("g.esker/layers/1/heads.columns")).unwrap();
    let output = place.run("check g.esker --json");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["remedies"], serde_json::json!(["esker compact --heads LENGTH"]), "{report}");
    // Other work is done, and says that heads are still missing.
    assert!(place.ok("compact g.esker").contains("heads: cannot open g.esker/layers/1/heads.columns"));
    std::fs::remove_file(place.path().join("g.esker/layers/1/tiles.data")).unwrap();
    let output = place.run("check g.esker --json");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let both = ["esker compact --encoding tiles", "esker compact --heads LENGTH"];
    assert_eq!(report["remedies"], serde_json::json!(both), "{report}");
    place.ok("compact g.esker --encoding tiles");
    place.ok("compact g.esker --heads 2");
    place.ok("check g.esker");
    // Lists with damage are no source.
    let path = place.path().join("g.esker/layers/1.columns");
    let mut content = std::fs::read(&path).unwrap();
    let middle = content.len() / 2;
    content[middle..middle + 64].iter_mut().for_each(|byte| *byte ^= 1);
    std::fs::write(&path, &content).unwrap();
    std::fs::remove_file(place.path().join("g.esker/layers/1/tiles.data")).unwrap();
    let output = place.run("check g.esker --json");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(report["problems"].as_array().unwrap().len() >= 2, "{report}");
    assert_eq!(report["remedies"], serde_json::json!([]), "{report}");
}

#[test]
fn a_merge_makes_lost_tiles_and_heads_anew() {
    for compact in ["compact t.esker", "compact t.esker --encoding tiles"] {
        let place = Place::new();
        place.ok("generate kron --scale 8 --degree 4 --undirected t.esker --encoding tiles --merge never");
        place.ok("compact t.esker --heads 2");
        place.file("more.el", "1 2\n3 4\n");
        std::fs::remove_file(place.path().join("t.esker/layers/1/heads.columns")).unwrap();
        place.ok("add t.esker more.el --freeze");
        std::fs::remove_file(place.path().join("t.esker/layers/1/tiles.data")).unwrap();
        assert_eq!(place.run("check t.esker").status.code(), Some(1));
        place.ok(compact);
        let sound = place.ok("check t.esker");
        assert!(sound.contains("the tiles of layer ") && sound.contains("the heads of layer "), "{sound}");
    }
}

#[test]
fn exchanged_files_of_large_columns_are_an_error() {
    let place = Place::new();
    let mut text = "source,target,a,b\n".to_owned();
    (0..140_000).for_each(|row| text += &format!("{},{},{row}.1,{}.1\n", row % 400, row / 400, 7 * row));
    place.file("large.csv", &text);
    place.ok("import large.csv g.esker --property all");
    let column = |name: &str| place.path().join("g.esker/layers/1").join(name);
    let (first, second, spare) = (column("out.property.0"), column("out.property.1"), column("spare"));
    std::fs::rename(&first, &spare).unwrap();
    std::fs::rename(&second, &first).unwrap();
    std::fs::rename(&spare, &second).unwrap();
    for line in ["check g.esker", "export g.esker - --format csv", "run sssp g.esker --source 1 --weight a"] {
        place.fails(
            1,
            line,
            "layers/1/out.property.0 is damaged at byte 0: it was written for another layer, or under",
        );
    }
}

#[test]
fn a_layer_in_the_place_of_another_is_an_error() {
    let place = Place::new();
    place.file("a.csv", "source,target,weight\n1,2,5\n2,3,6\n3,1,7\n");
    place.ok("import a.csv a.esker");
    for (name, weights) in [("b.csv", [50, 60]), ("c.csv", [500, 600])] {
        let [first, second] = weights;
        place.file(name, &format!("source,target,weight\n1,2,{first}\n2,3,{second}\n"));
        place.ok(&format!("add a.esker {name} --freeze"));
    }
    let layer = |number: u32| place.path().join(format!("a.esker/layers/{number}.columns"));
    std::fs::copy(layer(2), layer(3)).unwrap();
    for line in ["check a.esker", "export a.esker - --format csv", "run wcc a.esker"] {
        place.fails(1, line, "layers/3.columns is damaged at byte 0: it was written under another name");
    }
}
