//! Which attributes of edges become properties, and of which types.

use esker_format::value::decimal::{self, Number};
use esker_format::value::name::{is_called, plain};
use esker_format::{Error, LogicalType, PropertyType, Result};
use esker_graph::{Message, Setting, message};

use super::edges::{Accepted, EdgeProperty};
use super::value::Attribute;
use crate::read::format::{Pick, PickIds, PickProperties, ReadOptions, Suffix, split_type};
use crate::read::input::Input;
use crate::read::source::{IdKind, RejectedText, Schema};
use crate::read::typed::{sniff_type, weight_fits};

/// What an input says, or its first edges show, of the values of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shown {
    Numbers,
    Floats,
    Texts,
    /// Exactly this type.
    Typed(PropertyType),
}

/// An attribute of the edges of an input.
#[derive(Debug, Clone)]
pub(super) struct EdgeAttribute {
    pub(super) name: String,
    pub(super) shown: Shown,
    /// What edges have that lack it, by the input.
    pub(super) default: Option<Attribute<'static>>,
    /// Whether the input says that it is the weight.
    pub(super) is_weight: bool,
}

/// The properties that are kept.
#[derive(Debug, Default)]
pub(super) struct ChosenProperties {
    pub(super) properties: Vec<EdgeProperty>,
    pub(super) weight: Option<usize>,
    pub(super) time: Option<usize>,
    /// Names of attributes that are not kept, though nothing asked for that.
    pub(super) unread: Vec<String>,
    /// Names of all attributes that are not kept.
    pub(super) left_out: Vec<String>,
    /// How much is kept of elements that are rejected.
    pub(super) rejected: RejectedText,
    /// Whether the edges go to a database whose integer ids can become texts.
    pub(super) ids_can_become_texts: bool,
    /// The first id of a sample for which all are texts, though most are integers.
    pub(super) odd_id: Option<String>,
}

impl ChosenProperties {
    /// Whether the ids of a sample are texts, or the options or the input say so. One that is no number
    /// decides: the ids of these formats are of any kind. Numbers that are no ids, such as negative ones, are
    /// refused, as those of tables are.
    pub(super) fn has_text_ids(&mut self, are_said: bool, sample: &[String], options: &ReadOptions) -> bool {
        match options.ids {
            PickIds::Int => return false,
            PickIds::Text => return true,
            PickIds::Auto if are_said => return true,
            PickIds::Auto => {}
        }
        let is_text = |id: &&String| decimal::id(id.as_bytes()).is_err_and(|why| !why.is_number());
        let first = sample.iter().find(is_text);
        let is_odd = 2 * sample.iter().filter(is_text).count() < sample.len();
        self.odd_id = first.filter(|_| is_odd).cloned();
        first.is_some()
    }

    /// The place of a property.
    pub(super) fn place(&self, name: &str) -> Option<usize> {
        self.properties.iter().position(|property| property.name == name)
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.properties.iter().map(|property| property.name.clone()).collect()
    }

    pub(super) fn types(&self) -> Vec<Option<PropertyType>> {
        self.properties.iter().map(EdgeProperty::property_type).collect()
    }
}

