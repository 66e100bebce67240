//! Compares every version after random commits, freezes, merges, tags and reopenings with a model.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use esker_format::io::{Disk, FaultyDisk};
use esker_format::{ElementType, Encoding, IdMapKind, Retention};
use esker_graph::random::Random;
use esker_graph::{Budget, Run, RunOptions};
use esker_layers::property::PropertyValue;
use proptest::prelude::*;

use crate::commit::{CommitOptions, EdgeMatch};

use crate::database::testing::model::{
    DB, DatabaseModel, ModelChange, NO_WEIGHT, commit, leave_out_removed, normal, read, verify, verify_points,
};
use crate::database::{CompactOptions, Database, DatabaseOptions, OwnedValue, Renumber, Tiling};
use crate::manifest::strays;
use crate::sample::Sample;

#[derive(Debug, Clone)]
enum Action {
    Commit(Vec<ModelChange>),
    Freeze,
    Merge,
    Compact(Option<Encoding>, Renumber),
    Reopen,
    Tag,
    /// Forgets the version this many before the newest.
    Forget(usize),
}

fn change(n: u64) -> impl Strategy<Value = ModelChange> {
    let id = move || (0..n * 3 / 2 + 2).prop_map(move |x| x * x / (n * 3 / 2 + 2));
    prop_oneof![
        6 => (id(), id(), prop_oneof![4 => 0..4_i32, 1 => Just(NO_WEIGHT)], 0..6_u8).prop_map(|(u, v, weight, kind)| ModelChange::Add(u, v, weight, kind)),
        3 => (id(), id()).prop_map(|(u, v)| ModelChange::Remove(u, v)),
        1 => (0..n * 2).prop_map(ModelChange::AddVertex),
        1 => id().prop_map(ModelChange::RemoveVertex),
        1 => (id(), prop::option::of(-3..3_i64)).prop_map(|(v, age)| ModelChange::Age(v, age)),
        1 => (id(), prop::option::of("[a-c]{0,2}")).prop_map(|(v, name)| ModelChange::Name(v, name)),
    ]
}

fn action(n: u64) -> impl Strategy<Value = Action> {
    prop_oneof![
        6 => prop::collection::vec(change(n), 0..20).prop_map(Action::Commit),
        3 => Just(Action::Freeze),
        1 => Just(Action::Merge),
        1 => prop::sample::select(vec![None, Some(Encoding::Plain), Some(Encoding::Compressed), Some(Encoding::Tiles)])
            .prop_flat_map(|lists| prop::sample::select(vec![Renumber::Always, Renumber::Never])
                .prop_map(move |renumber| Action::Compact(lists, renumber))),
        1 => Just(Action::Reopen),
        1 => Just(Action::Tag),
        2 => prop_oneof![2 => Just(0), 1 => 0_usize..5].prop_map(Action::Forget),
    ]
}

const RENUMBERING: CompactOptions =
    CompactOptions { lists: None, tiles: Tiling::Keep, heads: None, renumber: Renumber::Always };

/// Compacts, and expects as many vertices to be left out as no version of the model has.
fn compact(db: &Database, lists: Option<Encoding>, renumber: Renumber, model: &mut DatabaseModel, run: &Run) {
    let numbers = || db.latest().unwrap().num_vertices() as u64;
    let before = numbers();
    let options = CompactOptions { lists, renumber, ..CompactOptions::default() };
    let report = db.compact_with(options, run).unwrap();
    assert_eq!(numbers(), before - report.vertices_left_out);
    if renumber == Renumber::Always {
        leave_out_removed(model.versions.values_mut());
        let left: BTreeSet<u64> =
            model.versions.values().flat_map(|version| version.vertices.iter().copied()).collect();
        assert_eq!(numbers(), left.len() as u64);
    } else {
        assert_eq!(report.vertices_left_out, 0);
    }
}

