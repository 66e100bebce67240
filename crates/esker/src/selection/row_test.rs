//! Conditions on the columns of rows, such as those of an answer.

use esker_store::format::{ElementType, LogicalType, PropertyRecord, PropertyType};
use esker_store::property::PropertyValue;
use serde_json::Value;

use super::text::{Asked, Comparison, Expression, Operand, Whose};
use super::value::ValueTest;
use crate::error::{Error, Result};

/// What the cells of a column hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CellType {
    /// Texts.
    Text,
    /// Integers.
    Integer,
    /// Numbers: integers in some rows or answers, floats in others.
    Number,
}

/// A column that conditions may name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowColumn {
    /// Its name.
    pub(crate) name: &'static str,
    /// What its cells hold.
    pub(crate) cells: CellType,
}

/// A condition on rows. Of a missing value, it is neither true nor false, as in SQL.
#[derive(Debug)]
pub(crate) enum RowTest {
    All(Vec<Self>),
    Any(Vec<Self>),
    Not(Box<Self>),
    Cell(CellTest),
}

/// A question about the cell of a column, in each type that the cell may have.
#[derive(Debug)]
pub(crate) struct CellTest {
    column: usize,
    text: Option<ValueTest>,
    unsigned: Option<ValueTest>,
    signed: Option<ValueTest>,
    float: Option<ValueTest>,
}

impl RowTest {
    /// The condition on rows whose columns have these names and types; `aliases` are further names of
    /// columns.
    ///
    /// # Errors
    /// [`Error::Usage`] for an unknown column, and for a value that a column cannot be compared with.
    pub(super) fn new(
        expression: &Expression,
        columns: &[RowColumn],
        aliases: &[(&str, usize)],
    ) -> Result<Self> {
        Self::of(expression, &|operand| {
            let name = column_name(operand)?;
            let own = columns.iter().position(|column| column.name == name);
            let found = own.or_else(|| aliases.iter().find(|(alias, _)| *alias == name).map(|(_, at)| *at));
            found.map(|at| (at, columns[at].cells)).ok_or_else(|| {
                let names: Vec<_> = columns.iter().map(|column| column.name).collect();
                Error::usage(format!("the rows have no column {name}; they have {}", names.join(", ")))
            })
        })
    }

    fn of(expression: &Expression, find: &dyn Fn(&Operand) -> Result<(usize, CellType)>) -> Result<Self> {
        let several =
            |parts: &[Expression]| parts.iter().map(|part| Self::of(part, find)).collect::<Result<Vec<_>>>();
        Ok(match expression {
            Expression::All(parts) => Self::All(several(parts)?),
            Expression::Any(parts) => Self::Any(several(parts)?),
            Expression::Not(part) => Self::Not(Box::new(Self::of(part, find)?)),
            Expression::Test(Comparison { operand, asked }) => {
                let (column, cells) = find(operand)?;
                let test = CellTest::new(column, cells, asked);
                Self::Cell(test.map_err(|reason| Error::usage(format!("{operand}: {reason}")))?)
            }
        })
    }

    /// Whether a row meets it: its cells are missing (null), texts or numbers.
    pub(crate) fn is_met(&self, row: &[Value]) -> bool {
        self.answer(row) == Some(true)
    }

    fn answer(&self, row: &[Value]) -> Option<bool> {
        match self {
            Self::All(parts) => decided(parts, row, false),
            Self::Any(parts) => decided(parts, row, true),
            Self::Not(part) => part.answer(row).map(|is_met| !is_met),
            Self::Cell(test) => test.of(&row[test.column]),
        }
    }
}

/// The answer of several parts that one with the answer `deciding` decides.
fn decided(parts: &[RowTest], row: &[Value], deciding: bool) -> Option<bool> {
    let mut all = Some(!deciding);
    for part in parts {
        match part.answer(row) {
            Some(answer) if answer == deciding => return Some(deciding),
            Some(_) => {}
            None => all = None,
        }
    }
    all
}

/// The name of the column that an operand is.
fn column_name(operand: &Operand) -> Result<&str> {
    match (operand.whose, operand.name.as_deref()) {
        (Whose::Edge, Some(name)) => Ok(name),
        (Whose::Source, None) => Ok("source"),
        (Whose::Target, None) => Ok("target"),
        (Whose::Vertex, None) => Ok("vertex"),
        _ => Err(Error::usage(format!("{operand} is a property, and the rows of an answer have none"))),
    }
}

