//! Names that columns of tables usually have, and the words of a name.

/// Of the ids of vertices, letters and digits only.
const IDS: &[&str] = &["id", "ids", "vertex", "vertices", "vertexid", "node", "nodes", "nodeid"];
/// Of the weight, the most usual first.
pub(crate) const WEIGHTS: &[&str] = &["weight", "w", "wgt", "edgeweight"];
/// Of the time.
pub(crate) const TIMES: &[&str] = &["time", "timestamp", "ts", "unixts", "unixtime", "datetime"];

/// Words that say that a name is that of an id.
const ID_WORDS: &[&str] = &[
    "id",
    "ids",
    "uid",
    "guid",
    "uuid",
    "key",
    "no",
    "number",
    "num",
    "code",
    "nodeid",
    "vertexid",
    "userid",
    "accountid",
    "entityid",
    "pageid",
];
/// Words for things that are vertices.
const VERTEX_WORDS: &[&str] = &[
    "account",
    "accounts",
    "acct",
    "actor",
    "addr",
    "address",
    "agent",
    "airport",
    "article",
    "asn",
    "author",
    "block",
    "character",
    "city",
    "client",
    "commit",
    "company",
    "concept",
    "country",
    "customer",
    "device",
    "doc",
    "document",
    "domain",
    "employee",
    "entity",
    "file",
    "follower",
    "friend",
    "function",
    "gene",
    "group",
    "h",
    "handle",
    "host",
    "hostname",
    "iban",
    "interactor",
    "ip",
    "ipaddr",
    "ipv4",
    "item",
    "location",
    "login",
    "member",
    "module",
    "movie",
    "neighbor",
    "neighbour",
    "node",
    "object",
    "organisation",
    "organization",
    "package",
    "page",
    "paper",
    "patent",
    "peer",
    "person",
    "player",
    "pkg",
    "place",
    "process",
    "product",
    "project",
    "protein",
    "repo",
    "repository",
    "router",
    "server",
    "site",
    "state",
    "station",
    "stop",
    "subject",
    "system",
    "tag",
    "team",
    "term",
    "token",
    "town",
    "url",
    "uri",
    "user",
    "username",
    "vertex",
    "wallet",
    "webpage",
    "website",
    "word",
];
/// Words for names of things.
const NAME_WORDS: &[&str] = &["name", "title", "email", "mail", "label", "nick", "alias"];
/// Words for what is no vertex: quantities, times, categories and the like.
const ATTRIBUTE_WORDS: &[&str] = &[
    "age",
    "alt",
    "altitude",
    "amount",
    "attribute",
    "attributes",
    "attrs",
    "balance",
    "bytes",
    "cat",
    "category",
    "cc",
    "colour",
    "color",
    "comment",
    "cost",
    "count",
    "created",
    "currency",
    "data",
    "date",
    "day",
    "degree",
    "description",
    "desc",
    "dist",
    "distance",
    "duration",
    "feature",
    "features",
    "fee",
    "flag",
    "flags",
    "format",
    "frequency",
    "fuid",
    "fuids",
    "gender",
    "history",
    "hour",
    "info",
    "kind",
    "language",
    "lang",
    "lat",
    "latitude",
    "length",
    "level",
    "lon",
    "long",
    "longitude",
    "message",
    "metadata",
    "method",
    "mode",
    "month",
    "note",
    "notes",
    "optional",
    "p",
    "packets",
    "percent",
    "pkts",
    "port",
    "price",
    "probability",
    "proto",
    "protocol",
    "quantity",
    "qty",
    "rank",
    "rate",
    "rating",
    "ratio",
    "relation",
    "relationship",
    "req",
    "requirement",
    "requirements",
    "predicate",
    "role",
    "salary",
    "score",
    "section",
    "service",
    "sex",
    "similarity",
    "size",
    "speed",
    "status",
    "strength",
    "sum",
    "text",
    "time",
    "timestamp",
    "total",
    "ts",
    "tstamp",
    "type",
    "unit",
    "updated",
    "value",
    "version",
    "volume",
    "w",
    "weight",
    "weights",
    "x",
    "y",
    "year",
    "z",
];