fn options() -> DatabaseOptions {
    DatabaseOptions { threads: 2, ..DatabaseOptions::default() }
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 300, ..esker_format::testing::cases(48) })]
    #[test]
    fn every_version_matches_the_model(
        (n, actions) in (2_u64..24).prop_flat_map(|n| (Just(n), prop::collection::vec(action(n), 1..16))),
        edges in 0_usize..60, directed: bool, texts: bool, seed: u32,
    ) {
        let disk = FaultyDisk::new(u64::from(seed));
        let shared: Arc<dyn Disk> = Arc::new(disk.clone());
        let mut sample = Sample::random(n as usize, edges, directed, seed);
        sample.ids = if texts { IdMapKind::Texts } else { IdMapKind::Identity };
        sample.write(&shared, Path::new(DB), false).unwrap();
        let run = Run::with_threads(2).unwrap();
        let mut model = DatabaseModel::of(&sample);
        let mut db = Database::open_on(Arc::clone(&shared), Path::new(DB), options()).unwrap();
        for action in &actions {
            match action {
                Action::Commit(changes) => {
                    model.commit(changes);
                    let version = commit(&db, changes).unwrap();
                    prop_assert_eq!(version, model.newest().0);
                }
                Action::Freeze => drop(db.freeze(&run).unwrap()),
                Action::Merge => drop(db.merge(&run).unwrap()),
                Action::Compact(lists, renumber) => compact(&db, *lists, *renumber, &mut model, &run),
                Action::Reopen => {
                    db.close().unwrap();
                    db = Database::open_on(Arc::clone(&shared), Path::new(DB), options()).unwrap();
                }
                Action::Tag => db.tag("here", model.newest().0).unwrap(),
                Action::Forget(back) => {
                    let number = *model.versions.keys().nth_back(back % model.versions.len()).unwrap();
                    let tagged = db.manifest().tags.get("here") == Some(&number);
                    let outcome = db.forget(number);
                    prop_assert_eq!(outcome.is_err(), tagged || model.versions.len() == 1);
                    if outcome.is_ok() {
                        model.versions.remove(&number);
                    }
                }
            }
            verify_points(&db, model.newest().1, directed);
        }
        verify(&db, &model, &run);
        db.freeze(&run).unwrap();
        verify(&db, &model, &run);
        let (&oldest, expected) = model.versions.first_key_value().unwrap();
        let pinned = db.at(oldest).unwrap();
        let expected = expected.clone();
        compact(&db, None, Renumber::Always, &mut model, &run);
        prop_assert_eq!(db.manifest().layers.len(), 1);
        prop_assert_eq!(normal(&read(&pinned, &run).unwrap()), normal(&expected));
        verify(&db, &model, &run);
        // All forgotten versions and removed vertices are gone, so compacting again changes nothing.
        let number = db.manifest().layers[0].number;
        let report = db.compact_with(RENUMBERING, &run).unwrap();
        prop_assert_eq!((report.bytes, report.vertices_left_out), (report.bytes_before, 0));
        prop_assert_eq!(db.manifest().layers[0].number, number);
        // Changing the encoding keeps the content; compacting to the same encoding again does nothing.
        let other = match db.manifest().layers[0].encoding {
            Encoding::Plain => Encoding::Compressed,
            Encoding::Compressed => Encoding::Tiles,
            Encoding::Tiles => Encoding::Plain,
        };
        db.compact_to(Some(other), &run).unwrap();
        let number = db.manifest().layers[0].number;
        db.compact_to(Some(other), &run).unwrap();
        prop_assert_eq!((db.manifest().layers[0].encoding, db.manifest().layers[0].number), (other, number));
        verify(&db, &model, &run);
        db.close().unwrap();
        let db = Database::open_on(Arc::clone(&shared), Path::new(DB), options()).unwrap();
        verify(&db, &model, &run);
    }
}

