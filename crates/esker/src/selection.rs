//! Conditions on the properties of edges: a filter of a version's graphs, and of what is exported.

use std::cmp::Ordering;
use std::sync::Arc;

use esker_graph::{Direction, Run, Setting, message, vertex};

use esker_store::Version;
use esker_store::diff::{DiffEdge, Difference};
use esker_store::format::MISSING_TEXT;
use esker_store::format::value::decimal;
use esker_store::format::{ElementType, PropertyRecord};
use esker_store::layer::ListColumns;
use esker_store::property::PropertyValue;
use esker_store::windows::ArcFilter;

use crate::error::{Error, Result};

/// What a person should know of conditions on a version: the texts that no edge has.
///
/// # Errors
/// [`esker_store::Error::Invalid`] for an unknown property; [`esker_store::Error::Corrupt`].
pub fn notes(conditions: &[Condition], version: &Version) -> Result<Vec<String>> {
    let mut notes = Vec::new();
    for condition in conditions {
        let property = version.edge_property(&condition.property)?;
        let compares = condition.asks_null.is_none();
        if compares && property.is_text() && condition.code(property, version)?.is_none() {
            let Condition { property, wanted, .. } = condition;
            notes.push(format!("no edge of any version has the text {wanted:?} as its {property}"));
        }
    }
    Ok(notes)
}

/// A condition on an edge property, such as `kind=depends`, `since>=2011` or `since is not null`. An edge
/// without a value meets no comparison, `!=` neither.
///
/// ```
/// # let (directory, csv) = (tempfile::tempdir()?, *b"source,target,since\n1,2,2019\n2,3,2022\n");
/// # let path = directory.path().join("web.esker");
/// # let read = esker::import::ReadOptions {
/// #     properties: esker::import::PickProperties::All,
/// #     ..Default::default()
/// # };
/// # let edges = [esker::import::Input::memory("web.csv", csv)];
/// # esker::import::import_inputs(&edges, &path, &read, &Default::default())?;
/// # let version = esker::store::Store::open(&path)?.latest()?;
/// use esker::selection::{Condition, Conditions};
///
/// let condition: Condition = "since>=2020".parse()?;
/// let Some(conditions) = Conditions::of(&[condition], &version)? else { panic!("there is one") };
/// let run = esker::graph::Run::with_threads(1)?;
/// let newer = version.view().filtered(conditions, None, false, &run)?;
/// assert_eq!(newer.num_edges(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    property: String,
    /// The orders of a value and the wanted one that meet the condition.
    met: &'static [Ordering],
    wanted: String,
    /// Whether edges without a value are asked for, or those with one; `None`: values are compared.
    asks_null: Option<bool>,
}

const OPERATORS: [(&str, &[Ordering]); 6] = [
    ("!=", &[Ordering::Less, Ordering::Greater]),
    ("<=", &[Ordering::Less, Ordering::Equal]),
    (">=", &[Ordering::Greater, Ordering::Equal]),
    ("<", &[Ordering::Less]),
    (">", &[Ordering::Greater]),
    ("=", &[Ordering::Equal]),
];

impl std::str::FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        for (words, asks_null) in [(" is null", true), (" is not null", false)] {
            let property = text.trim_end().to_ascii_lowercase().strip_suffix(words).map(str::len);
            // Behind an operator the words are a part of a text.
            if let Some(property) = property.and_then(|end| text.get(..end)).map(str::trim)
                && !property.is_empty()
                && !property.contains(['!', '<', '>', '='])
            {
                let (property, wanted) = (property.to_owned(), String::new());
                return Ok(Self { property, met: &[], wanted, asks_null: Some(asks_null) });
            }
        }
        let place = text.find(['!', '<', '>', '=']).filter(|&place| place > 0);
        let found = place.and_then(|place| {
            let is_here = |(sign, _): &&(&str, _)| text[place..].starts_with(sign);
            OPERATORS.iter().find(is_here).map(|(sign, met)| (place, sign.len(), *met))
        });
        let Some((place, length, met)) = found else {
            return Err(format!(
                "{text:?} is not a condition; give one such as kind=depends, since>=2011 or \
                 'since is not null'"
            ));
        };
        let (property, wanted) = (text[..place].trim().to_owned(), text[place + length..].trim().to_owned());
        Ok(Self { property, met, wanted, asks_null: None })
    }
}