/// The words of a name in lower case: `FromNodeId`, `from_node_id` and `from node id` have the same.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let (mut word, mut last) = (String::new(), ' ');
    let letters: Vec<char> = name.chars().collect();
    for (at, &letter) in letters.iter().enumerate() {
        let next_is_lower = letters.get(at + 1).is_some_and(|next| next.is_lowercase());
        let begins = letter.is_uppercase() && (last.is_lowercase() || last.is_uppercase() && next_is_lower)
            || letter.is_numeric() != last.is_numeric() && last.is_alphanumeric();
        if (begins || !letter.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if letter.is_alphanumeric() {
            word.extend(letter.to_lowercase());
        }
        last = letter;
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// How likely it is that what follows `from` or `source` in the name of a column belongs to the id of a
/// vertex; the likeliest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NameRank {
    /// Nothing follows.
    Bare,
    /// It is the id of something, as in `from_id`.
    Id,
    /// Something that can be a vertex, as in `from_account`.
    Vertex,
    /// The name of something, as in `from_name`.
    Name,
    /// A word that is not known.
    Other,
    /// A quantity, a time or a category, as in `from_port`.
    Attribute,
}

impl NameRank {
    /// The rank of a name with these words.
    pub(crate) fn of(words: &[String]) -> Self {
        let is_in = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
        let are_in = |lists: &[&[&str]]| {
            words.iter().all(|word| lists.iter().any(|list| list.contains(&word.as_str())))
        };
        match words {
            [] => Self::Bare,
            _ if are_in(&[ID_WORDS]) || are_in(&[ID_WORDS, VERTEX_WORDS]) && is_in(ID_WORDS) => Self::Id,
            _ if is_in(ATTRIBUTE_WORDS) => Self::Attribute,
            _ if are_in(&[ID_WORDS, VERTEX_WORDS]) => Self::Vertex,
            _ if is_in(NAME_WORDS) => Self::Name,
            _ => Self::Other,
        }
    }
}

/// Whether a column of this name is rarely an end of edges.
pub(crate) fn is_attribute(words: &[String]) -> bool {
    let is_vertex = words.last().is_some_and(|last| VERTEX_WORDS.contains(&last.as_str()));
    let named = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let is_version = words.len() > 1 && words[words.len() - 2..] == ["version", "id"];
    named(ATTRIBUTE_WORDS) && !is_vertex && !is_version || named(NAME_WORDS) || words.is_empty()
}

/// Whether a name has only words that columns are called by.
pub(crate) fn is_column_word(words: &[String]) -> bool {
    let lists = [ID_WORDS, VERTEX_WORDS, NAME_WORDS, ATTRIBUTE_WORDS];
    let is_known = |word: &String| lists.iter().any(|list| list.contains(&word.as_str()));
    let is_long = |word: &String| word.len() > 1 || word.chars().all(char::is_numeric);
    !words.is_empty() && words.iter().all(|word| is_known(word) && is_long(word))
}

/// What a name says that ids are of, as in `userId` or `movie`.
pub(crate) fn thing_of_id(words: &[String]) -> Option<&str> {
    match words {
        [thing, id] if ID_WORDS.contains(&id.as_str()) => Some(thing),
        [thing] if VERTEX_WORDS.contains(&thing.as_str()) => Some(thing),
        _ => None,
    }
}

/// Whether a name has words for the vertices themselves, not for what may be told of others, as `address` is.
pub(crate) fn is_vertex_itself(words: &[String]) -> bool {
    const THEMSELVES: &[&str] = &[
        "node",
        "vertex",
        "entity",
        "protein",
        "gene",
        "author",
        "user",
        "person",
        "player",
        "team",
        "interactor",
        "id",
    ];
    words.iter().any(|word| THEMSELVES.contains(&word.as_str()))
}

/// Whether a column is called as the rows of a table are numbered.
pub(crate) fn is_row_id(words: &[String]) -> bool {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    matches!(
        words[..],
        [] | ["id" | "index" | "idx" | "row" | "no" | "nr" | "uid" | "rowid"]
            | ["unnamed", "0"]
            | [
                "edge"
                    | "row"
                    | "record"
                    | "line"
                    | "transaction"
                    | "txn"
                    | "tx"
                    | "event"
                    | "rel"
                    | "relation"
                    | "relationship"
                    | "interaction"
                    | "link"
                    | "trip"
                    | "call"
                    | "payment"
                    | "message",
                "id" | "no" | "number" | "key"
            ]
    )
}

/// Letters and digits of names that are words in a text of one piece, as in `srcip`.
pub(crate) fn is_id_part(word: &str) -> bool {
    const JOINED: &[&str] = &["port", "bytes", "pkts"];
    [ID_WORDS, VERTEX_WORDS, NAME_WORDS, JOINED].iter().any(|list| list.contains(&word)) && word.len() > 1
}

/// Whether a name is usual for a time.
pub(crate) fn is_time(name: &str) -> bool {
    position(&[name.to_owned()], TIMES).is_some()
}

/// Whether a line of a file of vertices has a usual name for the column of their ids.
pub(crate) fn names_ids(line: &[u8]) -> bool {
    std::str::from_utf8(line).is_ok_and(|name| position(&[name.to_owned()], IDS).is_some())
}

/// The column that has the ids of a table of vertices, by its name.
pub(crate) fn vertex_id_column(header: &[String]) -> Option<usize> {
    named_as_ids(header).or_else(|| position(header, &["name", "key"]))
}

/// The column that is called as ids of vertices are: the first one if it is, because in an export the column
/// `vertex` may stand before a property that is called `id`.
pub fn named_as_ids(header: &[String]) -> Option<usize> {
    position(&header[..header.len().min(1)], IDS).or_else(|| position(header, IDS))
}

/// The first column with the most usual name; case, spaces and punctuation do not count.
pub(crate) fn position(header: &[String], usual: &[&str]) -> Option<usize> {
    let plain = |name: &String| -> String {
        name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
    };
    let header: Vec<String> = header.iter().map(plain).collect();
    usual.iter().find_map(|name| header.iter().position(|column| column == name))
}

/// The same column; the reason why it cannot be told, if another column has its name.
pub(crate) fn sole_position(header: &[String], usual: &[&str]) -> Result<Option<usize>, String> {
    let found = position(header, usual);
    match found.and_then(|column| called_alike(header.iter().map(String::as_str), column)) {
        Some(reason) => Err(reason),
        None => Ok(found),
    }
}

/// Why a column cannot be told by its name: another has the same.
pub(crate) fn called_alike<'n>(
    names: impl Iterator<Item = &'n str> + Clone,
    column: usize,
) -> Option<String> {
    let name = names.clone().nth(column)?;
    let number = column + 1;
    (names.filter(|own| *own == name).count() > 1).then(|| {
        format!(
            "two columns are called {name:?}: give one of them another name, or choose one by its number, as in {number}"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_into_words_whatever_separates_them() {
        let table = [
            ("FromNodeId", "from node id"),
            ("from_node-id", "from node id"),
            ("id.orig_h", "id orig h"),
            ("IPAddr", "ip addr"),
            ("node1", "node 1"),
            ("Account.1", "account 1"),
            (" Von ", "von"),
            ("Größe", "größe"),
            ("", ""),
        ];
        for (name, expected) in table {
            assert_eq!(words(name).join(" "), expected, "{name}");
        }
    }

    #[test]
    fn names_of_ids_come_before_those_of_quantities() {
        let rank = |name: &str| NameRank::of(&words(name));
        assert!(rank("") < rank("user_id") && rank("user_id") < rank("account"));
        assert!(rank("account") < rank("name") && rank("name") < rank("bank") && rank("bank") < rank("port"));
        assert_eq!(rank("amount received"), NameRank::Attribute);
    }
}
