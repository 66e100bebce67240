//! In which of two notations the values of a table are written: the common one, or that which a database
//! remembers of its import.

use std::cmp::Ordering;

use esker_format::LogicalType;
use esker_format::notation::ColumnNotation;
use esker_format::value::calendar::CivilText;
use esker_format::value::decimal::is_numeral;
use esker_graph::{Message, Setting, message};

use super::missing::says_missing;

/// The format of dates of the common notation.
const COMMON_DATES: &str = "%F";

/// How many values of a sample fit one of two notations alone.
#[derive(Default)]
pub(crate) struct NotationFits {
    common: usize,
    remembered: usize,
    /// A value that fits both, and says different things.
    doubtful: Option<DoubtfulValue>,
}

/// A value that both notations read, as different values.
struct DoubtfulValue {
    property: String,
    value: String,
    is_number: bool,
    /// What the common notation and the remembered one make of it.
    read: [String; 2],
}

impl NotationFits {
    /// Counts the values of the column of a property, by both notations of it.
    pub(crate) fn count<'v>(
        &mut self,
        property: &str,
        logical: &LogicalType,
        [common, remembered]: [&ColumnNotation; 2],
        values: impl Iterator<Item = &'v [u8]>,
    ) {
        if common == remembered {
            return;
        }
        for value in values.filter(|value| !says_missing(value)) {
            match [common, remembered].map(|notation| read_value(notation, value, logical)) {
                [Some(_), None] => self.common += 1,
                [None, Some(_)] => self.remembered += 1,
                [Some(plain), Some(own)] if plain != own && self.doubtful.is_none() => {
                    self.doubtful = Some(DoubtfulValue {
                        property: property.to_owned(),
                        is_number: *logical == LogicalType::Number,
                        read: [plain, own],
                        value: String::from_utf8_lossy(value).into_owned(),
                    });
                }
                _ => {}
            }
        }
    }

    /// Which notation more values fit: `Greater` is the common one.
    pub(crate) fn order(&self) -> Ordering {
        self.common.cmp(&self.remembered)
    }

    /// Whether the choice of a notation changes what some value says, or whether it is one.
    pub(crate) fn differ(&self) -> bool {
        self.common + self.remembered > 0 || self.doubtful.is_some()
    }

    /// Why the notation cannot be told, if a value is read by both and none by one alone.
    pub(crate) fn doubt(&self) -> Option<Message> {
        let DoubtfulValue { property, value, is_number, read: [common, own] } =
            self.doubtful.as_ref().filter(|_| self.common + self.remembered == 0)?;
        let say = match is_number {
            true => message![Setting::DecimalComma.to(false), " or ", Setting::DecimalComma.to(true)],
            false => message![
                Setting::DateFormat.to(format!("{property}={COMMON_DATES}")),
                ", or with the format of the import",
            ],
        };
        Some(message![
            format!(
                "the property {property:?}: {value} is {common} if an export wrote it, and {own} if it is written as \
                 in the import; say which with "
            ),
            say,
        ])
    }
}

/// A value of a property of this type in the common notation; `None` if it is none.
fn read_value(notation: &ColumnNotation, value: &[u8], logical: &LogicalType) -> Option<String> {
    let value = value.trim_ascii();
    let read = match logical {
        LogicalType::Number => notation.read(value, logical).ok().filter(|read| is_numeral(read))?,
        LogicalType::Date | LogicalType::Timestamp { .. } => {
            // A sample counts no times that the clocks showed twice.
            notation.sample(std::iter::once(value)).pop().filter(|read| is_time(read))?
        }
        LogicalType::Text | LogicalType::Boolean | LogicalType::EdgeId | LogicalType::Vector { .. } => {
            return None;
        }
    };
    Some(String::from_utf8_lossy(&read).into_owned())
}

fn is_time(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| CivilText::parse(text).is_some())
}

#[cfg(test)]
mod tests {
    use esker_format::notation::Notation;

    use super::*;

    /// The order and the doubt of values by the common notation and one with decimal commas and days first.
    fn told(logical: &LogicalType, values: &[&str]) -> (Ordering, bool) {
        let given = Notation {
            decimal_comma: Some(true),
            formats: vec!["day=%Y-%d-%m".parse().unwrap()],
            ..Notation::default()
        };
        let values = || values.iter().map(|value| value.as_bytes());
        let is_day = *logical == LogicalType::Date;
        let own = given.of_column(|name| is_day && name == "day", values());
        let mut fits = NotationFits::default();
        fits.count("x", logical, [&ColumnNotation::default(), &own], values());
        (fits.order(), fits.doubt().is_some())
    }

    #[test]
    fn values_tell_the_notation_or_leave_it_open() {
        for (values, expected) in [
            (&["2.5", "10.125"][..], (Ordering::Greater, false)),
            (&["2,5", "10.125"], (Ordering::Less, false)),
            (&["10.125", "-", ""], (Ordering::Equal, true)),
            (&["7", "x", ""], (Ordering::Equal, false)),
        ] {
            assert_eq!(told(&LogicalType::Number, values), expected, "{values:?}");
            assert_eq!(told(&LogicalType::Text, values), (Ordering::Equal, false), "{values:?}");
        }
        for (values, expected) in [
            (&["2026-02-01", "2026-02-13"][..], (Ordering::Greater, false)),
            (&["2026-02-01", "2026-13-02"], (Ordering::Less, false)),
            (&["2026-02-01"], (Ordering::Equal, true)),
            (&["2026-02-02"], (Ordering::Equal, false)),
        ] {
            assert_eq!(told(&LogicalType::Date, values), expected, "{values:?}");
        }
    }
}
