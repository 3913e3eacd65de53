//! `cron`.

use super::program;

fn batch(input: impl Into<Vec<u8>>) -> Vec<String> {
    let output = program().args(["cron", "-"]).write_stdin(input).output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn a_batch_answers_each_line() {
    let answers = batch(
        "0 8 * * MON\tEurope/Berlin\t2026-03-27T00:00:00Z\t2\n0 0 31 2 *\tUTC\t2026-01-01T00:00:00Z\t3\n\
         0 0 * * 7\tUTC\t2026-01-01T00:00:00Z\t1\n\n* * * * *\tUTC\t2026-01-01T00:00:00Z\t1",
    );
    assert_eq!(
        answers,
        ["2026-03-30T06:00:00Z 2026-04-06T06:00:00Z", "never", "error", "error", "2026-01-01T00:01:00Z"]
    );
}

#[test]
fn no_line_stops_a_batch() {
    let good = b"0 0 * * *\tUTC\t2026-01-01T00:00:00Z\t1\r\n";
    let mut input = Vec::new();
    for bad in [&b"\xff\xfe\n"[..], b"\0\n", b"\t\t\t\n", b"a\tb\tc\td\te\n", &[b'*'; 100], b"\n"] {
        input.extend_from_slice(bad);
        if bad.ends_with(b"\n") {
            input.extend_from_slice(good);
        }
    }
    // A line that is longer than anybody reads.
    input.extend(std::iter::repeat_n(b'x', 3 << 20));
    input.push(b'\n');
    input.extend_from_slice(good);
    let answers = batch(input);
    assert_eq!(answers.iter().filter(|answer| *answer == "2026-01-02T00:00:00Z").count(), 6, "{answers:?}");
    assert_eq!(answers.iter().filter(|answer| *answer == "error").count(), 6, "{answers:?}");
}

#[test]
fn an_empty_batch_has_no_answers() {
    assert!(batch("").is_empty());
}

#[test]
fn one_expression_is_told_in_utc_and_local_time() {
    let run = |arguments: &[&str]| program().arg("cron").args(arguments).output().unwrap();
    let output = run(&[
        "30 2 * * SUN",
        "--time-zone",
        "Europe/Berlin",
        "--from",
        "2027-03-22T00:00:00Z",
        "--count",
        "1",
    ]);
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "2027-04-04T00:30:00Z  Sun 2027-04-04 02:30:00 +02:00\n"
    );
    let output = run(&["0 0 * * *", "--now", "2026-11-21T12:00:00Z", "--count", "1"]);
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "2026-11-22T00:00:00Z  Sun 2026-11-22 00:00:00 +00:00\n"
    );
    let output = run(&["0 0 30 2 *"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
    assert!(String::from_utf8(output.stderr).unwrap().contains("never fires"));
}

#[test]
fn bad_words_are_explained() {
    for (arguments, said) in [
        (["0 0 * * 7", "--count", "1"], "^"),
        (["0 0 * * *", "--time-zone", "europe/berlin"], "did you mean `Europe/Berlin`?"),
        (["0 0 * * *", "--from", "today"], "`today` is not a time"),
        (["0 0 * * *", "--count", "many"], "invalid value"),
        (["0 0 * * *", "--count", "1000001"], "1000000"),
        (["0 0 * * *", "--count", "0"], "1..=1000000"),
        (["0 0 * * *", "--from", "9999-12-31T23:59:59Z"], "before 9999-12-30T22:00:00Z"),
        (["@every 1h", "--now", "x"], "--now"),
    ] {
        let output = program().arg("cron").args(arguments).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr.contains(said), "{arguments:?}: {stderr}");
    }
}