impl Condition {
    /// The code of the wanted text in the dictionary of a property, which has each text once; `None` if no
    /// edge of any version has it.
    fn code(&self, property: &PropertyRecord, version: &Version) -> Result<Option<u64>> {
        code_of(self.wanted.as_bytes(), property, version)
    }

    /// Refuses a wanted text, which does not occur, if it is written as other languages write it.
    fn expect_no_slip(&self) -> std::result::Result<(), String> {
        let quotes = ['"', '\''];
        let inside = quotes.iter().find_map(|&quote| self.wanted.strip_prefix(quote)?.strip_suffix(quote));
        match (self.wanted.strip_prefix('='), inside) {
            (Some(_), _) => Err(format!(
                "no edge has the text {:?}; one sign compares, as in {}=depends",
                self.wanted, self.property
            )),
            (_, Some(inside)) => Err(format!(
                "no edge has the text {}, and quotes would be a part of it; leave them out, as in {}={inside}",
                self.wanted, self.property
            )),
            _ => Ok(()),
        }
    }

    /// The wanted number, if values of a property can be compared with it.
    fn number(&self, property: &PropertyRecord) -> std::result::Result<WantedValue, String> {
        let text = &self.wanted;
        let read = decimal::unsigned(text.as_bytes()).map(|value| WantedValue::Whole(value.into()));
        let wanted = read.map_or_else(
            || match decimal::number(text.as_bytes()) {
                Ok(decimal::Number::Int(value)) => Ok(WantedValue::Whole(value.into())),
                Ok(decimal::Number::Float(value)) => Ok(WantedValue::Real(value)),
                Err(why) => Err(format!("it holds numbers, and {text:?} {}", why.reason())),
            },
            Ok,
        )?;
        let is_equality = matches!(self.met, [Ordering::Equal] | [Ordering::Less, Ordering::Greater]);
        match (wanted, property.element) {
            // What a property of 32 bits holds is compared with what it would hold.
            (WantedValue::Real(value), ElementType::F32) => Ok(WantedValue::Real(f64::from(value as f32))),
            (WantedValue::Real(value), ElementType::F64) => Ok(WantedValue::Real(value)),
            (WantedValue::Real(value), _) => {
                // Integers are compared without rounding. Beyond the range of `i128` its end is beyond all
                // values of 64 bits.
                let rounded = (value.floor() as i128, value.fract() != 0.0);
                match floor_of(text).unwrap_or(rounded) {
                    (whole, false) => Ok(WantedValue::Whole(whole)),
                    (_, true) if is_equality => Err(format!("it holds integers, and {text} is none")),
                    (floor, true) => Ok(WantedValue::Above(floor)),
                }
            }
            (wanted, _) => Ok(wanted),
        }
    }
}

/// The code of a text in the dictionary of a property.
fn code_of(text: &[u8], property: &PropertyRecord, version: &Version) -> Result<Option<u64>> {
    let Some(texts) = version.dictionary(property.number) else { return Ok(None) };
    Ok(texts.code_of(text)?.map(|code| code as u64))
}