/// Chooses among the attributes. All are kept unless the options name some. `may_come`: the input does not
/// declare its attributes, so that others may come later, if the options give them a type or a default.
///
/// # Errors
/// If the options name what is not there, or twice, or types do not fit.
pub(super) fn choose(
    title: &str,
    mut found: Vec<EdgeAttribute>,
    may_come: bool,
    options: &ReadOptions,
) -> Result<ChosenProperties> {
    refuse_ends(title, options)?;
    add_declared(title, &mut found, may_come, options)?;
    let listed: Option<Vec<String>> = match &options.properties {
        PickProperties::None | PickProperties::All => None,
        PickProperties::Columns(names) => Some(names.iter().map(|name| plain(split_type(name).0)).collect()),
    };
    let declared = |name: &str| options.schema.iter().find(|one| one.name == name);
    let named = |pick: &Pick, name: &str| matches!(pick, Pick::Column(picked) if is_called(name, picked));
    let mut chosen = ChosenProperties {
        rejected: options.rejected,
        ids_can_become_texts: options.ids_can_become_texts,
        ..ChosenProperties::default()
    };
    let is_weight_said = found.iter().any(|attribute| attribute.is_weight);
    for EdgeAttribute { name, shown, default, is_weight } in found {
        let is_called_weight = is_weight || (!is_weight_said && name.eq_ignore_ascii_case("weight"));
        let is_listed = listed.as_ref().is_some_and(|listed| listed.contains(&name));
        let is_asked_for = is_listed || declared(&name).is_some();
        if options.weight == Pick::Skip && is_called_weight && !is_asked_for {
            refuse_default(&name, options)?;
            chosen.left_out.push(name);
            continue;
        }
        let is_time = named(&options.time, &name);
        let is_named = is_time || named(&options.weight, &name) || declared(&name).is_some();
        let by_default = options.weight == Pick::Auto && is_called_weight;
        if listed.is_some() && !is_listed && !is_named && !by_default {
            refuse_default(&name, options)?;
            chosen.left_out.push(name.clone());
            chosen.unread.push(name);
            continue;
        }
        let stated = stated(&name, options);
        let shown = match by_default && stated.is_none() && chosen.weight.is_none() {
            true => shown_of_weight(&name, shown)?,
            false => shown,
        };
        let accepted = accepted(stated.as_ref().unwrap_or(&shown));
        let is_number = match &accepted {
            Accepted::Numbers => true,
            Accepted::Texts => false,
            Accepted::Typed(own) => own.logical.is_number(),
        };
        let is_weight = named(&options.weight, &name) || (by_default && is_number && chosen.weight.is_none());
        if is_weight && let Accepted::Typed(own) = &accepted {
            weight_fits(own).map_err(Error::usage)?;
        }
        let index = chosen.properties.len();
        chosen.weight = chosen.weight.or(is_weight.then_some(index));
        chosen.time = chosen.time.or(is_time.then_some(index));
        let type_is_fixed = options.types_are_fixed;
        let refusal = options.required_of(std::slice::from_ref(&name)).refusal(0, &name);
        let mut property =
            EdgeProperty { name, accepted, default, is_weight, is_time, type_is_fixed, refusal };
        if let Some(given) = options.defaults.iter().find(|given| given.name == property.name) {
            property.default = given.text().map(|text| Attribute::Text(text.to_owned().into()));
        }
        if let Some(default) = &property.default {
            property.convert(default).map_err(|reason| Error::usage(message!["the default of ", reason]))?;
        }
        chosen.properties.push(property);
    }
    Ok(chosen)
}

/// The schema of an input whose edges have these properties.
pub(super) fn schema_of(
    format: &'static str,
    ids: IdKind,
    chosen: &ChosenProperties,
    directed: Option<bool>,
    input: &Input,
) -> Schema {
    Schema {
        operation: None,
        kind: None,
        format,
        ids,
        properties: chosen.names(),
        types: chosen.types(),
        weight: chosen.weight,
        time: chosen.time,
        directed,
        both_ends: false,
        input_bytes: input.stored_bytes(),
    }
}

/// What is said of attributes that are not kept, though nothing asked for that.
pub(super) fn unread_note(unread: &[String]) -> Option<Message> {
    (!unread.is_empty()).then(|| format!("Edge attributes not read: {}", unread.join(", ")).into())
}

/// Why an attribute that the first edges lack is refused.
pub(super) fn unknown_attribute(name: &str) -> Message {
    message![
        format!("the edge has {name:?}, which the first edges lack; declare it with "),
        Setting::Schema.to_type(name, "TYPE"),
        ", or name the properties to keep with ",
        Setting::Property,
    ]
}

/// Adds what the options declare and the input does not show.
fn add_declared(
    title: &str,
    found: &mut Vec<EdgeAttribute>,
    may_come: bool,
    options: &ReadOptions,
) -> Result<()> {
    let listed = match &options.properties {
        PickProperties::Columns(names) => names.as_slice(),
        PickProperties::None | PickProperties::All => &[],
    };
    let picked = [&options.weight, &options.time].into_iter().filter_map(|pick| match pick {
        Pick::Column(name) => Some((plain(name), Some(Shown::Numbers), "")),
        Pick::Auto | Pick::Skip => None,
    });
    let of_listed = listed.iter().map(|name| {
        let (name, suffix) = split_type(name);
        let shown = match suffix {
            Suffix::None => None,
            Suffix::Number => Some(Shown::Numbers),
            Suffix::Type(own) => Some(of_type(own)),
        };
        (plain(name), shown, "")
    });
    let of_schema = options
        .schema
        .iter()
        .map(|declared| (declared.name.clone(), Some(of_type(declared.property_type.clone())), ""));
    let of_defaults = options.defaults.iter().map(|given| {
        let sniffed = sniff_type(std::iter::once(given.value.as_bytes()));
        let shown = if sniffed.logical.is_number() { Shown::Numbers } else { of_type(sniffed) };
        (given.name.clone(), Some(shown), "default ")
    });
    for (name, shown, what) in of_schema.chain(of_listed).chain(of_defaults).chain(picked).collect::<Vec<_>>()
    {
        if found.iter().any(|attribute| attribute.name == name) {
            continue;
        }
        let Some(shown) = shown.filter(|_| may_come) else {
            let names: Vec<&str> = found.iter().map(|attribute| attribute.name.as_str()).collect();
            let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            return Err(Error::usage(format!(
                "the edges of the {title} have no attribute for the {what}property {name:?}; they have {known}"
            )));
        };
        found.push(EdgeAttribute { name, shown, default: None, is_weight: false });
    }
    Ok(())
}

