//! What columns of a file hold, by their Arrow type.

use arrow_schema::{DataType, TimeUnit};

/// What a column of a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    Numbers,
    /// Numbers that need not be whole.
    Fractions,
    /// Dates or times: numbers in a file, but no ids.
    Times,
    /// Times of day or lengths of time: numbers in this unit, which no type of a property keeps.
    Spans(TimeUnit),
    Texts,
    /// Lists of floats, where vectors have a place.
    Vectors,
    /// Something that a graph has no place for, such as lists.
    Other,
}

impl Holds {
    pub(super) fn is_numbers(self) -> bool {
        matches!(self, Self::Numbers | Self::Fractions | Self::Times)
    }

    pub(super) fn are_spans(self) -> bool {
        matches!(self, Self::Spans(_))
    }

    pub(super) fn of(data_type: &DataType) -> Self {
        match data_type {
            DataType::Boolean => Self::Numbers,
            DataType::Float16 | DataType::Float32 | DataType::Float64 => Self::Fractions,
            DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal128(..) => Self::Fractions,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Self::Texts,
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView => Self::Texts,
            DataType::FixedSizeBinary(_) => Self::Texts,
            DataType::Dictionary(_, values) => Self::of(values),
            DataType::RunEndEncoded(_, values) => Self::of(values.data_type()),
            DataType::Interval(_) => Self::Other,
            DataType::Time32(unit) | DataType::Time64(unit) | DataType::Duration(unit) => Self::Spans(*unit),
            other if other.is_temporal() => Self::Times,
            other if other.is_integer() => Self::Numbers,
            _ => Self::Other,
        }
    }
}

/// What is said of a column of [`Holds::Spans`].
pub(super) const SPANS: &str = "holds times of day or lengths of time, which no type of a property keeps, as numbers in the file's own unit";
