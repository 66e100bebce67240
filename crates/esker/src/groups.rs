//! Groups over time: names that stay with their members from one graph to the next, and what becomes of each
//! group.
//!
//! Algorithms name a group by one of its members, so another name may mean the same group when that member
//! left, or was overtaken in degree. [`GroupNames`] passes the name of a group on to the group with most of
//! its members instead.

use std::collections::HashMap;

use esker_graph::{NONE, Run, VertexId, vertex};
use esker_store::ids::{ExternalId, IdMap};

use crate::answer::{Answer, Values};
use crate::catalogue::Entry;
use crate::error::{Error, Result};

/// The columns that name groups by vertices.
const NAMED_GROUPS: [&str; 3] = ["component", "community", "cluster"];

/// Ids for each vertex that are in memory at once, at most: names, sizes and best partners of both graphs,
/// and what they share.
const IDS: u64 = 14;

/// What became of a group from one graph to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum GroupFate {
    /// An old group that did not persist, most of whose members are in one new group.
    Merges,
    /// An old group that did not persist, and did not merge.
    Vanishes,
    /// A group on both graphs: most members of each that they share with any other group are those that they
    /// share with each other, and these are at least half of the smaller.
    Persists,
    /// A new group, most of whose members come from one old group, which is another's.
    Splits,
    /// Any other new group.
    Appears,
}

impl GroupFate {
    /// The word of the command and of files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Merges => "merges",
            Self::Vanishes => "vanishes",
            Self::Persists => "persists",
            Self::Splits => "splits",
            Self::Appears => "appears",
        }
    }
}

/// What became of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupEvent {
    /// What it was.
    pub fate: GroupFate,
    /// The name of the group.
    pub group: VertexId,
    /// The group into which it merged, or from which it split.
    pub other: Option<VertexId>,
    /// Its vertices before.
    pub before: u64,
    /// Its vertices now.
    pub after: u64,
    /// The vertices that it shares: with itself before, or with the other group.
    pub shared: u64,
}

impl GroupEvent {
    /// Whether it has the same members as before.
    pub fn is_unchanged(&self) -> bool {
        self.fate == GroupFate::Persists && self.before == self.shared && self.after == self.shared
    }
}

/// The names of the groups of the newest graph, to be passed on to those of the next.
#[derive(Debug, Default)]
pub struct GroupNames {
    /// The name of the group of each vertex; [`NONE`] for those without.
    names: Vec<VertexId>,
}

impl GroupNames {
    /// Refuses an algorithm whose answers are no groups that vertices name.
    ///
    /// ```
    /// use esker::catalogue::find;
    /// use esker::groups::GroupNames;
    ///
    /// assert!(GroupNames::check(find("leiden")?).is_ok());
    /// assert!(GroupNames::check(find("pagerank")?).is_err());
    /// # Ok::<(), esker::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Usage`].
    pub fn check(entry: &Entry) -> Result<()> {
        if entry.columns.first().is_some_and(|name| NAMED_GROUPS.contains(name)) && !entry.edges {
            return Ok(());
        }
        let message = format!("{} finds no groups that are named by their members", entry.name);
        Err(Error::usage(message))
    }

    /// Names the groups of an answer as the groups of the answer before that they are, and returns what
    /// became of all groups: of those before and of those now. A group persists if it shares more members
    /// with one group before than with any other, that one shares more with it than with any other, and they
    /// share at least half of the smaller; of several that share as much, those of the smallest union, then
    /// the first by name. Other groups keep the name that the algorithm gave. If a group has it, or had it
    /// before, they get that of another member, or if none is free, of another vertex. No two groups have the
    /// same name, and a name passes on to no other group at once; the vertex that it belongs to may be in
    /// another group, or in none. Without an answer before, all names stay, and all groups appear. Groups of
    /// one vertex have no events.
    ///
    /// Labels that are ids become vertices. `ids`: those of the graph.
    ///
    /// Takes O(n log n) time, and 14 ids a vertex while it works, one afterwards.
    ///
    /// # Errors
    /// [`Error::Usage`] if the answer has no groups that vertices name; no room in the budget; cancellation.
    pub fn pass_on(&mut self, answer: &mut Answer, ids: &IdMap, run: &Run) -> Result<Vec<GroupEvent>> {
        let vertices = answer.vertices.clone();
        if let Some(column) = answer.columns.first_mut()
            && let Values::Count(labels) = &column.values
        {
            column.values = Values::Vertex(vertices_of(labels, ids)?);
        }
        let Some(Values::Vertex(labels)) = answer.columns.first_mut().map(|column| &mut column.values) else {
            return Err(Error::usage("the answer has no groups that are named by their members"));
        };
        let at = |row: usize| vertices.as_ref().map_or(vertex(row), |vertices| vertices[row]);
        let last = if labels.is_empty() { 0 } else { at(labels.len() - 1) as usize + 1 };
        let ends = labels.iter().copied().filter(|&label| label != NONE).max().map_or(0, |v| v as usize + 1);
        let count = self.names.len().max(last).max(ends);
        let _memory =
            run.budget().reserve("the names of groups", (count * size_of::<VertexId>()) as u64 * IDS)?;
        let is_first = self.names.is_empty();
        let mut matched = Matching::new(&self.names, labels, at, count);
        run.cancel().check()?;
        let renamed = matched.renamed(labels, at);
        let events = matched.events(&renamed, is_first);
        let mut names = vec![NONE; count];
        for (row, label) in labels.iter_mut().enumerate().filter(|(_, label)| **label != NONE) {
            *label = renamed[*label as usize];
            names[at(row) as usize] = *label;
        }
        self.names = names;
        Ok(events)
    }
}