/// A wanted value of the type of a property.
#[derive(Debug, Clone)]
enum WantedValue {
    /// Codes of texts, ascending.
    Codes(Vec<u64>),
    /// None, or any.
    Null(bool),
    /// The code of a text in its dictionary; `None` if it has none.
    Text(Option<u64>),
    Whole(i128),
    /// Between this integer and the next, for integers.
    Above(i128),
    Real(f64),
    Logical(PropertyValue<'static>),
}

/// A condition on a property of a database.
#[derive(Debug, Clone)]
struct Test {
    property: PropertyRecord,
    met: &'static [Ordering],
    wanted: WantedValue,
    /// The code of missing texts.
    missing_text: Option<u64>,
}

impl Test {
    fn new(condition: &Condition, version: &Version) -> Result<Self> {
        let Condition { property, met, wanted, asks_null } = condition;
        let property = version.edge_property(property)?.clone();
        let refused = |reason: &str| {
            let named = Setting::Where.to_name(&property.name);
            Error::usage(message![named, format!(": {reason}")])
        };
        let value = if let Some(asks_null) = *asks_null {
            WantedValue::Null(asks_null)
        } else if property.is_text() {
            if !matches!(met, [Ordering::Equal] | [Ordering::Less, Ordering::Greater]) {
                return Err(refused("it holds texts, which only = and != compare"));
            }
            let code = condition.code(&property, version)?;
            if code.is_none() {
                condition.expect_no_slip().map_err(|reason| refused(&reason))?;
            }
            WantedValue::Text(code)
        } else if !property.is_number() {
            let value = PropertyValue::parse_logical(&property.logical, wanted);
            WantedValue::Logical(value.map_err(|reason| refused(&format!("{wanted:?} {reason}")))?)
        } else {
            condition.number(&property).map_err(|reason| refused(&reason))?
        };
        let missing_text = match property.optional && property.is_text() {
            true => code_of(MISSING_TEXT, &property, version)?,
            false => None,
        };
        Ok(Self { property, met, wanted: value, missing_text })
    }

    /// The test whether an edge is of one of some kinds.
    fn of_kinds(kinds: &[String], version: &Version) -> Result<Self> {
        let Some(property) = version.kind_property() else {
            return Err(Error::usage(message![
                format!("the edges of {} have no kinds: import them with ", version.path().display()),
                Setting::Kind,
                ", which names the column that has them",
            ]));
        };
        let known = kinds_of(version)?;
        let code_of = |kind: &String| {
            let code = known.iter().position(|known| known == kind);
            code.map(|code| code as u64).ok_or_else(|| unknown_kind(kind, &known))
        };
        let mut codes = kinds.iter().map(code_of).collect::<Result<Vec<_>>>()?;
        codes.sort_unstable();
        codes.dedup();
        let wanted = WantedValue::Codes(codes);
        Ok(Self { property: property.clone(), met: &[Ordering::Equal], wanted, missing_text: None })
    }

    /// Whether edges of one kind only meet it.
    fn is_of_one_kind(&self) -> bool {
        let equals = matches!(self.met, [Ordering::Equal]);
        self.property.kind
            && equals
            && match &self.wanted {
                WantedValue::Codes(codes) => codes.len() < 2,
                WantedValue::Text(_) => true,
                WantedValue::Whole(_)
                | WantedValue::Above(_)
                | WantedValue::Real(_)
                | WantedValue::Logical(_)
                | WantedValue::Null(_) => false,
            }
    }

