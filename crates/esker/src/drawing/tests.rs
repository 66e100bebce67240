use esker_graph::{Run, VertexId};
use esker_import::{ImportOptions, Input, ReadOptions, import_inputs};
use esker_store::{Store, Version};

use super::{Arrangement, Look, Paint, Picture, Scene};
use crate::local::LocalGraph;
use crate::selection::{Condition, Conditions};

fn version(csv: &str) -> (tempfile::TempDir, Version) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("g.esker");
    let read = ReadOptions { properties: esker_import::PickProperties::All, ..ReadOptions::default() };
    let edges = [Input::memory("g.csv", csv.as_bytes().to_vec())];
    import_inputs(&edges, &path, &read, &ImportOptions::default()).expect("an import");
    let version = Store::open(&path).expect("a store").latest().expect("a version");
    (directory, version)
}

fn run() -> Run {
    Run::with_threads(2).expect("a run")
}

fn ids(version: &Version, vertices: &[VertexId]) -> Vec<String> {
    vertices.iter().map(|&v| version.ids().external_of(v).expect("an id").to_string()).collect()
}

/// A hub with many leaves, one of which has a tail, and a pair apart.
fn hub() -> (tempfile::TempDir, Version) {
    let mut csv = String::from("source,target,amount\n");
    for leaf in 0..20 {
        csv += &format!("hub,leaf{leaf:02},{leaf}\n");
    }
    csv += "leaf07,tail1,1\ntail1,tail2,1\ntail1,leaf07,1\nhub,hub,5\na,b,100\n";
    version(&csv)
}

#[test]
fn a_scene_has_what_is_near_and_of_that_what_has_most_edges() {
    let (_directory, version) = hub();
    let (graph, run) = (LocalGraph::from(&version), run());
    let middle = [version.ids().find("hub").expect("the hub")];
    let near = Scene::around(graph, &middle, 1, 100, &run).expect("a scene");
    assert_eq!((near.vertices.len(), near.found), (21, 21));
    assert_eq!(near.edges.len(), 21, "20 leaves and a loop");
    let few = Scene::around(graph, &middle, 2, 3, &run).expect("a scene");
    assert_eq!(ids(&version, &few.vertices)[..2], ["hub", "leaf07"], "the leaf with most edges");
    assert_eq!((few.vertices.len(), few.found), (3, 21), "no step beyond those left out");
    let far = Scene::around(graph, &[version.ids().find("tail2").expect("a vertex")], usize::MAX, 100, &run)
        .expect("a scene");
    assert_eq!((far.vertices.len(), far.found), (23, 23), "against edges too, without the pair");
    let all = Scene::whole(graph, 2, &run).expect("a scene");
    assert_eq!((ids(&version, &all.vertices), all.found), (vec!["hub".to_owned(), "leaf07".to_owned()], 25));
    let both = Scene::around(graph, &[middle[0], middle[0]], 0, 1, &run).expect("a scene");
    assert_eq!((both.vertices.len(), both.edges.len()), (1, 1));
    assert!(Scene::around(graph, &[0, 1], 1, 1, &run).is_err());
}

#[test]
fn conditions_leave_out_edges_and_vertices_without_any() {
    let (_directory, version) = hub();
    let conditions: Vec<Condition> = vec!["amount >= 18".parse().expect("a condition")];
    let conditions = Conditions::of(&conditions, &version, &run()).expect("conditions");
    let graph = LocalGraph::new(&version, conditions.as_deref());
    let scene = Scene::whole(graph, 100, &run()).expect("a scene");
    let mut found = ids(&version, &scene.vertices);
    found.sort();
    assert_eq!(found, ["a", "b", "hub", "leaf18", "leaf19"]);
    assert_eq!(scene.edges.len(), 3);
}

#[test]
fn ids_and_values_are_text_in_a_picture() {
    let (_directory, version) =
        version("source,target\n<script>alert(1)</script>,\"a \"\"b\"\" & c\"\n\u{1}x,y\n");
    let (graph, run) = (LocalGraph::from(&version), run());
    for arrangement in [Arrangement::default(), Arrangement::Layers] {
        let scene = Scene::whole(graph, 10, &run).expect("a scene");
        let look = Look { paint: Paint::Communities, size: None };
        let picture = Picture::new(graph, scene, arrangement, &look, &run).expect("a picture");
        let svg = picture.svg("<b>title</b>");
        assert!(!svg.contains("<script") && !svg.contains("<b>") && !svg.contains('\u{1}'), "{svg}");
        assert!(
            svg.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && svg.contains("a &quot;b&quot; &amp; c"),
            "{svg}"
        );
        assert!(open_elements(&svg).is_empty(), "{svg}");
    }
}

/// The elements that are open at the end.
fn open_elements(svg: &str) -> Vec<String> {
    let mut open = Vec::new();
    for tag in svg.split('<').skip(1) {
        let name = tag.split([' ', '>', '/']).find(|part| !part.is_empty()).unwrap_or_default().to_owned();
        let inside = tag.split('>').next().unwrap_or_default();
        if inside.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !inside.ends_with('/') {
            open.push(name);
        }
    }
    open
}