/// The vertices whose ids are labels.
fn vertices_of(labels: &[u64], ids: &IdMap) -> Result<Vec<VertexId>> {
    let mut known = HashMap::from([(u64::MAX, NONE)]);
    let vertex_of = |&label: &u64| -> Result<VertexId> {
        if let Some(&v) = known.get(&label) {
            return Ok(v);
        }
        let v = ids.vertex_of(ExternalId::Int(label))?;
        let v = v.ok_or_else(|| Error::usage("the answer has groups that are named by no vertex"))?;
        known.insert(label, v);
        Ok(v)
    };
    labels.iter().map(vertex_of).collect()
}

/// What an old and a new group share.
#[derive(Debug, Clone, Copy)]
struct Overlap {
    old: VertexId,
    new: VertexId,
    shared: u64,
}

/// The groups of two graphs, by name, and what they share.
struct Matching {
    /// The sizes of the groups before, by name.
    before: Vec<VertexId>,
    /// The sizes of the groups now, by the label of the algorithm.
    after: Vec<VertexId>,
    /// All groups that share members, ascending.
    overlaps: Vec<Overlap>,
    /// For each old group, the place of the overlap in which it has most; [`NONE`] for none.
    best_of_old: Vec<VertexId>,
    /// The same for each new group.
    best_of_new: Vec<VertexId>,
}

impl Matching {
    fn new(names: &[VertexId], labels: &[VertexId], at: impl Fn(usize) -> VertexId, count: usize) -> Self {
        let (mut before, mut after) = (vec![0; count], vec![0; count]);
        names.iter().filter(|&&name| name != NONE).for_each(|&name| before[name as usize] += 1);
        let mut pairs = Vec::new();
        for (row, &label) in labels.iter().enumerate().filter(|&(_, &label)| label != NONE) {
            after[label as usize] += 1;
            match names.get(at(row) as usize) {
                Some(&name) if name != NONE => pairs.push((name, label)),
                _ => {}
            }
        }
        pairs.sort_unstable();
        let overlaps: Vec<_> = pairs
            .chunk_by(|a, b| a == b)
            .map(|same| Overlap { old: same[0].0, new: same[0].1, shared: same.len() as u64 })
            .collect();
        let mut found =
            Self { before, after, overlaps, best_of_old: vec![NONE; count], best_of_new: vec![NONE; count] };
        for place in 0..found.overlaps.len() {
            let Overlap { old, new, .. } = found.overlaps[place];
            for best in [&mut found.best_of_old[old as usize], &mut found.best_of_new[new as usize]] {
                // The first of several.
                let rank = |place: usize| {
                    let Overlap { old, new, shared } = found.overlaps[place];
                    let both = u64::from(found.before[old as usize]) + u64::from(found.after[new as usize]);
                    (shared, std::cmp::Reverse(both))
                };
                if *best == NONE || rank(place) > rank(*best as usize) {
                    *best = vertex(place);
                }
            }
        }
        found
    }

    /// The overlap in which a new group has most of its members that have a group before.
    fn ancestor(&self, new: VertexId) -> Option<Overlap> {
        self.overlaps.get(self.best_of_new[new as usize] as usize).copied()
    }

    /// The overlap in which an old group has most of its members that have a group now.
    fn descendant(&self, old: VertexId) -> Option<Overlap> {
        self.overlaps.get(self.best_of_old[old as usize] as usize).copied()
    }

    /// The old group that a new one is.
    fn same(&self, new: VertexId) -> Option<Overlap> {
        let found = self.ancestor(new)?;
        let smaller = self.before[found.old as usize].min(self.after[new as usize]);
        (self.best_of_old[found.old as usize] == self.best_of_new[new as usize]
            && 2 * found.shared >= u64::from(smaller))
        .then_some(found)
    }