    /// Whether the value with these bits meets the condition.
    fn is_met(&self, bits: u64) -> bool {
        let is_missing = match self.property.is_text() {
            true => self.missing_text == Some(bits),
            false => self.property.is_missing(bits),
        };
        if let WantedValue::Null(asked) = self.wanted {
            return is_missing == asked;
        }
        // A comparison with a missing value is neither true nor false.
        if is_missing {
            return false;
        }
        let value = || PropertyValue::from_stored(&self.property, bits);
        let order = match &self.wanted {
            WantedValue::Null(_) => None,
            // Only equality is asked for: any order of two texts that differ will do.
            WantedValue::Codes(codes) if codes.binary_search(&bits).is_ok() => Some(Ordering::Equal),
            WantedValue::Codes(_) => Some(Ordering::Less),
            WantedValue::Text(code) if *code == Some(bits) => Some(Ordering::Equal),
            WantedValue::Text(_) => Some(Ordering::Less),
            WantedValue::Logical(wanted) => value().partial_cmp(wanted),
            WantedValue::Whole(wanted) => match number_of(&value()) {
                Some(ConditionNumber::Whole(value)) => Some(value.cmp(wanted)),
                Some(ConditionNumber::Real(value)) => value.partial_cmp(&(*wanted as f64)),
                None => None,
            },
            WantedValue::Above(floor) => match number_of(&value()) {
                Some(ConditionNumber::Whole(value)) if value <= *floor => Some(Ordering::Less),
                Some(_) => Some(Ordering::Greater),
                None => None,
            },
            WantedValue::Real(wanted) => match number_of(&value()) {
                Some(ConditionNumber::Real(value)) => value.partial_cmp(wanted),
                _ => None,
            },
        };
        order.is_some_and(|order| self.met.contains(&order))
    }
}

/// The kinds of edges of a version, by code; none if its edges have no kinds.
///
/// # Errors
/// [`esker_store::Error::Corrupt`].
pub fn kinds_of(version: &Version) -> Result<Vec<String>> {
    let texts = version.kind_property().and_then(|kind| version.dictionary(kind.number));
    let Some(texts) = texts else { return Ok(Vec::new()) };
    let text = |code| Ok(String::from_utf8_lossy(texts.text(code)?).into_owned());
    (0..texts.len()).map(text).collect()
}

/// A kind of edges, and how many edges of a version are of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KindCount {
    /// The kind.
    pub kind: String,
    /// The number of edges; an undirected one counts once.
    pub edges: u64,
}

/// The kinds of the edges of a version, by descending number of edges, then by name; without those of which
/// it has none. Reads the kinds of all edges.
///
/// # Errors
/// [`esker_store::Error::Corrupt`]; cancellation.
pub fn count_kinds(version: &Version, run: &Run) -> Result<Vec<KindCount>> {
    let Some(property) = version.kind_property() else { return Ok(Vec::new()) };
    let kinds = kinds_of(version)?;
    let mut counts = vec![0_u64; kinds.len()];
    for v in (0..version.num_vertices()).map(vertex) {
        if v & 0xfff == 0 {
            run.check().map_err(esker_store::Error::from)?;
        }
        let edges = version.edges(Direction::Out, v)?;
        for (index, &target) in edges.targets().iter().enumerate() {
            if version.is_directed() || v <= target {
                counts[edges.bits(property.number, index)? as usize] += 1;
            }
        }
    }
    let counted = kinds.into_iter().zip(counts).map(|(kind, edges)| KindCount { kind, edges });
    let mut counted: Vec<_> = counted.filter(|counted| counted.edges > 0).collect();
    counted.sort_by(|a, b| b.edges.cmp(&a.edges).then_with(|| a.kind.cmp(&b.kind)));
    Ok(counted)
}

/// So many kinds are named where one is not known.
const KINDS_NAMED_MAX: usize = 10;

fn unknown_kind(kind: &str, known: &[String]) -> Error {
    let mut named = known.iter().take(KINDS_NAMED_MAX).cloned().collect::<Vec<_>>().join(", ");
    if known.len() > KINDS_NAMED_MAX {
        named += &format!(" and {} more", known.len() - KINDS_NAMED_MAX);
    }
    Error::usage(match known {
        [] => format!("there is no kind of edges {kind:?}: no edge of any version has a kind"),
        [_, ..] => format!("there is no kind of edges {kind:?}; there are {named}"),
    })
}

/// Conditions on properties of a database; an edge meets all of them.
#[derive(Debug)]
pub struct Conditions {
    tests: Vec<Test>,
    /// Whether at most one of the edges between two vertices meets them, by the rule of the database.
    are_of_one_kind: bool,
}

impl Conditions {
    /// Conditions on the edges of a version; `None` if there are none.
    ///
    /// # Errors
    /// [`Error::Usage`] for conditions that the properties do not fit, and for an unknown property.
    pub fn of(conditions: &[Condition], version: &Version) -> Result<Option<Arc<Self>>> {
        Self::with_kinds(conditions, &[], version)
    }

