//! One value of a property, of whatever type.

use esker_format::ElementType;

macro_rules! property_values {
    ($($code:ident($type:ty)),*) => {
        /// A value of a property.
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
        pub enum PropertyValue<'a> {
            $(#[doc = concat!("Of type ", stringify!($type), ".")] $code($type),)*
            /// A text. UTF-8 is usual, not required.
            Text(&'a [u8]),
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

            /// The bits of a number, widened to 64; `None`: a text.
            pub fn bits(&self) -> Option<u64> {
                match self {
                    $(Self::$code(value) => {
                        let mut bytes = [0; 8];
                        bytes[..size_of::<$type>()].copy_from_slice(&value.to_le_bytes());
                        Some(u64::from_le_bytes(bytes))
                    })*
                    Self::Text(_) => None,
                }
            }

            /// Its type; `None`: a text.
            pub fn element(&self) -> Option<ElementType> {
                match self {
                    $(Self::$code(_) => Some(ElementType::$code),)*
                    Self::Text(_) => None,
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
                    $(Self::$code(value) => value.fmt(f),)*
                    Self::Text(text) => String::from_utf8_lossy(text).fmt(f),
                }
            }
        }
    };
}

property_values!(U8(u8), U16(u16), U32(u32), U64(u64), I32(i32), I64(i64), F32(f32), F64(f64));

impl<'a> From<&'a str> for PropertyValue<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text.as_bytes())
    }
}

impl PropertyValue<'_> {
    /// What it is, in a word.
    pub(super) fn kind(&self) -> &'static str {
        self.element().map_or("texts", ElementType::name)
    }
}
