use std::borrow::Cow;

use super::*;

/// Fills a text in by names that have values, `UNKNOWN`, and others that have none.
fn filled(text: &str) -> Result<Filled, Failure> {
    let lookup = |name: &str| match name {
        "A" => Variable::Value(Cow::Borrowed("a-b.a/Ä")),
        "EMPTY" => Variable::Value(Cow::Borrowed("")),
        "LONG" => Variable::Value(Cow::Owned("a".repeat(5000))),
        name if name.starts_with("UNKNOWN") => Variable::Unknown,
        _ => Variable::Unset,
    };
    Filler::new(&lookup).fill(text)
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
fn hostile_texts_fail_in_time() {
    let deep = "${NONE:-".repeat(100_000) + &"}".repeat(100_000);
    assert_eq!(filled(&deep), Err(Failure::TooMuch));
    let much = "${LONG}".repeat(10_000);
    assert_eq!(filled(&much), Err(Failure::TooMuch));
    assert_eq!(filled(&"$".repeat(1 << 20)).map(|one| one.text.len()), Ok(1 << 19));
    assert_eq!(filled("${A:0:7}"), Err(Failure::NotUtf8));
    assert_eq!(filled("${A"), Err(Failure::MissingClosingBrace));
}

#[test]
fn values_that_outgrow_each_other_fail_before_they_do() {
    for text in [
        "${LONG//a/${LONG//a/${LONG//a/yy}}}",
        "${LONG//a/${LONG}}",
        "${LONG//${EMPTY}/${LONG}}",
        "${NONE:-${LONG//a/${LONG:0:2000}}${LONG//a/${LONG:0:2000}}}",
        "${LONG/%a/${LONG//a/${LONG:0:2000}}}${LONG/%a/${LONG//a/${LONG:0:2000}}}",
        "${A:-${LONG//a/${LONG:0:2000}}${LONG//a/${LONG:0:2000}}}",
    ] {
        assert_eq!(filled(text), Err(Failure::TooMuch), "{text}");
    }
}

#[test]
fn patterns_that_take_too_long_leave_a_text_as_it_is_written() {
    let pattern = "a".repeat(2000);
    for sign in ["#", "##", "%", "%%"] {
        let text = format!("${{LONG{sign}*{pattern}b}}");
        let expected = Filled { text: text.clone(), is_known: false };
        assert_eq!(filled(&text), Ok(expected), "{sign}");
    }
    let known = filled("${LONG#b}${LONG%b}${A##*/}").map(|one| (one.text.len(), one.is_known));
    assert_eq!(known, Ok((10_002, true)));
    let text = format!("${{LONG//{}b/c}}", &pattern[500..]).repeat(2);
    assert_eq!(filled(&text).map(|one| (one.text.len(), one.is_known)), Ok((5000 + text.len() / 2, false)));
}

/// What is spent on one text of an object is not there for the next one.
#[test]
fn texts_of_one_object_share_what_they_may_spend() {
    let lookup = |_: &str| Variable::Value(Cow::Owned("a".repeat(1 << 20)));
    let filler = Filler::new(&lookup);
    for _ in 0..16 {
        assert!(filler.fill("${LONG}").is_ok());
    }
    assert_eq!(filler.fill("${LONG}"), Err(Failure::TooMuch));
}
