//! Whether values have the shape that a schema of the OpenAPI document says.

use serde_json::Value;

/// What is wrong with a value; `None` if nothing is.
pub(crate) fn mismatch(value: &Value, schema: &Value) -> Option<String> {
    if let Some(variants) = schema["anyOf"].as_array() {
        let faults: Vec<String> = variants.iter().map_while(|one| mismatch(value, one)).collect();
        return (faults.len() == variants.len()).then(|| faults.join("; "));
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::Null => return None,
        Value::String(one) => vec![one],
        several => several.as_array()?.iter().filter_map(Value::as_str).collect(),
    };
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let fits = types.contains(&kind) || kind == "integer" && types.contains(&"number");
    if !fits {
        return Some(format!("{value} is no {types:?}"));
    }
    match value {
        Value::Array(values) => values.iter().find_map(|value| mismatch(value, &schema["items"])),
        Value::Object(members) => {
            let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            if let Some(name) = required.into_iter().find(|name| !members.contains_key(*name)) {
                return Some(format!("{name} is missing in {value}"));
            }
            members.iter().find_map(|(name, member)| {
                let of_member = match &schema["properties"][name] {
                    Value::Null => &schema["additionalProperties"],
                    known => known,
                };
                match of_member {
                    Value::Bool(false) => Some(format!("{name} is unknown in {value}")),
                    schema => mismatch(member, schema).map(|fault| format!("{name}: {fault}")),
                }
            })
        }
        _ => None,
    }
}

#[test]
fn values_of_another_shape_are_found() {
    let schema = serde_json::json!({
        "type": "object", "required": ["a"], "additionalProperties": false,
        "properties": { "a": { "type": ["integer", "string"] }, "b": { "anyOf": [{ "type": "null" }] } },
    });
    let fault = |value: Value| mismatch(&value, &schema);
    assert_eq!(fault(serde_json::json!({ "a": 1, "b": null })), None);
    assert!(fault(serde_json::json!({ "a": 1.5 })).is_some());
    assert!(fault(serde_json::json!({ "b": null })).is_some());
    assert!(fault(serde_json::json!({ "a": "x", "b": 1 })).is_some());
    assert!(fault(serde_json::json!({ "a": "x", "c": 1 })).is_some());
}