#[test]
fn a_durable_commit_that_cannot_be_made_visible_is_neither_lost_nor_half_visible() {
    // The database once removed the commit from the queue before applying it, and applied later commits
    // without it.
    let disk: Arc<dyn Disk> = Arc::new(FaultyDisk::new(1));
    let mut sample = Sample::random(4, 6, true, 1);
    sample.ids = IdMapKind::Identity;
    sample.write(&disk, Path::new(DB), false).unwrap();
    let mut model = DatabaseModel::of(&sample);
    let open = || Database::open_on(Arc::clone(&disk), Path::new(DB), options()).unwrap();
    let db = open();
    let shown = [ModelChange::Add(1, 9, 1, 1), ModelChange::Age(2, Some(5))];
    commit(&db, &shown).unwrap();
    model.commit(&shown);
    db.core.run.cancel().cancel();
    let others = [ModelChange::Add(9, 2, 2, 2), ModelChange::Remove(1, 9)];
    for _ in 0..2 {
        assert!(commit(&db, &others).is_err());
        assert_eq!(db.core.pending.lock().len(), 1, "the first commit must wait; the second must be refused");
        assert_eq!(db.versions().len(), 2);
        verify_points(&db, model.newest().1, true);
    }
    drop(db);
    // The first of the failed commits was durable.
    model.commit(&others);
    let db = open();
    verify(&db, &model, &Run::with_threads(1).unwrap());
}

#[test]
fn a_batch_so_large_that_its_ids_are_looked_up_together_changes_what_a_model_says() {
    for ids in [IdMapKind::Identity, IdMapKind::Texts] {
        let disk: Arc<dyn Disk> = Arc::new(FaultyDisk::new(1));
        let mut sample = Sample::random(400, 900, true, 3);
        sample.ids = ids;
        sample.write(&disk, Path::new(DB), false).unwrap();
        let (mut model, run) = (DatabaseModel::of(&sample), Run::with_threads(2).unwrap());
        let db = Database::open_on(disk, Path::new(DB), options()).unwrap();
        let mut random = Random::new(7);
        // The second batch meets ids of layers and of the log, new ones and removed ones.
        for num_changes in [100, 20_000] {
            let changes: Vec<_> = (0..num_changes).map(|_| ModelChange::random(600, &mut random)).collect();
            model.commit(&changes);
            commit(&db, &changes).unwrap();
        }
        verify(&db, &model, &run);
    }
}

#[test]
fn a_large_batch_of_additions_gives_each_new_id_one_vertex() {
    for ids in [IdMapKind::Identity, IdMapKind::Texts] {
        let disk: Arc<dyn Disk> = Arc::new(FaultyDisk::new(1));
        let mut sample = Sample::random(20, 40, true, 3);
        sample.ids = ids;
        sample.write(&disk, Path::new(DB), false).unwrap();
        let (mut model, run) = (DatabaseModel::of(&sample), Run::with_threads(2).unwrap());
        let db = Database::open_on(disk, Path::new(DB), options()).unwrap();
        let mut random = Random::new(7);
        // New ids come several times, near and far from each other; the second batch meets ids of layers and
        // of the log.
        for num_ids in [200, 300] {
            let mut id = || random.index(num_ids) as u64;
            let changes: Vec<_> = (0..12_000)
                .map(|index| match index % 4 {
                    3 => ModelChange::AddVertex(id()),
                    _ => ModelChange::Add(id(), id(), 1, 1),
                })
                .collect();
            model.commit(&changes);
            commit(&db, &changes).unwrap();
        }
        verify(&db, &model, &run);
    }
}

