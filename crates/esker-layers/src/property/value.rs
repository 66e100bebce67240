//! One value of a property, of any type.

use esker_format::value::zone::Zone;
use esker_format::{
    DateText, EdgeId, ElementType, LogicalType, PropertyRecord, Timestamp, Widening, parse_boolean,
    parse_date,
};

use super::vector::VectorValue;

macro_rules! property_values {
    ($($code:ident($type:ty)),*) => {
        /// A value of a property.
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
        pub enum PropertyValue<'a> {
            $(#[doc = concat!("Of type ", stringify!($type), ".")] $code($type),)*
            /// A text. UTF-8 is usual, not required.
            Text(&'a [u8]),
            /// A vector of numbers.
            Vector(VectorValue<'a>),
            /// A truth value.
            Boolean(bool),
            /// A date: days since 1970-01-01.
            Date(i32),
            /// A point in time.
            Timestamp(Timestamp),
            /// The id of an edge.
            EdgeId(EdgeId),
            /// None: the edge has no value. As a value of a vertex, the same as `None`.
            Missing,
        }

        impl PropertyValue<'_> {
            /// The number of this type whose bits, widened to 64, are given.
            pub fn from_bits(element: ElementType, bits: u64) -> Self {
                let bytes = bits.to_le_bytes();
                match element {
                    $(ElementType::$code => {
                        let mut low = [0; size_of::<$type>()];
                        low.copy_from_slice(&bytes[..size_of::<$type>()]);
                        Self::$code(<$type>::from_le_bytes(low))
                    })*
                }
            }

            /// The bits of a number, widened to 64; `None`: a text, or none.
            pub fn bits(&self) -> Option<u64> {
                match self {
                    $(Self::$code(value) => {
                        let mut bytes = [0; 8];
                        bytes[..size_of::<$type>()].copy_from_slice(&value.to_le_bytes());
                        Some(u64::from_le_bytes(bytes))
                    })*
                    Self::Boolean(value) => Some(u64::from(*value)),
                    Self::Date(days) => Some(u64::from(days.cast_unsigned())),
                    Self::Timestamp(time) => Some(time.count.cast_unsigned()),
                    Self::EdgeId(id) => Some(id.bits()),
                    Self::Text(_) | Self::Vector(_) | Self::Missing => None,
                }
            }

            /// The type in which it is stored; `None`: a text, or none.
            pub fn element(&self) -> Option<ElementType> {
                match self {
                    $(Self::$code(_) => Some(ElementType::$code),)*
                    Self::Boolean(_) => Some(ElementType::U8),
                    Self::Date(_) => Some(ElementType::I32),
                    Self::Timestamp(_) | Self::EdgeId(_) => Some(ElementType::I64),
                    Self::Text(_) | Self::Vector(_) | Self::Missing => None,
                }
            }

            /// A number as users write it: decimal, without a unit. `None` if it is none of this type.
            pub fn parse(element: ElementType, text: &str) -> Option<Self> {
                match element {
                    $(ElementType::$code => text.trim().parse().ok().map(Self::$code),)*
                }
            }
        }

        $(impl From<$type> for PropertyValue<'_> {
            fn from(value: $type) -> Self {
                Self::$code(value)
            }
        })*

        impl std::fmt::Display for PropertyValue<'_> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $(Self::$code(value) => value.write(f),)*
                    Self::Text(text) => String::from_utf8_lossy(text).fmt(f),
                    Self::Vector(vector) => vector.fmt(f),
                    Self::Boolean(value) => value.fmt(f),
                    Self::Date(days) => DateText(i64::from(*days)).fmt(f),
                    Self::Timestamp(time) => time.fmt(f),
                    Self::EdgeId(id) => id.fmt(f),
                    Self::Missing => Ok(()),
                }
            }
        }
    };
}

property_values!(U8(u8), U16(u16), U32(u32), U64(u64), I32(i32), I64(i64), F32(f32), F64(f64));

/// A number as text from which a reader of its own type takes the same number.
trait Digits {
    fn write(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result;
}

macro_rules! digits {
    ($($integer:ty),*; $($float:ty),*) => {
        $(impl Digits for $integer {
            fn write(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        })*
        $(impl Digits for $float {
            /// From 2^53 on, the shortest digits with zeros behind them would be another integer, which
            /// readers do not round; `-0` would be the integer 0.
            fn write(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let is_long = self.is_finite() && f64::from(*self).abs() >= 9_007_199_254_740_992.0;
                let is_negative_zero = *self == 0.0 && self.is_sign_negative();
                if is_long || is_negative_zero { std::fmt::LowerExp::fmt(self, f) } else { std::fmt::Display::fmt(self, f) }
            }
        })*
    };
}

digits!(u8, u16, u32, u64, i32, i64; f32, f64);

impl<'a, T: Into<Self>> From<Option<T>> for PropertyValue<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Missing, Into::into)
    }
}

impl<'a> From<&'a str> for PropertyValue<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text.as_bytes())
    }
}

