//! Conditions on the properties of edges: a filter of a version's graphs, and of what is exported.

use std::cmp::Ordering;
use std::sync::Arc;

use esker_graph::{Setting, message};

use esker_store::Version;
use esker_store::format::{ElementType, PropertyRecord, value::decimal};
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
        if property.is_text() && condition.code(property, version)?.is_none() {
            let Condition { property, wanted, .. } = condition;
            notes.push(format!("no edge of any version has the text {wanted:?} as its {property}"));
        }
    }
    Ok(notes)
}

/// A condition on an edge property, such as `kind=depends` or `since>=2011`.
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
        let place = text.find(['!', '<', '>', '=']).filter(|&place| place > 0);
        let found = place.and_then(|place| {
            let is_here = |(sign, _): &&(&str, _)| text[place..].starts_with(sign);
            OPERATORS.iter().find(is_here).map(|(sign, met)| (place, sign.len(), *met))
        });
        let Some((place, length, met)) = found else {
            return Err(format!("{text:?} is not a condition; give one such as kind=depends or since>=2011"));
        };
        let (property, wanted) = (text[..place].trim().to_owned(), text[place + length..].trim().to_owned());
        Ok(Self { property, met, wanted })
    }
}

impl Condition {
    /// The code of the wanted text in the dictionary of a property, which has each text once; `None` if no
    /// edge of any version has it.
    fn code(&self, property: &PropertyRecord, version: &Version) -> Result<Option<u64>> {
        let Some(texts) = version.dictionary(property.number) else { return Ok(None) };
        for code in 0..texts.len() {
            if texts.text(code)? == self.wanted.as_bytes() {
                return Ok(Some(code as u64));
            }
        }
        Ok(None)
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

/// A wanted value of the type of a property.
#[derive(Debug, Clone)]
enum WantedValue {
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
}

impl Test {
    fn new(condition: &Condition, version: &Version) -> Result<Self> {
        let Condition { property, met, wanted } = condition;
        let property = version.edge_property(property)?.clone();
        let refused = |reason: &str| {
            let named = Setting::Where.to_name(&property.name);
            Error::usage(message![named, format!(": {reason}")])
        };
        let value = if property.is_text() {
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
        Ok(Self { property, met, wanted: value })
    }

    /// Whether the value with these bits meets the condition.
    fn is_met(&self, bits: u64) -> bool {
        let value = || PropertyValue::from_stored(&self.property, bits);
        let order = match &self.wanted {
            // Only equality is asked for: any order of two texts that differ will do.
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

/// Conditions on properties of a database; an edge meets all of them.
#[derive(Debug)]
pub struct Conditions {
    tests: Vec<Test>,
}

impl Conditions {
    /// Conditions on the edges of a version; `None` if there are none.
    ///
    /// # Errors
    /// [`Error::Usage`] for conditions that the properties do not fit, and for an unknown property.
    pub fn of(conditions: &[Condition], version: &Version) -> Result<Option<Arc<Self>>> {
        let tests = conditions.iter().map(|condition| Test::new(condition, version));
        let tests = tests.collect::<Result<Vec<_>>>()?;
        Ok((!tests.is_empty()).then(|| Arc::new(Self { tests })))
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

impl ArcFilter for Conditions {
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
        PropertyValue::Text(_) => return None,
    })
}
