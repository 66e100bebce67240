//! Files that each have the edges of one kind, to add to a database or remove from it.

use esker_graph::{Setting, message};
use esker_import::open::{KindInput, OfKind, expect_once, of_kinds};
use esker_import::read::format::ReadOptions;
use esker_store::property::Dictionary;
use esker_store::{Error, KINDS_NAMED_MAX, Result, unknown_kind};

use super::columns::{EdgeInput, Purpose, open_edges};
use super::target::Target;

/// Opens inputs that each have the edges of one kind, as one. A column of kinds is not read.
///
/// # Errors
/// As [`open_edges`]; [`Error::Usage`] if the edges of the database have no kinds, or not one that is named
/// and `takes_new_kinds` is not set, vertices are given, or the inputs differ in their ids or directions.
pub fn open_edges_of_kinds(
    target: &Target,
    inputs: &[KindInput],
    given: &ReadOptions,
    purpose: Purpose,
    takes_new_kinds: bool,
) -> Result<EdgeInput> {
    let Some(kind) = target.edge_properties.iter().find(|property| property.kind) else {
        return Err(Error::usage(message![
            format!("the edges of {} have no kinds: name the files without ", target.name),
            Setting::Kind,
        ]));
    };
    if given.vertices.is_some() {
        return Err(Error::usage(message![
            "files of one kind each cannot be used with ",
            Setting::Vertices,
            ": change the vertices by themselves",
        ]));
    }
    expect_once(inputs, given)?;
    if !takes_new_kinds {
        expect_known(target, kind.number, inputs, purpose)?;
    }
    let mut without_kind = target.clone();
    without_kind.edge_properties.retain(|own| !own.kind);
    let (mut parts, mut all) = (Vec::new(), None);
    for KindInput { kind, input } in inputs {
        let EdgeInput { reader, notes, warnings, properties, .. } =
            open_edges(&without_kind, std::slice::from_ref(input), given, purpose)?;
        parts.push(OfKind { kind: kind.clone(), name: input.clone(), reader });
        let (_, all_notes, all_warnings) = all.get_or_insert_with(|| (properties, Vec::new(), Vec::new()));
        all_notes.extend(notes);
        all_warnings.extend(warnings);
    }
    let Some((mut properties, notes, warnings)) = all else {
        return Err(Error::invalid("no input is named"));
    };
    properties.push(kind.clone());
    properties
        .sort_by_key(|property| target.edge_properties.iter().position(|own| own.name == property.name));
    let reader = of_kinds(parts, &kind.name)?;
    Ok(EdgeInput::of_columns(reader, purpose, properties, notes, warnings))
}

/// Refuses a kind that no edge of the database ever had. The first kinds of a database are welcome.
fn expect_known(target: &Target, property: u32, inputs: &[KindInput], purpose: Purpose) -> Result<()> {
    let texts = target.newest.dictionary(property);
    let count = texts.map_or(0, Dictionary::len);
    let text = |code: usize| texts.map_or(Ok(&[][..]), |texts| texts.text(code));
    let mut is_known = vec![false; inputs.len()];
    for code in 0..count {
        let kind = text(code)?;
        inputs.iter().zip(&mut is_known).for_each(|(input, is)| *is |= input.kind.as_bytes() == kind);
    }
    let Some(at) = is_known.iter().position(|is| !is).filter(|_| count > 0 || purpose == Purpose::Remove)
    else {
        return Ok(());
    };
    let named =
        (0..count.min(KINDS_NAMED_MAX)).map(|code| Ok(String::from_utf8_lossy(text(code)?).into_owned()));
    let named = named.collect::<Result<Vec<String>>>()?;
    let refused = unknown_kind(&inputs[at].kind, &target.name, &named, count);
    Err(Error::usage(match purpose {
        Purpose::Remove => refused.into(),
        Purpose::Add => message![refused, "; use ", Setting::NewKinds.to(true), " to begin a new kind"],
    }))
}
