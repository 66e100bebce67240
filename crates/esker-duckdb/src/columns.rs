//! Types of columns, and how values of properties and ids come into them.

use esker::graph::VertexId;
use esker::store::Version;
use esker::store::format::{ElementType, LogicalType, PropertyRecord, TimeUnit};
use esker::store::ids::ExternalId;

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnType {
    Boolean,
    Integer,
    BigInt,
    UTinyInt,
    USmallInt,
    UInteger,
    UBigInt,
    Float,
    Double,
    Text,
    Date,
    /// A point in time, UTC if its zone is known.
    Time(TimeUnit),
    /// Arrays of so many floats of 32 or 64 bits.
    Floats(u32),
    Doubles(u32),
}

impl ColumnType {
    /// The type of the values of a property.
    pub(crate) fn of(property: &PropertyRecord) -> Self {
        match (&property.logical, property.element) {
            (LogicalType::Text, _) => Self::Text,
            (LogicalType::Boolean, _) => Self::Boolean,
            (LogicalType::Date, _) => Self::Date,
            (LogicalType::Timestamp { unit, .. }, _) => Self::Time(*unit),
            (LogicalType::Vector { len }, ElementType::F64) => Self::Doubles(*len),
            (LogicalType::Vector { len }, _) => Self::Floats(*len),
            (LogicalType::EdgeId, _) => Self::UBigInt,
            (LogicalType::Number, element) => match element {
                ElementType::U8 => Self::UTinyInt,
                ElementType::U16 => Self::USmallInt,
                ElementType::U32 => Self::UInteger,
                ElementType::U64 => Self::UBigInt,
                ElementType::I32 => Self::Integer,
                ElementType::I64 => Self::BigInt,
                ElementType::F32 => Self::Float,
                ElementType::F64 => Self::Double,
            },
        }
    }

    /// The type of the ids of vertices. Ids beyond a `BIGINT` are refused where they are read.
    pub(crate) fn of_ids(version: &Version) -> Self {
        if version.ids().is_text() { Self::Text } else { Self::BigInt }
    }

    /// Bytes of a value; 0 for texts.
    pub(crate) fn width(self) -> usize {
        match self {
            Self::Text => 0,
            Self::Boolean | Self::UTinyInt => 1,
            Self::USmallInt => 2,
            Self::Integer | Self::UInteger | Self::Float | Self::Date => 4,
            Self::BigInt | Self::UBigInt | Self::Double | Self::Time(_) => 8,
            Self::Floats(len) => 4 * len as usize,
            Self::Doubles(len) => 8 * len as usize,
        }
    }
}

/// A column of a chunk that DuckDB gave to be filled.
pub(crate) struct TableColumn<'a> {
    pub(crate) kind: ColumnType,
    /// The bytes of all values, [`ColumnType::width`] each.
    pub(crate) bytes: &'a mut [u8],
    pub(crate) rest: &'a mut dyn TextsAndNulls,
}

/// What is not bytes of a column.
pub(crate) trait TextsAndNulls {
    fn put_text(&mut self, row: usize, text: &str);

    fn put_null(&mut self, row: usize);
}

impl TableColumn<'_> {
    /// Puts bits, the low bytes of which are the value.
    #[inline]
    pub(crate) fn put_bits(&mut self, row: usize, bits: u64) {
        let width = self.kind.width();
        self.bytes[row * width..][..width].copy_from_slice(&bits.to_le_bytes()[..width]);
    }

    /// Puts bits into all rows from the first.
    pub(crate) fn put_all_bits(&mut self, bits: impl Iterator<Item = u64>) {
        /// Of a constant width, so that the loop is one of plain stores.
        fn put<const WIDTH: usize>(bytes: &mut [u8], bits: impl Iterator<Item = u64>) {
            for (bytes, bits) in bytes.chunks_exact_mut(WIDTH).zip(bits) {
                bytes.copy_from_slice(&bits.to_le_bytes()[..WIDTH]);
            }
        }
        match self.kind.width() {
            1 => put::<1>(self.bytes, bits),
            2 => put::<2>(self.bytes, bits),
            4 => put::<4>(self.bytes, bits),
            _ => put::<8>(self.bytes, bits),
        }
    }

    pub(crate) fn put_bytes(&mut self, row: usize, value: &[u8]) {
        let width = self.kind.width();
        self.bytes[row * width..][..width].copy_from_slice(value);
    }

    pub(crate) fn put_null(&mut self, row: usize) {
        self.rest.put_null(row);
    }

    /// Puts a text, which must be UTF-8.
    pub(crate) fn put_text(&mut self, row: usize, text: &[u8]) -> Result<(), String> {
        let text = std::str::from_utf8(text).map_err(|_| {
            let shown = String::from_utf8_lossy(text);
            format!("{shown:?} is not UTF-8, as DuckDB demands of texts: leave its rows out with `filter`")
        })?;
        self.rest.put_text(row, text);
        Ok(())
    }

    /// Puts the id of a vertex.
    pub(crate) fn put_id(&mut self, version: &Version, row: usize, v: VertexId) -> Result<(), String> {
        match version.ids().external_of(v).map_err(|error| error.to_string())? {
            ExternalId::Text(text) => self.put_text(row, text),
            ExternalId::Int(id) if i64::try_from(id).is_ok() => {
                self.put_bits(row, id);
                Ok(())
            }
            ExternalId::Int(id) => {
                Err(format!("the id {id} exceeds {}, the largest that fits in a BIGINT", i64::MAX))
            }
        }
    }

    /// Puts the ids of vertices into all rows from the first.
    pub(crate) fn put_ids(&mut self, version: &Version, vertices: &[VertexId]) -> Result<(), String> {
        if let Some(base) = version.ids().dense_base()
            && i64::try_from(base).is_ok_and(|base| base.checked_add(version.num_vertices() as i64).is_some())
        {
            self.put_all_bits(vertices.iter().map(|&v| base + u64::from(v)));
            return Ok(());
        }
        vertices.iter().enumerate().try_for_each(|(row, &v)| self.put_id(version, row, v))
    }
}