#[test]
fn add_edge_property_keeps_all_versions_and_refuses_old_batches() {
    let disk: Arc<dyn Disk> = Arc::new(FaultyDisk::new(1));
    let mut sample = Sample::random(6, 20, true, 3);
    sample.ids = IdMapKind::Identity;
    sample.write(&disk, Path::new(DB), false).unwrap();
    let run = Run::with_threads(2).unwrap();
    let mut model = DatabaseModel::of(&sample);
    let mut db = Database::open_on(Arc::clone(&disk), Path::new(DB), options()).unwrap();
    let mut commit_and_verify = |db: &Database, changes: &[ModelChange]| {
        model.commit(changes);
        commit(db, changes).unwrap();
        verify(db, &model, &run);
    };
    commit_and_verify(&db, &[ModelChange::Add(1, 9, 1, 1), ModelChange::Remove(0, 1)]);
    db.freeze(&run).unwrap();
    commit_and_verify(&db, &[ModelChange::Add(9, 1, 2, 5)]);
    let (stale, pinned) = (db.batch(), db.at(2).unwrap());
    db.add_edge_property("since", Some(ElementType::I64), false, &run).unwrap();
    db.add_edge_property("note", None, false, &run).unwrap();
    let message = db.commit(stale, "").unwrap_err().to_string();
    assert!(message.contains("has 2 edge properties, but edges now have 4"), "{message}");
    assert_eq!((pinned.edge_properties().count(), db.at(2).unwrap().edge_properties().count()), (2, 4));
    for (name, weight) in [("since", false), ("kind", false), ("", false), ("other", true)] {
        assert!(db.add_edge_property(name, Some(ElementType::F32), weight, &run).is_err());
    }
    commit_and_verify(&db, &[ModelChange::Add(1, 9, 3, 1), ModelChange::Add(2, 9, 1, 2)]);
    let bits = |db: &Database, u: u64, v: u64| {
        let vertex = |id: u64| db.vertex_of(id.into()).unwrap().unwrap();
        let mut found: Vec<_> = db
            .edge_bits(vertex(u), vertex(v))
            .unwrap()
            .iter()
            .map(|bits| (bits[0], bits[2], bits[3]))
            .collect();
        found.sort_unstable();
        found
    };
    let expected = [(1, 0, 0), (3, 7, 1)];
    assert_eq!(bits(&db, 1, 9), expected);
    db.freeze(&run).unwrap();
    assert_eq!(bits(&db, 1, 9), expected);
    commit_and_verify(&db, &[ModelChange::Remove(2, 9), ModelChange::Add(3, 3, 4, 0)]);
    db.close().unwrap();
    db = Database::open_on(Arc::clone(&disk), Path::new(DB), options()).unwrap();
    commit_and_verify(&db, &[ModelChange::Add(3, 3, 5, 0)]);
    db.compact(&run).unwrap();
    assert_eq!(bits(&db, 1, 9), expected);
    commit_and_verify(&db, &[ModelChange::RemoveVertex(9)]);
    db.forget(db.versions().last().unwrap().number).unwrap();
    assert_eq!(bits(&db, 1, 9), expected);
}

#[test]
fn opening_for_writing_removes_what_killed_imports_left() {
    let disk = FaultyDisk::new(0);
    let shared = || -> Arc<dyn Disk> { Arc::new(disk.clone()) };
    Sample::random(5, 8, true, 1).write(&shared(), Path::new(DB), false).unwrap();
    for name in [
        ".web.esker.staging-0123456789abcdef",
        ".web.esker.staging-mine",
        ".other.esker.staging-0123456789abcdef",
    ] {
        disk.create_directory(&Path::new(".").join(name)).unwrap();
    }
    let live = crate::manifest::Staging::begin(
        shared(),
        Path::new("web2.esker"),
        crate::manifest::StagingOptions::default(),
    )
    .unwrap();
    assert_eq!(disk.list(Path::new(".")).unwrap().len(), 5);
    drop(Database::open_on(shared(), Path::new(DB), DatabaseOptions::default()).unwrap());
    let left: Vec<String> = disk.list(Path::new(".")).unwrap().into_iter().map(|entry| entry.name).collect();
    assert!(!left.contains(&".web.esker.staging-0123456789abcdef".to_owned()) && left.len() == 4, "{left:?}");
    drop(live);
}

