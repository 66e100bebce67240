//! The ids that vertices have instead of the numbers that edges name.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use esker_format::{Error, Result};
use esker_graph::{Message, Setting, Stop, message};

/// Bytes of an entry of a table, with its share of what is free.
const NUMBER_BYTES: usize = 32;
const HASH_BYTES: usize = 12;
/// What is reserved if nothing tells how long an input is.
const UNKNOWN_BYTES: u64 = 1 << 26;

/// Where a name stands.
#[derive(Clone, Copy)]
struct Span {
    start: usize,
    end: usize,
}

/// Names by number. Memory: the names, and 44 bytes for each.
#[derive(Default)]
pub(super) struct Names {
    texts: String,
    places: HashMap<i64, Span>,
    /// Hashes of all names, to find that one comes twice.
    known: HashSet<u64>,
    hasher: RandomState,
    bytes_max: Option<u64>,
}

impl Names {
    /// Fewer bytes than an input of so many bytes needs, as a rule.
    pub(super) fn expected_bytes(input_bytes: Option<u64>) -> u64 {
        input_bytes.map_or(UNKNOWN_BYTES, |bytes| bytes.saturating_mul(2).saturating_add(1 << 16))
    }

    /// Limits the memory.
    pub(super) fn limit(&mut self, bytes: u64) {
        self.bytes_max = Some(bytes);
    }

    pub(super) fn get(&self, number: i64) -> Option<&str> {
        self.places.get(&number).map(|own| &self.texts[own.start..own.end])
    }

    /// Adds a name. The inner error says in words why it is none.
    ///
    /// # Errors
    /// [`Stop::OverBudget`] if the names need more memory than they may take.
    pub(super) fn add(&mut self, number: i64, name: &str) -> Result<std::result::Result<(), Message>> {
        if self.places.contains_key(&number) {
            return Ok(Err(format!("the number {number} of the vertex is that of another").into()));
        }
        if !self.known.insert(self.hasher.hash_one(name)) {
            let reason = format!("another vertex is called {name:?} too; take the numbers of vertices with ");
            return Ok(Err(message![reason, Setting::Ids.to("int")]));
        }
        let start = self.texts.len();
        self.texts.push_str(name);
        self.places.insert(number, Span { start, end: self.texts.len() });
        let needed_bytes = (self.texts.len() + self.places.len() * (NUMBER_BYTES + HASH_BYTES)) as u64;
        if let Some(budget_bytes) = self.bytes_max.filter(|max| needed_bytes > *max) {
            let what = "the names of the vertices".to_owned();
            return Err(Error::Stop(Stop::OverBudget { what, needed_bytes, budget_bytes }));
        }
        Ok(Ok(()))
    }
}

/// The attributes of the first vertices that may be their ids.
#[derive(Default)]
pub(super) struct Candidates {
    all: Vec<Candidate>,
}

struct Candidate {
    /// Its usual name, and the name that the first vertices give it: case does not tell names apart.
    usual: &'static str,
    name: Option<String>,
    values: Vec<String>,
    known: HashSet<String>,
    /// Whether each vertex has a value that no other has.
    is_unique: bool,
}

impl Candidates {
    pub(super) fn new(names: &[&'static str]) -> Self {
        let of = |name: &&'static str| Candidate {
            usual: name,
            name: None,
            values: Vec::new(),
            known: HashSet::new(),
            is_unique: true,
        };
        Self { all: names.iter().map(of).collect() }
    }

    /// Looks at a vertex: `names` are those of its attributes, `value` is its value of one.
    pub(super) fn take<'n>(
        &mut self,
        names: &(impl Iterator<Item = &'n str> + Clone),
        value: impl Fn(&str) -> Option<String>,
    ) {
        for own in &mut self.all {
            if own.name.is_none() {
                let exact = names.clone().find(|name| *name == own.usual);
                let alike = || names.clone().find(|name| name.eq_ignore_ascii_case(own.usual));
                own.name = exact.or_else(alike).map(str::to_owned);
            }
            let given = own.name.as_deref().and_then(&value);
            match given.filter(|value| !value.is_empty()) {
                Some(value) => {
                    own.is_unique &= own.known.insert(value.clone());
                    own.values.push(value);
                }
                None => own.is_unique = false,
            }
        }
    }

    /// Takes none: vertices have no numbers.
    pub(super) fn refuse(&mut self) {
        self.all.iter_mut().for_each(|own| own.is_unique = false);
    }

    /// The first attribute that may be the id, an integer if `are_integers`.
    pub(super) fn chosen(&self, are_integers: bool) -> Option<&str> {
        let fits = |own: &&Candidate| {
            let integers = || own.values.iter().all(|value| value.parse::<u64>().is_ok());
            own.is_unique && !own.values.is_empty() && (!are_integers || integers())
        };
        self.all.iter().find(fits).and_then(|own| own.name.as_deref())
    }

    /// The values of an attribute.
    pub(super) fn of(&self, name: &str) -> &[String] {
        self.all.iter().find(|own| own.name.as_deref() == Some(name)).map_or(&[], |own| &own.values)
    }
}
