use std::borrow::Cow;

use super::*;

/// Fills a text in by names that have values, `UNKNOWN`, and others that have none.
fn filled(text: &str) -> Result<Filled, Failure> {
    let lookup = |name: &str| match name {
        "A" => Variable::Value(Cow::Borrowed("a-b.a/Ä")),
        "EMPTY" => Variable::Value(Cow::Borrowed("")),
        "LONG" => Variable::Value(Cow::Owned("a".repeat(5000))),
        name if name.starts_with("UNKNOWN") => Variable::Unknown,
        "UNSET" => Variable::Unset,
        _ => Variable::Refused,
    };
    fill(text, &lookup)
}

/// What the real envsubst makes of texts without unknown values is looked at in `tests/envsubst.rs`.
#[test]
fn what_depends_on_an_unknown_value_stays() {
    for (text, expected) in [
        ("x ${UNKNOWN} ${A}", "x ${UNKNOWN} a-b.a/Ä"),
        ("${UNKNOWN:-x}", "${UNKNOWN:-x}"),
        ("${UNKNOWN^^}${#UNKNOWN}${UNKNOWN:1:2}", "${UNKNOWN^^}${#UNKNOWN}${UNKNOWN:1:2}"),
        ("${EMPTY:-${UNKNOWN}}", "${EMPTY:-${UNKNOWN}}"),
        ("${A/a/${UNKNOWN}}", "${A/a/${UNKNOWN}}"),
        ("${UNKNOWN:-${A}}", "${UNKNOWN:-${A}}"),
        ("${UNKNOWN} $${A}", "${UNKNOWN} ${A}"),
        ("${LONG#b}", "${LONG#b}"),
        ("${UNSET} ${UNSET:-x} ${#UNSET}", "${UNSET} x ${#UNSET}"),
    ] {
        let expected = Filled { text: expected.to_owned(), is_known: false };
        assert_eq!(filled(text), Ok(expected), "{text}");
    }
    let known = |text: &str| Ok(Filled { text: text.to_owned(), is_known: true });
    assert_eq!(filled("${A:-${UNKNOWN}}"), known("a-b.a/Ä"));
    assert_eq!(filled("$A $(A) $$A $$${A} $"), known("$A $(A) $A $a-b.a/Ä $"));
}

#[test]
fn a_name_without_a_value_fails_but_for_a_default() {
    assert_eq!(filled("${NONE:-x}${NONE=y}").map(|one| one.text), Ok("xy".to_owned()));
    for text in ["${NONE}", "${NONE^}", "${#NONE}", "${A:-${NONE}}"] {
        assert_eq!(filled(text), Err(Failure::NotSet("NONE".to_owned())), "{text}");
    }
}

#[test]
fn hostile_texts_fail_in_time() {
    let deep = "${NONE:-".repeat(100_000) + &"}".repeat(100_000);
    assert_eq!(filled(&deep), Err(Failure::TooMuch));
    let much = "${LONG}".repeat(10_000);
    assert_eq!(filled(&much), Err(Failure::TooMuch));
    assert_eq!(filled(&"$".repeat(1 << 20)).map(|one| one.text.len()), Ok(1 << 19));
    assert_eq!(filled("${A:0:7}"), Err(Failure::NotUtf8));
    assert_eq!(filled("${A"), Err(Failure::MissingClosingBrace));
}