impl CellTest {
    fn new(column: usize, cells: CellType, asked: &Asked) -> std::result::Result<Self, String> {
        let of = |element, logical| {
            let property = PropertyRecord::of_vertices("", PropertyType { element, logical });
            ValueTest::new(asked, &property)
        };
        let number = |element| of(element, LogicalType::Number);
        let mut test = Self { column, text: None, unsigned: None, signed: None, float: None };
        match cells {
            CellType::Text => test.text = Some(of(ElementType::U8, LogicalType::Text)?),
            CellType::Integer => {
                test.unsigned = Some(number(ElementType::U64)?);
                test.signed = Some(number(ElementType::I64)?);
            }
            // An integer of a column of numbers is compared as a float where the wanted value is no integer.
            CellType::Number => {
                test.float = Some(number(ElementType::F64)?);
                test.unsigned = number(ElementType::U64).ok();
                test.signed = number(ElementType::I64).ok();
            }
        }
        Ok(test)
    }

    fn of(&self, cell: &Value) -> Option<bool> {
        let ask = |test: &Option<ValueTest>, value| test.as_ref().and_then(|test| test.is_met(&value));
        match cell {
            Value::String(text) => ask(&self.text, PropertyValue::Text(text.as_bytes())),
            Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(whole), ..) if self.unsigned.is_some() => {
                    ask(&self.unsigned, PropertyValue::U64(whole))
                }
                (None, Some(whole), _) if self.signed.is_some() => {
                    ask(&self.signed, PropertyValue::I64(whole))
                }
                (.., Some(float)) => ask(&self.float, PropertyValue::F64(float)),
                _ => None,
            },
            _ => {
                let known = [&self.text, &self.float, &self.unsigned, &self.signed];
                known.into_iter().flatten().next().and_then(|test| test.is_met(&PropertyValue::Missing))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::text::parse;
    use super::*;

    const COLUMNS: [RowColumn; 3] = [
        RowColumn { name: "vertex", cells: CellType::Text },
        RowColumn { name: "rank", cells: CellType::Number },
        RowColumn { name: "depth", cells: CellType::Integer },
    ];

    fn test(condition: &str) -> Result<RowTest> {
        RowTest::new(&parse(condition).unwrap(), &COLUMNS, &[("id", 0)])
    }

    #[test]
    fn rows_meet_conditions_on_their_cells() {
        let row = [json!("x1"), json!(0.25), json!(7)];
        let table = [
            ("rank > 0.1 and id like 'x%'", true),
            ("vertex = 'x1' and depth in (6, 7)", true),
            ("rank = 0.25 and not depth > 7.5", true),
            ("depth is null or rank >= 1", false),
            ("id = 'X1'", false),
        ];
        for (condition, expected) in table {
            assert_eq!(test(condition).unwrap().is_met(&row), expected, "{condition}");
        }
        let missing = [json!("x1"), json!(null), json!(-3)];
        for (condition, expected) in
            [("rank is null", true), ("rank < 1", false), ("not rank < 1", false), ("depth < 0", true)]
        {
            assert_eq!(test(condition).unwrap().is_met(&missing), expected, "{condition}");
        }
        // An integer in a column of numbers.
        assert!(test("rank > 1.5").unwrap().is_met(&[json!("x"), json!(2), json!(null)]));
        assert!(!test("rank = 1.5").unwrap().is_met(&[json!("x"), json!(1), json!(null)]));
        assert!(test("rank = 9007199254740993").unwrap().is_met(&[
            json!("x"),
            json!(9007199254740993_u64),
            json!(null)
        ]));
    }

    #[test]
    fn unknown_columns_and_values_of_other_types_are_refused() {
        let table = [
            ("size > 1", "the rows have no column size; they have vertex, rank, depth"),
            ("rank like 'x%'", "it holds no texts"),
            ("rank > 'a'", "it holds numbers"),
            ("depth = 0.5", "it holds integers"),
            ("vertex.country = 'DE'", "is a property"),
        ];
        for (condition, expected) in table {
            let said = test(condition).unwrap_err().to_string();
            assert!(said.contains(expected), "{condition}: {said}");
        }
    }
}