    /// Conditions on the edges of a version that are of one of some kinds; of any if none is given.
    ///
    /// # Errors
    /// As [`Conditions::of`]; for a kind that the version does not know.
    pub fn with_kinds(
        conditions: &[Condition],
        kinds: &[String],
        version: &Version,
    ) -> Result<Option<Arc<Self>>> {
        let tests = conditions.iter().map(|condition| Test::new(condition, version));
        let mut tests = tests.collect::<Result<Vec<_>>>()?;
        if !kinds.is_empty() {
            tests.push(Test::of_kinds(kinds, version)?);
        }
        let joins = !version.manifest().duplicates().keeps_parallel();
        let are_of_one_kind = joins && tests.iter().any(Test::is_of_one_kind);
        Ok((!tests.is_empty()).then(|| Arc::new(Self { tests, are_of_one_kind })))
    }

    /// Whether an edge meets all, the bits of whose properties `bits` reads.
    fn are_met(&self, bits: impl Fn(u32) -> esker_store::Result<u64>) -> esker_store::Result<bool> {
        for test in &self.tests {
            if !test.is_met(bits(test.property.number)?) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Conditions {
    /// Whether a difference is of a vertex, or of an edge that meets all, before or after it.
    ///
    /// # Errors
    /// [`esker_store::Error::Corrupt`].
    pub fn keeps_difference(&self, difference: &Difference<'_>) -> esker_store::Result<bool> {
        let keeps = |edge: &DiffEdge<'_>| self.are_met(|number| edge.bits(number));
        match difference {
            Difference::VertexAdded(_) | Difference::VertexRemoved(_) | Difference::ValueChanged(..) => {
                Ok(true)
            }
            Difference::EdgeAdded(edge) | Difference::EdgeRemoved(edge) => keeps(edge),
            Difference::EdgeChanged(old, new) => Ok(keeps(old)? || keeps(new)?),
        }
    }
}

impl ArcFilter for Conditions {
    fn keeps_one_a_pair(&self) -> bool {
        self.are_of_one_kind
    }

    fn keeps(&self, lists: &ListColumns, index: usize) -> esker_store::Result<bool> {
        self.are_met(|number| {
            let column = lists.property(number as usize);
            let column = column.ok_or_else(|| {
                esker_store::Error::invalid(format!("there is no edge property number {number}"))
            })?;
            column.bits_at(index)
        })
    }
}

#[derive(Debug, Clone, Copy)]
enum ConditionNumber {
    Whole(i128),
    Real(f64),
}

/// The floor of a decimal number that is written with a point and without an exponent, and whether the number
/// is greater than its floor.
fn floor_of(text: &str) -> Option<(i128, bool)> {
    let unsigned = text.strip_prefix('-');
    let (whole, fraction) = unsigned.unwrap_or(text).split_once('.')?;
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (whole, is_greater) = (whole.parse::<i128>().ok()?, fraction.bytes().any(|byte| byte != b'0'));
    Some((if unsigned.is_some() { -whole - i128::from(is_greater) } else { whole }, is_greater))
}

fn number_of(value: &PropertyValue<'_>) -> Option<ConditionNumber> {
    Some(match *value {
        PropertyValue::U8(value) => ConditionNumber::Whole(value.into()),
        PropertyValue::U16(value) => ConditionNumber::Whole(value.into()),
        PropertyValue::U32(value) => ConditionNumber::Whole(value.into()),
        PropertyValue::U64(value) => ConditionNumber::Whole(value.into()),
        PropertyValue::I32(value) => ConditionNumber::Whole(value.into()),
        PropertyValue::I64(value) => ConditionNumber::Whole(value.into()),
        PropertyValue::F32(value) => ConditionNumber::Real(value.into()),
        PropertyValue::F64(value) => ConditionNumber::Real(value),
        PropertyValue::Boolean(value) => ConditionNumber::Whole(value.into()),
        PropertyValue::Date(days) => ConditionNumber::Whole(days.into()),
        PropertyValue::Timestamp(time) => ConditionNumber::Whole(time.count.into()),
        PropertyValue::EdgeId(id) => ConditionNumber::Whole(id.bits().into()),
        PropertyValue::Text(_) | PropertyValue::Vector(_) | PropertyValue::Missing => return None,
    })
}