/// A database of eight vertices with texts as ids, of which 3 is removed in all versions, and 4 in those from
/// the third on.
fn with_removed_vertices(disk: &Arc<dyn Disk>) -> (Database, DatabaseModel) {
    let sample = Sample { ids: IdMapKind::Texts, ..Sample::random(8, 30, true, 2) };
    sample.write(disk, Path::new(DB), false).unwrap();
    let (mut model, db) =
        (DatabaseModel::of(&sample), Database::open_on(Arc::clone(disk), Path::new(DB), options()).unwrap());
    for removed in [3, 4] {
        let changes = [ModelChange::Age(removed, Some(7)), ModelChange::RemoveVertex(removed)];
        model.commit(&changes);
        commit(&db, &changes).unwrap();
    }
    model.versions.remove(&1);
    db.forget(1).unwrap();
    (db, model)
}

#[test]
fn vertices_are_left_out_once_all_versions_removed_them() {
    let (disk, run): (Arc<dyn Disk>, _) = (Arc::new(FaultyDisk::new(1)), Run::with_threads(2).unwrap());
    let (db, mut model) = with_removed_vertices(&disk);
    // One of eight is not more than one of eight.
    assert_eq!(db.compact(&run).unwrap().vertices_left_out, 0);
    let pinned = db.at(2).unwrap();
    compact(&db, None, Renumber::Always, &mut model, &run);
    assert_eq!(db.latest().unwrap().num_vertices(), 7);
    verify(&db, &model, &run);
    assert_eq!(pinned.num_vertices(), 8);
    assert!(!db.at(2).unwrap().continues(&pinned) && db.at(3).unwrap().continues(&db.at(2).unwrap()));
    db.forget(2).unwrap();
    model.versions.remove(&2);
    let changes = [ModelChange::Add(3, 5, 1, 1)];
    model.commit(&changes);
    commit(&db, &changes).unwrap();
    verify(&db, &model, &run);
    // Vertex 3 has another number now, and vertex 4, of which no version knows, is one of eight.
    db.compact(&run).unwrap();
    compact(&db, Some(Encoding::Compressed), Renumber::Always, &mut model, &run);
    assert_eq!(db.latest().unwrap().num_vertices(), 7);
    verify(&db, &model, &run);
    db.close().unwrap();
    let db = Database::open_on(Arc::clone(&disk), Path::new(DB), options()).unwrap();
    verify(&db, &model, &run);
}

#[test]
fn vertices_are_left_out_by_themselves_if_they_are_more_than_one_of_eight() {
    let (disk, run): (Arc<dyn Disk>, _) = (Arc::new(FaultyDisk::new(1)), Run::with_threads(2).unwrap());
    let (db, mut model) = with_removed_vertices(&disk);
    db.forget(2).unwrap();
    model.versions.remove(&2);
    let narrow = Run::new(RunOptions { budget: Budget::new(100), ..RunOptions::default() }).unwrap();
    let always = db.compact_with(RENUMBERING, &narrow).unwrap_err().to_string();
    assert!(always.contains("renumbering the vertices"), "{always}");
    assert_eq!(db.compact(&narrow).unwrap().vertices_left_out, 0);
    verify(&db, &model, &run);
    assert_eq!(db.compact(&run).unwrap().vertices_left_out, 2);
    leave_out_removed(model.versions.values_mut());
    verify(&db, &model, &run);
}

#[test]
fn the_imported_ids_go_once_no_version_needs_them() {
    let disk = FaultyDisk::new(1);
    let (shared, run): (Arc<dyn Disk>, _) = (Arc::new(disk.clone()), Run::with_threads(2).unwrap());
    let (db, mut model) = with_removed_vertices(&shared);
    let archive = Path::new(DB).join("ids.columns");
    let pinned = db.at(3).unwrap();
    compact(&db, None, Renumber::Always, &mut model, &run);
    assert!(disk.look(&archive).unwrap().is_some());
    assert!(pinned.ids().find("vertex number 7").is_ok());
    drop(pinned);
    assert!(disk.look(&archive).unwrap().is_none());
    db.close().unwrap();
    // A crash may leave them.
    disk.write(&archive, b"ids").unwrap();
    let left = strays(&disk, Path::new(DB)).unwrap().left;
    assert_eq!(left, [(archive.clone(), 3)]);
    let db = Database::open_on(Arc::clone(&shared), Path::new(DB), options()).unwrap();
    assert!(disk.look(&archive).unwrap().is_none());
    verify(&db, &model, &run);
}

