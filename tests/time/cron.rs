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
fn a_line_that_asks_for_nothing_is_an_error_and_never_an_empty_answer() {
    let line = |count: &str| format!("0 0 * * *\tUTC\t2026-01-01T00:00:00Z\t{count}\n");
    let counts = ["0", "-1", "+1", "", " 1", "1000001", "99999999999999999999", "1.0", "01"];
    let answers = batch(counts.map(line).concat());
    assert_eq!(answers[..8], ["error"; 8]);
    assert_eq!(answers[8], "2026-01-02T00:00:00Z");
}

#[test]
fn what_robfig_does_not_look_at_may_be_no_text() {
    let answers =
        batch(b"*-\xff * * * *\tUTC\t2026-01-01T00:00:00Z\t1\n\xff * * * *\tUTC\t2026-01-01T00:00:00Z\t1");
    assert_eq!(answers, ["2026-01-01T00:01:00Z", "error"]);
}

#[test]
fn both_forms_know_the_same_years() {
    let answers = batch("0 0 * * *\tEurope/Berlin\t9999-12-31T22:30:00Z\t2");
    assert_eq!(answers, ["9999-12-31T23:00:00Z 10000-01-01T23:00:00Z"]);
    // To Go, the first instant of the year 1 is no time, and robfig/cron ends there.
    let answers = batch("0 0 * * *\tUTC\t0000-12-30T12:00:00Z\t5\n0 0 1 1 *\tUTC\t0000-12-30T12:00:00Z\t5");
    assert_eq!(answers, ["0000-12-31T00:00:00Z", "never"]);
    let output = program()
        .args([
            "cron",
            "0 0 * * *",
            "--time-zone",
            "Europe/Berlin",
            "--from",
            "9999-12-31T22:30:00Z",
            "--count",
            "2",
        ])
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "9999-12-31T23:00:00Z  Sat 10000-01-01 00:00:00 +01:00\n\
         10000-01-01T23:00:00Z  Sun 10000-01-02 00:00:00 +01:00\n"
    );
}

#[test]
fn what_does_not_come_for_eight_years_is_told() {
    let output = program().args(["cron", "0 0 29 2 *", "--from", "2095-01-01T00:00:00Z"]).output().unwrap();
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "2096-02-29T00:00:00Z  Wed 2096-02-29 00:00:00 +00:00\n"
    );
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "It does not fire within five years after 2096-02-29T00:00:00Z. Kubernetes looks no further, and the CronJob \
         starts nothing. The calendar has such a time again at 2104-02-29T00:00:00Z.\n"
    );
}

#[test]
fn the_version_names_the_time_zones() {
    let output = program().arg("--version").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("\ntime zone database 20"), "{said}");
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
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("within five years") && said.contains("No later year has such a time"), "{said}");
}

#[test]
fn bad_words_are_explained() {
    for (arguments, said) in [
        (["0 0 * * 7", "--count", "1"], "^"),
        (["0 0 * * *", "--time-zone", "europe/berlin"], "did you mean `Europe/Berlin`?"),
        (["0 0 * * *", "--from", "someday"], "`someday` is no day and no time"),
        (["0 0 * * *", "--count", "many"], "invalid value"),
        (["0 0 * * *", "--count", "1000001"], "1000000"),
        (["0 0 * * *", "--count", "0"], "1..=1000000"),
        (["-5 * * * *", "--count", "1"], "write the minute as 0 to 59"),
        (["0 25 * * *", "--count", "1"], "write the hour as 0 to 23"),
        (["0 0 * 13 *", "--count", "1"], "write the month as 1 to 12 or a name from JAN to DEC"),
        (["0 0 * * *", "--time-zone", "Nowhere"], "(release 20"),
        (["@every 1h", "--now", "x"], "--now"),
    ] {
        let output = program().arg("cron").args(arguments).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr.contains(said), "{arguments:?}: {stderr}");
    }
}