fn of_type(property_type: PropertyType) -> Shown {
    match property_type.logical {
        LogicalType::Text => Shown::Texts,
        _ => Shown::Typed(property_type),
    }
}

/// An error if a property that is left out has a default.
fn refuse_default(name: &str, options: &ReadOptions) -> Result<()> {
    let Some(given) = options.defaults.iter().find(|given| given.name == name) else { return Ok(()) };
    Err(Error::usage(message![
        Setting::Default.to_type(name, &given.value),
        format!(" has no effect, as {name:?} is left out; leave out the default, or name {name:?} with "),
        Setting::Property,
    ]))
}

/// What an attribute called weight shows: texts are read as numbers, and refused where they are none.
fn shown_of_weight(name: &str, shown: Shown) -> Result<Shown> {
    match shown {
        Shown::Texts => Ok(Shown::Numbers),
        Shown::Typed(own) if !own.logical.is_number() => Err(Error::usage(message![
            format!(
                "the attribute {name:?} of edges is no number, but {own}, so that it is no weight; keep it with "
            ),
            Setting::Weight.to(false),
            " ",
            Setting::Schema.to_type(name, own.to_string()),
        ])),
        shown => Ok(shown),
    }
}

/// What the options say of a property.
fn stated(name: &str, options: &ReadOptions) -> Option<Shown> {
    let of_schema =
        options.schema.iter().find(|one| one.name == name).map(|one| of_type(one.property_type.clone()));
    let of_list = || match &options.properties {
        PickProperties::Columns(names) => {
            let suffixes = names.iter().map(|one| split_type(one)).filter(|(own, _)| is_called(name, own));
            suffixes.map(|(_, suffix)| suffix).find_map(|suffix| match suffix {
                Suffix::None => None,
                Suffix::Number => Some(Shown::Numbers),
                Suffix::Type(own) => Some(of_type(own)),
            })
        }
        PickProperties::None | PickProperties::All => None,
    };
    of_schema.or_else(of_list)
}

/// What a property takes: by its declaration, or by what the input shows.
fn accepted(shown: &Shown) -> Accepted {
    match shown {
        Shown::Numbers | Shown::Floats => Accepted::Numbers,
        Shown::Texts => Accepted::Texts,
        Shown::Typed(own) => Accepted::Typed(own.clone()),
    }
}

/// Formats whose edges say themselves where they leave and arrive have no columns for that.
fn refuse_ends(title: &str, options: &ReadOptions) -> Result<()> {
    let chosen = [
        (Setting::SourceColumn, options.source.is_some()),
        (Setting::TargetColumn, options.target.is_some()),
    ];
    match chosen.into_iter().find(|(_, chosen)| *chosen) {
        Some((setting, _)) => Err(Error::usage(message![
            setting,
            format!(" means nothing for a {title}, whose edges name their ends; leave it out"),
        ])),
        None => Ok(()),
    }
}

/// A text as a number that is declared as one; `None` if it is missing, as NaN stands for no value.
pub(super) fn number_of(text: &str, is_float: bool) -> Option<Attribute<'static>> {
    let trimmed = text.trim_ascii();
    if trimmed.is_empty() || trimmed.eq_ignore_ascii_case("nan") {
        return None;
    }
    Some(match decimal::number(trimmed.as_bytes()) {
        Ok(Number::Int(value)) if is_float && value.unsigned_abs() <= 1 << 53 => {
            Attribute::Float(value as f64)
        }
        Ok(Number::Int(value)) => Attribute::Int(value),
        Ok(Number::Float(value)) => match decimal::unsigned(trimmed.as_bytes()).filter(|_| !is_float) {
            Some(value) => Attribute::Unsigned(value),
            None => Attribute::Float(value),
        },
        Err(_) if !is_float && trimmed.parse::<i64>().is_ok() => {
            Attribute::Int(trimmed.parse().unwrap_or_default())
        }
        Err(_) if !is_float && decimal::unsigned(trimmed.as_bytes()).is_none() && is_integer(trimmed) => {
            // No number holds it.
            Attribute::Text(trimmed.to_owned().into())
        }
        Err(_) => match (decimal::unsigned(trimmed.as_bytes()), trimmed.parse::<f64>()) {
            (Some(value), _) => Attribute::Unsigned(value),
            // With a sign in front, or zeros, or infinite.
            (None, Ok(value)) => Attribute::Float(value),
            (None, Err(_)) => Attribute::Text(trimmed.to_owned().into()),
        },
    })
}

/// Whether a text has digits only, behind a sign or none.
fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