impl<'a> PropertyValue<'a> {
    /// The value of a property whose bits, widened to 64, are given. Texts have none.
    pub fn from_stored(property: &PropertyRecord, bits: u64) -> Self {
        if property.is_missing(bits) {
            return Self::Missing;
        }
        Self::from_bits(property.element, bits).as_logical(&property.logical)
    }

    /// The value of an edge property that holds texts, by the text of its dictionary.
    pub fn from_text(property: &PropertyRecord, text: &'a [u8]) -> Self {
        if property.is_missing_text(text) { Self::Missing } else { Self::Text(text) }
    }

    /// Whether it is none: missing, or NaN.
    pub fn is_missing(&self) -> bool {
        match self {
            Self::Missing => true,
            Self::F32(number) => number.is_nan(),
            Self::F64(number) => number.is_nan(),
            _ => false,
        }
    }

    /// Whether it is a plain number.
    pub fn is_number(&self) -> bool {
        !matches!(
            self,
            Self::Text(_)
                | Self::Vector(_)
                | Self::Boolean(_)
                | Self::Date(_)
                | Self::Timestamp(_)
                | Self::EdgeId(_)
                | Self::Missing
        )
    }

    /// The value without a borrow. Texts, which are borrowed, become the number 0.
    pub fn to_owned_number(self) -> PropertyValue<'static> {
        match self {
            Self::Boolean(value) => PropertyValue::Boolean(value),
            Self::Date(days) => PropertyValue::Date(days),
            Self::Timestamp(time) => PropertyValue::Timestamp(time),
            Self::EdgeId(id) => PropertyValue::EdgeId(id),
            Self::Missing => PropertyValue::Missing,
            number => PropertyValue::from_bits(
                number.element().unwrap_or(ElementType::U64),
                number.bits().unwrap_or(0),
            ),
        }
    }

    /// The value that a stored number stands for in a property of type `logical`; unchanged if the type is
    /// not stored as numbers.
    #[must_use]
    pub fn as_logical(self, logical: &LogicalType) -> Self {
        match (self, logical) {
            (Self::U8(value), LogicalType::Boolean) => Self::Boolean(value != 0),
            (Self::I32(days), LogicalType::Date) => Self::Date(days),
            (Self::I64(count), LogicalType::Timestamp { unit, zone }) => {
                Self::Timestamp(Timestamp { count, unit: *unit, offset_seconds: None }.shown_in(zone))
            }
            (Self::I64(bits), LogicalType::EdgeId) => Self::EdgeId(EdgeId::from_bits(bits.cast_unsigned())),
            (other, _) => other,
        }
    }

    /// A truth value, date or time as users write it.
    ///
    /// # Errors
    /// Why `text` is no value of this type.
    pub fn parse_logical(logical: &LogicalType, text: &str) -> Result<Self, &'static str> {
        let text = text.trim();
        match logical {
            LogicalType::Boolean => {
                let value = match text {
                    "0" => Some(false),
                    "1" => Some(true),
                    text => parse_boolean(text),
                };
                value.map(Self::Boolean).ok_or("is neither true nor false")
            }
            LogicalType::Date => parse_date(text).map(Self::Date).ok_or("is not a date such as 2026-11-21"),
            LogicalType::Timestamp { unit, zone } => {
                let time = Timestamp::parse(text, *unit)?;
                match (time.is_utc(), zone.is_empty()) {
                    (true, true) => Err(
                        "has a time zone, which the property does not keep; declare it as timestamp[us, UTC]",
                    ),
                    // Local times are of the zone of the property, as in files.
                    (false, false) => match Zone::of_clocks(zone).map(|own| time.local_in(&own)) {
                        Some(Some(time)) => Ok(Self::Timestamp(time.shown_in(zone))),
                        Some(None) => Err("does not fit 64 bits in the unit of the property"),
                        None => Err("has no time zone; write Z or an offset behind it"),
                    },
                    _ => Ok(Self::Timestamp(time.shown_in(zone))),
                }
            }
            LogicalType::EdgeId => text.parse().map(Self::EdgeId),
            LogicalType::Number | LogicalType::Text | LogicalType::Vector { .. } => {
                Err("is neither a truth value nor a date nor a time")
            }
        }
    }

    /// The value as a stored type, or a wider one, holds it; unchanged if the type cannot hold it.
    #[must_use]
    pub(super) fn stored_as(self, element: Option<ElementType>) -> Self {
        let (Some(to), Some(from), Some(bits)) = (element, self.element(), self.bits()) else { return self };
        let bits = if from == to {
            Some(bits)
        } else {
            Widening { property: 0, from, to, optional: false }.bits(bits)
        };
        bits.map_or(self, |bits| PropertyValue::from_bits(to, bits))
    }

    /// Its type, in a word.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Boolean(_) => "truth values",
            Self::Date(_) => "dates",
            Self::Timestamp(_) => "times",
            Self::EdgeId(_) => "ids of edges",
            Self::Vector(_) => "vectors",
            Self::Missing => "no value",
            other => other.element().map_or("texts", ElementType::name),
        }
    }
}