#[test]
fn files_of_states_that_replaced_no_other_are_removed_by_the_next_writer() {
    let disk = FaultyDisk::new(1);
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    Sample::random(8, 20, true, 2).write(&shared, Path::new(DB), false).unwrap();
    let live = Path::new(DB).join("live");
    let [state, new] = ["wcc-0123abcd", "wcc-0123abcd.new-0123456789abcdef"].map(|name| live.join(name));
    disk.create_directory(&live).unwrap();
    for path in [&state, &new] {
        disk.write(path, b"live").unwrap();
    }
    assert_eq!(strays(&disk, Path::new(DB)).unwrap().left, [(new.clone(), 4)]);
    Database::open_on(shared, Path::new(DB), options()).unwrap().close().unwrap();
    assert!(disk.look(&new).unwrap().is_none() && disk.look(&state).unwrap().is_some());
    assert_eq!(strays(&disk, Path::new(DB)).unwrap().left, []);
}

#[test]
fn commits_of_other_threads_outlive_renumberings() {
    let (disk, run): (Arc<dyn Disk>, _) = (Arc::new(FaultyDisk::new(1)), Run::with_threads(2).unwrap());
    let sample = Sample { ids: IdMapKind::Identity, ..Sample::random(8, 20, true, 2) };
    sample.write(&disk, Path::new(DB), false).unwrap();
    let mut model = DatabaseModel::of(&sample);
    let db = Database::open_on(disk, Path::new(DB), options()).unwrap();
    db.retain(Retention::Last(1)).unwrap();
    let steps: Vec<Vec<ModelChange>> = (0..60)
        .map(|i| match i % 3 {
            0 => vec![ModelChange::Add(i, i + 1, 1, 1), ModelChange::Add(i + 1, i % 7, 2, 1)],
            1 => vec![ModelChange::RemoveVertex(i - 1)],
            _ => vec![ModelChange::Add(i - 2, 5, 3, 2)],
        })
        .collect();
    let mut left_out = 0;
    std::thread::scope(|scope| {
        let commits = scope.spawn(|| steps.iter().try_for_each(|changes| commit(&db, changes).map(drop)));
        while !commits.is_finished() {
            left_out += db.compact_with(RENUMBERING, &run).unwrap().vertices_left_out;
        }
        commits.join().unwrap().unwrap();
    });
    steps.iter().for_each(|changes| model.commit(changes));
    let newest = model.versions.pop_last().unwrap();
    model.versions = [newest].into();
    verify(&db, &model, &run);
    commit(&db, &[ModelChange::RemoveVertex(1)]).unwrap();
    left_out += db.compact_with(RENUMBERING, &run).unwrap().vertices_left_out;
    assert!(left_out > 0);
}