    /// The name of each new group, by its label.
    fn renamed(&mut self, labels: &[VertexId], at: impl Fn(usize) -> VertexId) -> Vec<VertexId> {
        let count = self.after.len();
        let (mut renamed, mut taken) = (vec![NONE; count], vec![false; count]);
        let groups: Vec<VertexId> = (0..count).filter(|&new| self.after[new] > 0).map(vertex).collect();
        for &new in &groups {
            if let Some(Overlap { old, .. }) = self.same(new) {
                renamed[new as usize] = old;
                taken[old as usize] = true;
            }
        }
        for &new in groups.iter().filter(|&&new| renamed[new as usize] == NONE).collect::<Vec<_>>() {
            // A name that a group had before would seem to be that group.
            if !taken[new as usize] && self.before[new as usize] == 0 {
                renamed[new as usize] = new;
                taken[new as usize] = true;
            }
        }
        for (row, &label) in labels.iter().enumerate().filter(|&(_, &label)| label != NONE) {
            let member = at(row);
            let is_free = !taken[member as usize] && self.before[member as usize] == 0;
            if renamed[label as usize] == NONE && is_free {
                renamed[label as usize] = member;
                taken[member as usize] = true;
            }
        }
        // All members name other groups. There are as many vertices as groups, so another is free.
        let is_new = |&v: &usize| !taken[v] && self.before[v] == 0;
        let was_used = |&v: &usize| !taken[v] && self.before[v] > 0;
        let mut free = (0..count).filter(is_new).chain((0..count).filter(was_used));
        for &new in groups.iter().filter(|&&new| renamed[new as usize] == NONE).collect::<Vec<_>>() {
            renamed[new as usize] = free.next().map_or(NONE, vertex);
        }
        renamed
    }

