//! Others who write at the same time: a second run, or a person between the plan and the answer.

use std::io::{Read, Write};
use std::process::Stdio;

use crate::ground::{PROGRAM, Trial, said, with_windows};
use crate::support::scratch::{Tree, assert_same};

/// The trees that some commands leave, one after the other.
fn left(scratch: &crate::support::scratch::Scratch, commands: &[&[&str]]) -> Tree {
    let trial = Trial::of(scratch);
    for command in commands {
        let run = trial.run(command);
        assert!(run.status.success(), "{command:?}: {}", said(&run));
    }
    trial.tree()
}

#[test]
fn two_writers_at_once_leave_what_one_or_both_wanted() {
    let scratch = with_windows();
    let web: &[&str] = &["split", "app", "web", "--yes", "--allow-dirty"];
    let probe: &[&str] = &["split", "app", "probe", "--yes", "--allow-dirty"];
    let old = scratch.tree();
    let both = [left(&scratch, &[web, probe]), left(&scratch, &[probe, web])];
    let wanted = [vec![left(&scratch, &[web])], vec![left(&scratch, &[probe])], both.to_vec()];
    let mut ends = [0; 3];
    for pair in 0..50_u64 {
        let trial = Trial::of(&scratch);
        let start = |arguments: &[&str]| {
            trial
                .command(PROGRAM)
                .args(arguments)
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        };
        let first = start(web);
        std::thread::sleep(std::time::Duration::from_millis(pair % 10 * 60));
        let second = start(probe);
        let runs = [first, second].map(|child| child.wait_with_output().unwrap());
        for run in &runs {
            assert!(matches!(run.status.code(), Some(0 | 4)), "{:?}: {}", run.status, said(run));
            assert!(run.status.success() || said(run).contains("error: "), "{}", said(run));
        }
        let done: Vec<bool> = runs.iter().map(|run| run.status.success()).collect();
        let there = trial.tree();
        let end = match done[..] {
            [true, false] => 0,
            [false, true] => 1,
            [true, true] => 2,
            _ => panic!("neither wrote: {}{}", said(&runs[0]), said(&runs[1])),
        };
        assert!(wanted[end].contains(&there), "pair {pair}: {done:?} left another tree");
        ends[end] += 1;
        // The next run finds nothing to mend.
        let next = trial.run(&["clusters"]);
        assert!(next.status.success() && trial.tree() == there, "{}", said(&next));
    }
    assert!(old == scratch.tree(), "a trial wrote into the original");
    eprintln!("50 pairs: the first alone {}, the second alone {}, both {}", ends[0], ends[1], ends[2]);
}

/// Lets a person answer on a terminal, after something was done to the files while the question stood there.
fn answers(trial: &Trial, meanwhile: impl FnOnce()) -> (Option<i32>, String) {
    let line = format!("'{PROGRAM}' split --all");
    let mut command = trial.command("script");
    command.args(["-qec", &line, "/dev/null"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (mut terminal, mut person) = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
    let (mut text, mut byte) = (Vec::new(), [0]);
    while !text.ends_with(b"[y/N] ") {
        assert_eq!(terminal.read(&mut byte).unwrap(), 1, "no question: {}", String::from_utf8_lossy(&text));
        text.push(byte[0]);
    }
    meanwhile();
    person.write_all(b"y\n").unwrap();
    terminal.read_to_end(&mut text).unwrap();
    let code = child.wait().unwrap().code();
    (code, String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn what_a_person_edits_between_the_plan_and_the_answer_stays() {
    let scratch = with_windows();
    let quiet = Trial::of(&scratch);
    let (code, text) = answers(&quiet, || ());
    assert_eq!(code, Some(0), "{text}");
    assert!(quiet.tree() != scratch.tree(), "nothing was written");

    let trial = Trial::of(&scratch);
    let file = trial.top().join("apps/web/kustomization.yaml");
    let mine = format!("{}# mine\n", std::fs::read_to_string(&file).unwrap());
    let (code, text) = answers(&trial, || std::fs::write(&file, &mine).unwrap());
    assert_eq!(code, Some(4), "{text}");
    assert!(text.contains("kustomization.yaml"), "{text}");
    std::fs::write(&file, mine.strip_suffix("# mine\n").unwrap()).unwrap();
    assert_same(&scratch.tree(), &trial.tree(), "something was written");
}