/// Of several edges between two vertices, all went: `delete` with a property deleted the other kinds too.
#[test]
fn some_of_several_edges_are_removed_and_counted_and_the_others_stay_what_they_were() {
    for directed in [true, false] {
        let disk: Arc<dyn Disk> = Arc::new(FaultyDisk::new(1));
        let sample = Sample::random(4, 0, directed, 1);
        sample.write(&disk, Path::new(DB), false).unwrap();
        let db = Database::open_on(disk, Path::new(DB), options()).unwrap();
        let run = Run::with_threads(1).unwrap();
        let mut model = DatabaseModel::of(&sample);
        let do_all = |model: &mut DatabaseModel, changes: &[ModelChange]| {
            commit(&db, changes).unwrap();
            model.commit(changes);
            verify(&db, model, &run);
        };
        use ModelChange::{Add, Remove, RemoveSome};
        do_all(
            &mut model,
            &[Add(0, 1, 1, 0), Add(0, 1, 1, 0), Add(0, 1, 2, 1), Add(0, 2, 3, 1), Add(0, 3, 4, 1)],
        );
        db.freeze(&run).unwrap();
        do_all(&mut model, &[Add(0, 1, 5, 2)]);
        do_all(
            &mut model,
            &[RemoveSome(0, 1, (Some(1), Some(0)), Some(1)), RemoveSome(0, 1, (None, Some(2)), None)],
        );
        do_all(&mut model, &[RemoveSome(1, 0, (Some(1), None), None)]);
        db.freeze(&run).unwrap();
        do_all(&mut model, &[RemoveSome(0, 1, (Some(9), None), None), Add(0, 1, 6, 0), Remove(0, 2)]);
        do_all(
            &mut model,
            &[
                RemoveSome(0, 1, (Some(6), None), None),
                Add(0, 1, 7, 0),
                RemoveSome(0, 1, (Some(2), None), None),
            ],
        );
        db.freeze(&run).unwrap();
        let born = |number: u64| {
            let version = db.at(number).unwrap();
            read(&version, &run).unwrap().edges.get(&(0, 1)).map_or(0, Vec::len)
        };
        let left: Vec<usize> = (2..=7).map(born).collect();
        assert_eq!(left, if directed { [3, 4, 2, 2, 3, 2] } else { [3, 4, 2, 1, 2, 1] });
        db.compact(&run).unwrap();
        verify(&db, &model, &run);
        let mut batch = db.batch();
        batch.count_removed();
        batch.remove_edge(0_u64, 1_u64).unwrap();
        batch.remove_edge(0_u64, 1_u64).unwrap();
        batch.remove_edge(2_u64, 2_u64).unwrap();
        let committed = db.commit_with(batch, &CommitOptions::default()).unwrap();
        assert_eq!((committed.removed, committed.not_found), (Some(if directed { 2 } else { 1 }), None));
        let mut batch = db.batch();
        batch.count_not_found();
        batch.remove_edge(0_u64, 1_u64).unwrap();
        batch.remove_edge(0_u64, 999_u64).unwrap();
        batch.remove_edges(1_u64, 1_u64, &EdgeMatch::default()).unwrap();
        let committed = db.commit_with(batch, &CommitOptions::default()).unwrap();
        assert_eq!((committed.removed, committed.not_found), (Some(0), Some(3)));
        db.close().unwrap();
    }
}

/// A vertex that was removed and added again had the properties of the vertex before.
#[test]
fn a_vertex_that_is_added_again_begins_without_properties() {
    let disk: Arc<dyn Disk> = Arc::new(FaultyDisk::new(1));
    Sample::random(5, 8, true, 1).write(&disk, Path::new(DB), false).unwrap();
    let db = Database::open_on(disk, Path::new(DB), options()).unwrap();
    let run = Run::with_threads(1).unwrap();
    let age = |v: u64| db.vertex_value(db.vertex_of(v.into()).unwrap().unwrap(), "age").unwrap();
    commit(&db, &[ModelChange::Age(1, Some(7)), ModelChange::Age(2, Some(8))]).unwrap();
    commit(&db, &[ModelChange::RemoveVertex(1), ModelChange::RemoveVertex(2)]).unwrap();
    commit(&db, &[ModelChange::AddVertex(1), ModelChange::Age(2, Some(9))]).unwrap();
    assert_eq!((age(1), age(2)), (None, Some(OwnedValue::Number(PropertyValue::I64(9)))));
    db.freeze(&run).unwrap();
    assert_eq!((age(1), age(2)), (None, Some(OwnedValue::Number(PropertyValue::I64(9)))));
}