    /// What became of the groups of more than one vertex, old groups that are gone first.
    fn events(&self, renamed: &[VertexId], is_first: bool) -> Vec<GroupEvent> {
        let mut events = Vec::new();
        let persists = |old: VertexId| {
            let same = self.descendant(old).and_then(|found| self.same(found.new));
            same.is_some_and(|same| same.old == old)
        };
        for old in (0..self.before.len()).filter(|&old| self.before[old] > 1).map(vertex) {
            if persists(old) {
                continue;
            }
            let before = u64::from(self.before[old as usize]);
            let into = self.descendant(old).filter(|found| 2 * found.shared > before);
            events.push(GroupEvent {
                fate: if into.is_some() { GroupFate::Merges } else { GroupFate::Vanishes },
                group: old,
                other: into.map(|found| renamed[found.new as usize]),
                before,
                after: 0,
                shared: into.map_or(0, |found| found.shared),
            });
        }
        for new in (0..self.after.len()).map(vertex) {
            let after = u64::from(self.after[new as usize]);
            let same = self.same(new);
            let before = same.map_or(0, |found| u64::from(self.before[found.old as usize]));
            if after.max(before) < 2 {
                continue;
            }
            let from = self.ancestor(new).filter(|found| !is_first && 2 * found.shared > after);
            let fate = match (same, from) {
                (Some(_), _) => GroupFate::Persists,
                (None, Some(_)) => GroupFate::Splits,
                (None, None) => GroupFate::Appears,
            };
            let (group, other) =
                (renamed[new as usize], from.filter(|_| same.is_none()).map(|found| found.old));
            let shared = same.or(from).map_or(0, |found| found.shared);
            events.push(GroupEvent { fate, group, other, before, after, shared });
        }
        events.sort_unstable();
        events
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use esker_store::format::IdSecret;
    use esker_store::ids::IdHasher;
    use proptest::prelude::*;

    use super::*;
    use crate::answer::{AnswerColumn, Ranking};

    fn answer_of(labels: &[Option<VertexId>]) -> Answer {
        let labels = labels.iter().map(|label| label.unwrap_or(NONE)).collect();
        let column =
            AnswerColumn { name: "community", values: Values::Vertex(labels), ranking: Ranking::Groups };
        Answer { columns: vec![column], ..Answer::default() }
    }

    fn named(answer: &Answer) -> Vec<VertexId> {
        match &answer.columns[0].values {
            Values::Vertex(names) => names.clone(),
            other => panic!("{other:?}"),
        }
    }

    fn groups_of(names: &[VertexId]) -> BTreeMap<VertexId, BTreeSet<usize>> {
        let mut groups = BTreeMap::<_, BTreeSet<usize>>::new();
        for (v, &name) in names.iter().enumerate().filter(|(_, name)| **name != NONE) {
            groups.entry(name).or_default().insert(v);
        }
        groups
    }

    /// Groups of up to 12 vertices, each named by its first member.
    fn labels() -> impl Strategy<Value = Vec<Option<VertexId>>> {
        proptest::collection::vec(proptest::option::weighted(0.9, 0_usize..5), 0..12).prop_map(|groups| {
            let first = |group| groups.iter().position(|other| *other == Some(group)).map(vertex);
            groups.iter().map(|&group| group.and_then(first)).collect()
        })
    }

    fn ids() -> IdMap {
        IdMap::identity(0, 12, IdHasher::new(IdSecret([0; 16])))
    }

    fn run() -> Run {
        Run::with_threads(1).unwrap()
    }

    #[test]
    fn a_group_keeps_its_name_when_the_member_that_names_it_leaves() {
        let (mut names, run) = (GroupNames::default(), run());
        let mut first = answer_of(&[Some(0), Some(0), Some(0), Some(0), Some(4), Some(4)]);
        let events = names.pass_on(&mut first, &ids(), &run).unwrap();
        assert_eq!(
            events.iter().map(|event| (event.fate, event.group)).collect::<Vec<_>>(),
            [(GroupFate::Appears, 0), (GroupFate::Appears, 4)]
        );
        // Vertex 0 goes over to the others, where it has most edges; 6 and 7 are new.
        let mut second = answer_of(&[Some(0), Some(1), Some(1), Some(1), Some(0), Some(0), Some(6), Some(6)]);
        let events = names.pass_on(&mut second, &ids(), &run).unwrap();
        assert_eq!(named(&second), [4, 0, 0, 0, 4, 4, 6, 6]);
        let told = |event: &GroupEvent| (event.fate, event.group, event.before, event.after, event.shared);
        assert_eq!(
            events.iter().map(told).collect::<Vec<_>>(),
            [
                (GroupFate::Persists, 0, 4, 3, 3),
                (GroupFate::Persists, 4, 2, 3, 2),
                (GroupFate::Appears, 6, 0, 2, 0)
            ]
        );
    }

    #[test]
    fn splits_and_mergers_tell_from_what_and_into_what() {
        let (mut names, run) = (GroupNames::default(), run());
        names.pass_on(&mut answer_of(&[Some(0); 5]), &ids(), &run).unwrap();
        let mut split = answer_of(&[Some(0), Some(0), Some(2), Some(2), Some(2)]);
        let events = names.pass_on(&mut split, &ids(), &run).unwrap();
        // The greater part is the same group; vertex 0 names it, so the other part is called otherwise.
        assert_eq!(named(&split), [1, 1, 0, 0, 0]);
        let event = events.iter().find(|event| event.fate == GroupFate::Splits).unwrap();
        assert_eq!((event.group, event.other, event.after, event.shared), (1, Some(0), 2, 2));
        let mut merged = answer_of(&[Some(3); 5]);
        let events = names.pass_on(&mut merged, &ids(), &run).unwrap();
        assert_eq!(named(&merged), [0; 5]);
        let event = events.iter().find(|event| event.fate == GroupFate::Merges).unwrap();
        assert_eq!((event.group, event.other, event.before, event.shared), (1, Some(0), 2, 2));
    }

    proptest! {
        #[test]
        fn names_are_those_of_a_comparison_of_all_groups(
            history in proptest::collection::vec(labels(), 1..5)
        ) {
            let (mut names, run) = (GroupNames::default(), run());
            let mut before = BTreeMap::new();
            for labels in &history {
                let mut answer = answer_of(labels);
                let plain = groups_of(&named(&answer));
                let events = names.pass_on(&mut answer, &ids(), &run).unwrap();
                let now = groups_of(&named(&answer));
                // The same groups, with other names.
                let members = |groups: &BTreeMap<_, BTreeSet<usize>>| groups.values().cloned().collect::<BTreeSet<_>>();
                prop_assert_eq!(members(&plain), members(&now));
                for (name, group) in &now {
                    for (old, other) in &before {
                        let (shared, all) = (group.intersection(other).count(), group.union(other).count());
                        prop_assert!(2 * shared <= all || name == old, "{} was {}", name, old);
                    }
                    let told = events.iter().find(|event| event.group == *name && event.after > 0);
                    prop_assert!(told.is_some_and(|event| event.after == group.len() as u64) || group.len() < 2);
                }
                for (name, group) in &now {
                    let persists = events.iter().any(|event| event.group == *name && event.fate == GroupFate::Persists);
                    let was = before.get(name).map_or(0, BTreeSet::len);
                    prop_assert!(persists || was == 0 || was.max(group.len()) < 2 || now.len() + before.len() > 6);
                }
                for (name, group) in &before {
                    let gone = events.iter().any(|event| event.group == *name && event.after == 0);
                    let stays = events.iter().any(|event| event.group == *name && event.fate == GroupFate::Persists);
                    prop_assert!(gone != stays || group.len() < 2, "{} {:?}", name, events);
                }
                before = now;
            }
        }
    }
}
