//! Headers of the files that Neo4j imports: a name may have a mark behind its last colon, as in
//! `:START_ID(Person)` or `amount:float`.

use esker_format::{ElementType, LogicalType, PropertyType, TimeUnit};

/// What a column is by its mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Neo4jRole {
    /// The id of a vertex.
    Id,
    /// The source of an edge.
    Start,
    /// The target of an edge.
    End,
    /// The kind of an edge.
    Type,
    /// What a vertex is, in one word or several with semicolons.
    Label,
    /// Nothing that is read.
    Ignored,
    /// A property.
    Property,
}

/// A column by its mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Neo4jColumn {
    /// Its name without the mark.
    pub(crate) name: String,
    pub(crate) role: Neo4jRole,
    /// The type that the mark says.
    pub(crate) property_type: Option<PropertyType>,
}

/// The columns of a header of edges: with marks of both ends.
pub(crate) fn edge_columns(header: &[String]) -> Option<Vec<Neo4jColumn>> {
    columns(header, &[Neo4jRole::Start, Neo4jRole::End])
}

/// The columns of a header of vertices: with a mark of an id.
pub(crate) fn vertex_columns(header: &[String]) -> Option<Vec<Neo4jColumn>> {
    columns(header, &[Neo4jRole::Id])
}

/// The groups of the ids of both ends by the marks of a header of edges, if they differ: `Person` and `Post`
/// of `:START_ID(Person),:END_ID(Post)`.
pub(crate) fn different_groups(header: &[String]) -> Option<[String; 2]> {
    let columns = edge_columns(header)?;
    let group = |role: Neo4jRole| {
        let place = columns.iter().position(|column| column.role == role)?;
        let (_, group) = header[place].rsplit_once('(')?;
        Some(group.trim_end().trim_end_matches(')').to_owned())
    };
    let groups = [group(Neo4jRole::Start)?, group(Neo4jRole::End)?];
    (groups[0] != groups[1]).then_some(groups)
}

fn columns(header: &[String], needed: &[Neo4jRole]) -> Option<Vec<Neo4jColumn>> {
    let columns: Vec<Neo4jColumn> = header.iter().map(|name| column(name.trim())).collect();
    let is_once = |role: &Neo4jRole| columns.iter().filter(|column| column.role == *role).count() == 1;
    needed.iter().all(is_once).then_some(columns)
}

fn column(name: &str) -> Neo4jColumn {
    let property = |name: &str, property_type| Neo4jColumn {
        name: name.to_owned(),
        role: Neo4jRole::Property,
        property_type,
    };
    // Options in braces, as in `{timezone:Europe/Berlin}`, may have colons.
    let plain = name.split('{').next().unwrap_or(name);
    let Some((own, mark)) = plain.rsplit_once(':') else { return property(name, None) };
    let mark = mark.split('(').next().unwrap_or(mark).trim();
    let (role, usual) = match mark {
        "ID" => (Neo4jRole::Id, "id"),
        "START_ID" => (Neo4jRole::Start, "source"),
        "END_ID" => (Neo4jRole::End, "target"),
        "TYPE" => (Neo4jRole::Type, "type"),
        "LABEL" => (Neo4jRole::Label, "label"),
        "IGNORE" => (Neo4jRole::Ignored, ""),
        _ => {
            return match type_of(mark) {
                Some(known) if !own.is_empty() => property(own, Some(known)),
                _ => property(name, None),
            };
        }
    };
    let is_text = matches!(role, Neo4jRole::Type | Neo4jRole::Label);
    let name = if own.is_empty() { usual } else { own }.to_owned();
    Neo4jColumn { name, role, property_type: is_text.then(PropertyType::text) }
}

/// The type of a mark. Lists, points and lengths of time stay texts.
fn type_of(mark: &str) -> Option<PropertyType> {
    let mark = mark.to_ascii_lowercase();
    Some(match mark.as_str() {
        "int" | "integer" | "long" | "short" | "byte" => ElementType::I64.into(),
        "float" | "double" => ElementType::F64.into(),
        "boolean" => LogicalType::Boolean.into(),
        "date" => LogicalType::Date.into(),
        "datetime" => LogicalType::Timestamp { unit: TimeUnit::Micro, zone: "UTC".to_owned() }.into(),
        "localdatetime" => LogicalType::Timestamp { unit: TimeUnit::Micro, zone: String::new() }.into(),
        "string" | "char" | "time" | "localtime" | "duration" | "point" => PropertyType::text(),
        list if list.ends_with("[]") => PropertyType::text(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(header: &str, columns: fn(&[String]) -> Option<Vec<Neo4jColumn>>) -> Vec<String> {
        let names: Vec<String> = header.split(',').map(str::to_owned).collect();
        let shown = |column: Neo4jColumn| {
            let kind = column.property_type.map(|kind| format!(" {kind}")).unwrap_or_default();
            format!("{:?} {}{kind}", column.role, column.name)
        };
        columns(&names).into_iter().flatten().map(shown).collect()
    }

    #[test]
    fn marks_say_what_columns_are() {
        let found = shown(":START_ID(A),:END_ID(B),:TYPE,amount:float,x:IGNORE,dc:title,note", edge_columns);
        let expected = [
            "Start source",
            "End target",
            "Type type text",
            "Property amount f64",
            "Ignored x",
            "Property dc:title",
            "Property note",
        ];
        assert_eq!(found, expected);
        let groups =
            |header: &str| different_groups(&header.split(',').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(groups("x:START_ID(A),:END_ID(B),n:int"), Some(["A".to_owned(), "B".to_owned()]));
        for same in [":START_ID(A),:END_ID(A)", ":START_ID,:END_ID", ":START_ID(A),:END_ID", "a(b),c(d)"] {
            assert_eq!(groups(same), None, "{same}");
        }
        let found = shown("userId:ID(A){label:x},name:string,tags:string[],age:long,:LABEL", vertex_columns);
        let expected =
            ["Id userId", "Property name text", "Property tags text", "Property age i64", "Label label text"];
        assert_eq!(found, expected);
        for none in ["source,target", ":START_ID,b", ":ID,:ID", "id,name:string"] {
            assert_eq!(shown(none, edge_columns), [""; 0]);
            assert_eq!(shown(none, vertex_columns), [""; 0]);
        }
    }
}
