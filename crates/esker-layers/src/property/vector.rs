//! Vectors of fixed length as values of vertices.

use esker_format::value::decimal::{self, shown};
use esker_format::{ElementType, LogicalType, PropertyRecord};

/// A vector of numbers of 32 or 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct VectorValue<'a> {
    bytes: &'a [u8],
    is_wide: bool,
}

impl<'a> VectorValue<'a> {
    /// The numbers in these bytes, little-endian, for a property of vectors; `None` if the property has
    /// others.
    pub fn of(property: &PropertyRecord, bytes: &'a [u8]) -> Option<Self> {
        let is_wide = property.element == ElementType::F64;
        (property.vector_bytes() == Some(bytes.len())).then_some(Self { bytes, is_wide })
    }

    /// The numbers in these bytes, little-endian, of 64 bits (`is_wide`) or 32.
    pub fn new(bytes: &'a [u8], is_wide: bool) -> Self {
        Self { bytes, is_wide }
    }

    /// Its numbers, little-endian.
    pub fn bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// Whether its numbers have 64 bits.
    pub fn is_wide(self) -> bool {
        self.is_wide
    }

    /// How many numbers it has.
    pub fn len(self) -> usize {
        self.bytes.len() / if self.is_wide { 8 } else { 4 }
    }

    /// Whether it has none.
    pub fn is_empty(self) -> bool {
        self.bytes.is_empty()
    }

    /// Its numbers.
    pub fn numbers(self) -> impl Iterator<Item = f64> {
        let wide = self.bytes.as_chunks::<8>().0.iter().map(|&bytes| f64::from_le_bytes(bytes));
        let narrow = self.bytes.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes).into());
        let (wide, narrow) = if self.is_wide { (Some(wide), None) } else { (None, Some(narrow)) };
        wide.into_iter().flatten().chain(narrow.into_iter().flatten())
    }

    /// The bytes of a vector of `property` that is written as a list in JSON, such as `[0.5,-1,2e3]`. Each
    /// number becomes the nearest one of the type.
    ///
    /// # Errors
    /// Why it is none, such as `has 2 numbers, not 3`.
    pub fn parse(property: &PropertyRecord, text: &[u8]) -> Result<Vec<u8>, String> {
        let LogicalType::Vector { len } = property.logical else { return Err("is no vector".to_owned()) };
        let inside = text.trim_ascii().strip_prefix(b"[").and_then(|text| text.strip_suffix(b"]"));
        let inside = inside.ok_or("is no list of numbers such as [0.5,-1,2]")?;
        let mut bytes = Vec::with_capacity(property.vector_bytes().unwrap_or(0));
        let mut count = 0_usize;
        for number in inside.split(|&byte| byte == b',').filter(|_| !inside.trim_ascii().is_empty()) {
            let number = number.trim_ascii();
            let wrong = || format!("has {:?}, which is no finite number of the type", shown(number));
            decimal::number(number).map_err(|_| wrong())?;
            let digits = std::str::from_utf8(number).map_err(|_| wrong())?;
            if property.element == ElementType::F64 {
                let number = digits.parse::<f64>().ok().filter(|number| number.is_finite());
                bytes.extend_from_slice(&number.ok_or_else(wrong)?.to_le_bytes());
            } else {
                let number = digits.parse::<f32>().ok().filter(|number| number.is_finite());
                bytes.extend_from_slice(&number.ok_or_else(wrong)?.to_le_bytes());
            }
            count += 1;
        }
        match count == len as usize {
            true => Ok(bytes),
            false => Err(format!("has {}, not {len}", esker_graph::counted(count, "number", "numbers"))),
        }
    }
}

impl std::fmt::Display for VectorValue<'_> {
    /// As a list in JSON, without blanks.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[")?;
        for (index, number) in self.numbers().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            match self.is_wide {
                true => write!(f, "{comma}{number:?}")?,
                false => write!(f, "{comma}{:?}", number as f32)?,
            }
        }
        f.write_str("]")
    }
}

#[cfg(test)]
mod tests {
    use esker_format::PropertyType;

    use super::*;

    fn property(name: &str) -> PropertyRecord {
        PropertyRecord::of_vertices("v", name.parse::<PropertyType>().unwrap())
    }

    #[test]
    fn vectors_are_written_as_they_are_read() {
        let texts = ["[0.1,-1.0,2000.0]", "[1e-40,3.4e38,-0.0]", "[1e30,0.5,1.0]"];
        for (kind, texts) in [("vector[3]", &texts[..]), ("vector[f64, 3]", &["[0.1,1e-300,1e300]"])] {
            for text in texts {
                let property = property(kind);
                let bytes = VectorValue::parse(&property, text.as_bytes()).unwrap();
                let vector = VectorValue::of(&property, &bytes).unwrap();
                assert_eq!((vector.to_string(), vector.len()), ((*text).to_owned(), 3));
            }
        }
        let blanks = VectorValue::parse(&property("vector[2]"), b" [ 1 , 2 ] ").unwrap();
        assert_eq!(VectorValue::new(&blanks, false).numbers().collect::<Vec<_>>(), [1.0, 2.0]);
    }

    #[test]
    fn what_is_no_vector_of_the_type_is_refused() {
        for (text, reason) in [
            ("[1,2]", "has 2 numbers, not 3"),
            ("[]", "has 0 numbers, not 3"),
            ("1,2,3", "is no list of numbers"),
            ("[1,2,]", "has \"\", which is no finite number"),
            ("[1,2,x]", "has \"x\", which is no finite number"),
            ("[1,2,1e39]", "has \"1e39\", which is no finite number"),
            ("[1,2,nan]", "has \"nan\", which is no finite number"),
            ("[1,2,[3]]", "has \"[3]\", which is no finite number"),
        ] {
            let told = VectorValue::parse(&property("vector[3]"), text.as_bytes()).unwrap_err();
            assert!(told.contains(reason), "{text}: {told}");
        }
        assert!(VectorValue::parse(&property("text"), b"[1]").is_err());
        assert!(VectorValue::of(&property("vector[3]"), &[0; 8]).is_none());
        for name in ["vector[0]", "vector[8193]", "vector[i32, 3]", "vector[]", "vector[f32]"] {
            assert!(name.parse::<PropertyType>().is_err(), "{name}");
        }
    }
}
