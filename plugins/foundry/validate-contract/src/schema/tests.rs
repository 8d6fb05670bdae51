use serde_json::json;

use super::*;

/// The violations of `value` against a contract called `c.v1`.
fn found(schema: Value, value: Value) -> Vec<String> {
    violations(&|id| (id == "c.v1").then(|| schema.clone()), "c.v1", &value)
}

#[test]
fn each_keyword_in_the_words_of_the_specification() {
    let pattern = "^a+$";
    for (schema, value, expected) in [
        (json!({"const": "a"}), json!("b"), "#: must equal \"a\""),
        (json!({"enum": ["a", 1, null]}), json!("b"), "#: must be one of [\"a\",1,null]"),
        (json!({"type": "string"}), json!(5), "#: expected string, got integer"),
        (json!({"type": ["integer", "null"]}), json!("6"), "#: expected integer|null, got string"),
        (json!({"type": "integer"}), json!(3.5), "#: expected integer, got number"),
        (json!({"maxLength": 2}), json!("èèè"), "#: longer than 2 characters"),
        (json!({"minLength": 2}), json!("è"), "#: shorter than 2 characters"),
        (json!({"pattern": pattern}), json!("b"), "#: does not match ^a+$"),
        (json!({"pattern": "("}), json!("("), "#: does not match ("),
        (json!({"format": "date"}), json!("2026-02-30"), "#: is not a valid date"),
        (json!({"minimum": 1}), json!(0), "#: below minimum 1"),
        (json!({"maximum": 0.5}), json!(1), "#: above maximum 0.5"),
        (json!({"minItems": 1}), json!([]), "#: needs at least 1 items"),
        (json!({"maxItems": 1}), json!([1, 2]), "#: allows at most 1 items"),
        (json!({"items": {"type": "null"}}), json!([null, true]), "#/1: expected null, got boolean"),
        (json!({"required": ["a"]}), json!({}), "#: missing required property \"a\""),
        (json!({"properties": {"a": {"type": "array"}}}), json!({"a": {}}), "#/a: expected array, got object"),
        (json!({"properties": {"a/b~c": {"const": 1}}}), json!({"a/b~c": 2}), "#/a~1b~0c: must equal 1"),
        (
            json!({"properties": {"a": {}}, "additionalProperties": false}),
            json!({"a": 1, "b": 2}),
            "#: unexpected property \"b\"",
        ),
        (json!({"$ref": "urn:foundry:contract:d.v1"}), json!(1), "#: cannot resolve $ref urn:foundry:contract:d.v1"),
        (json!({"$ref": "#/$defs/x"}), json!(1), "#: cannot resolve $ref #/$defs/x"),
    ] {
        assert_eq!(found(schema.clone(), value), [expected], "{schema}");
    }
}

#[test]
fn what_is_at_the_bound_passes() {
    for (schema, value) in [
        (json!({"type": "integer"}), json!(3.0)),
        (json!({"type": "number"}), json!(3)),
        (json!({"maxLength": 2, "minLength": 2}), json!("èè")),
        (json!({"minimum": 0, "maximum": 0}), json!(0.0)),
        (json!({"minItems": 1, "maxItems": 1}), json!([1])),
        (json!({"maxLength": 1}), json!(["not a text"])),
        (json!({"format": "unheard-of"}), json!("x")),
        (json!({"properties": {"a": {}}}), json!({"b": 1})),
        (json!({"title": "t", "$comment": "c", "writeOnly": true}), json!(1)),
    ] {
        assert_eq!(found(schema.clone(), value), [""; 0], "{schema}");
    }
}

#[test]
fn a_wrong_type_ends_its_part_and_nothing_else() {
    let schema = json!({"required": ["a", "b"], "properties": {"a": {"type": "object", "required": ["x"]}}});
    assert_eq!(found(schema, json!({"a": []})), ["#: missing required property \"b\"", "#/a: expected object, got array"]);
}

#[test]
fn a_contract_that_cannot_be_checked_is_refused_even_where_the_value_never_gets_there() {
    let nested = json!({"properties": {"a": {"items": {"oneOf": []}}}});
    assert_eq!(found(nested, json!({})), ["#: the contract uses the keyword `oneOf`, which is not supported"]);
    assert_eq!(refusals(&json!({"additionalProperties": true})), ["`additionalProperties` other than false"]);
    assert_eq!(refusals(&json!({"items": [{}]})), ["`items` as an array"]);
    assert_eq!(refusals(&json!({"properties": {"oneOf": {"type": "string"}}})), [""; 0], "a property may have any name");
}

#[test]
fn a_reference_may_recur_through_data_but_not_on_the_spot() {
    let tree = json!({"properties": {"child": {"$ref": "urn:foundry:contract:c.v1"}, "n": {"type": "integer"}}});
    assert_eq!(found(tree, json!({"child": {"child": {"n": "x"}}})), ["#/child/child/n: expected integer, got string"]);
    let circle = json!({"$ref": "urn:foundry:contract:c.v1"});
    assert_eq!(found(circle, json!(1)), ["#: circular $ref urn:foundry:contract:c.v1"]);
}
