//! Invariant 6: failed or killed at every single step, the old tree, the new tree, or a journal.

use std::io;
use std::process::Command;

use super::*;
use crate::write::disk::Verdict;
use crate::write::recover::recover_watched;
use crate::write::undo::undo_watched;

/// More steps than any act here takes.
const STEPS: usize = 200;

/// How a step goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// This step fails, later ones succeed: a full disk, a missing permission.
    Fail,
    /// Nothing reaches the disk from this step on: a kill before it, or a disk that is gone.
    Kill,
    /// The same, after half of the step.
    Tear,
    /// Nothing that takes space reaches the disk from this step on: a full disk.
    Full,
}

/// Lets a number of steps pass, then goes wrong.
struct Faults {
    fault: Fault,
    at: usize,
    seen: usize,
}

impl Faults {
    fn new(fault: Fault, at: usize) -> Faults {
        Faults { fault, at, seen: 0 }
    }

    fn struck(&self) -> bool {
        self.seen > self.at
    }
}

/// Kills before the file `run` is put in place: all that sort before it are new.
fn kill_at_run() -> Faults {
    let twin = Scratch::plain();
    let plan = everything(&twin);
    let actions = actions(|watch| drop(write_watched(&twin.repository(), &plan, watch).unwrap()));
    Faults::new(Fault::Kill, actions.iter().position(|action| action.ends_with(" to run")).unwrap())
}

/// Returns all steps of an act.
fn actions(act: impl FnOnce(&mut dyn Watch)) -> Vec<String> {
    struct Listed(Vec<String>);
    impl Watch for Listed {
        fn before(&mut self, action: &str) -> Verdict {
            self.0.push(action.to_owned());
            Verdict::Go
        }

        fn durable(&self) -> bool {
            false
        }
    }
    let mut listed = Listed(Vec::new());
    act(&mut listed);
    listed.0
}

impl Watch for Faults {
    fn before(&mut self, action: &str) -> Verdict {
        let number = self.seen;
        self.seen += 1;
        let error = || io::Error::from(io::ErrorKind::StorageFull);
        match (self.fault, number.cmp(&self.at)) {
            (_, std::cmp::Ordering::Less) => Verdict::Go,
            (Fault::Fail, std::cmp::Ordering::Greater) => Verdict::Go,
            (Fault::Full, _) if !["put", "make"].iter().any(|word| action.starts_with(word)) => Verdict::Go,
            (Fault::Tear, std::cmp::Ordering::Equal) => Verdict::Tear(error()),
            _ => Verdict::Fail(error()),
        }
    }

    fn durable(&self) -> bool {
        false
    }
}

struct Quick;

impl Watch for Quick {
    fn durable(&self) -> bool {
        false
    }
}

/// What is under test: a write, or the taking back of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Write,
    Undo,
}

/// A tree, the plan, and the trees before and after the act.
fn prepare(scratch: &Scratch, act: Act) -> (Changes, Tree, Tree) {
    let plan = everything(scratch);
    let before = scratch.tree();
    let after = expected(&before, &plan);
    if act == Act::Write {
        return (plan, before, after);
    }
    write_watched(&scratch.repository(), &plan, &mut Quick).unwrap();
    (plan, after, before)
}

fn perform(scratch: &Scratch, act: Act, plan: &Changes, watch: &mut dyn Watch) -> Result<(), Error> {
    match act {
        Act::Write => write_watched(&scratch.repository(), plan, watch).map(drop),
        Act::Undo => undo_watched(&scratch.repository(), watch).map(drop),
    }
}

/// After all is done the tool works on: what is old can be made new, and what was made be undone.
fn goes_on(scratch: &Scratch, act: Act, plan: &Changes, old: &Tree, new: &Tree) {
    if scratch.tree() == *old {
        perform(scratch, act, plan, &mut Quick).unwrap();
    }
    assert_eq!(scratch.tree(), *new);
    if act == Act::Write {
        perform(scratch, Act::Undo, plan, &mut Quick).unwrap();
        assert_eq!(scratch.tree(), *old);
    }
}

#[test]
fn invariant_6_a_failure_at_any_step_leaves_the_old_tree_or_the_new() {
    for act in [Act::Write, Act::Undo] {
        for at in 0..STEPS {
            let scratch = Scratch::plain();
            let (plan, old, new) = prepare(&scratch, act);
            let mut faults = Faults::new(Fault::Fail, at);
            let result = perform(&scratch, act, &plan, &mut faults);
            match &result {
                Ok(()) => assert_eq!(scratch.tree(), new, "{act:?} {at}"),
                Err(error) => {
                    assert_eq!(scratch.tree(), old, "{act:?} {at}");
                    assert_eq!(error.kind, ErrorKind::Invalid);
                    assert_eq!(error.diagnostics[0].help.as_deref(), Some("free some space, then run again"));
                }
            }
            assert!(!matches!(
                recover_watched(&scratch.repository(), &mut Quick),
                Err(_) | Ok(Some(Recovered::Restored(_)))
            ));
            goes_on(&scratch, act, &plan, &old, &new);
            if !faults.struck() {
                assert!(at > 20, "only {at} steps");
                break;
            }
        }
    }
}

#[test]
fn invariant_6_a_kill_at_any_step_is_recovered() {
    for act in [Act::Write, Act::Undo] {
        for fault in [Fault::Kill, Fault::Tear, Fault::Full] {
            let mut at = 0;
            loop {
                let scratch = Scratch::plain();
                let (plan, old, new) = prepare(&scratch, act);
                let mut faults = Faults::new(fault, at);
                let result = perform(&scratch, act, &plan, &mut faults);
                let committed = match recover_watched(&scratch.repository(), &mut Quick).unwrap() {
                    None => result.is_ok(),
                    Some(Recovered::Restored(_)) => false,
                    Some(Recovered::Finished(_)) => true,
                };
                assert_eq!(scratch.tree(), *if committed { &new } else { &old }, "{act:?} {fault:?} {at}");
                goes_on(&scratch, act, &plan, &old, &new);
                if !faults.struck() {
                    break;
                }
                at += 1;
                assert!(at < STEPS);
            }
        }
    }
}

/// All pairs take half a minute, so a plain run tries every seventh step of the write with every step
/// of its recovery; with `GITOPS_WINDOWS_TEST_THOROUGH` set, every pair is tried.
#[test]
fn invariant_6_a_kill_at_any_step_of_the_recovery_is_recovered() {
    let stride = if crate::is_thorough() { 1 } else { 7 };
    let mut pairs = 0;
    for act in [Act::Write, Act::Undo] {
        for at in (0..STEPS).step_by(stride) {
            let mut struck = false;
            for again in 0..STEPS {
                let scratch = Scratch::plain();
                let (plan, old, new) = prepare(&scratch, act);
                let mut faults = Faults::new(Fault::Kill, at);
                let _ = perform(&scratch, act, &plan, &mut faults);
                struck = faults.struck();
                let repository = scratch.repository();
                let killed = recover_watched(&repository, &mut KillAt(again)).is_err();
                // What is there now may be neither tree; the next run mends it.
                recover_watched(&repository, &mut Quick).unwrap();
                let tree = scratch.tree();
                assert!(tree == old || tree == new, "{act:?} {at} {again}: {tree:#?}");
                pairs += 1;
                if !killed {
                    break;
                }
            }
            if !struck {
                break;
            }
        }
    }
    assert!(pairs > 100, "{pairs}");
}

/// One step goes wrong, and a later one too.
struct Twice {
    first: Faults,
    half: bool,
    second: Faults,
}

impl Watch for Twice {
    fn before(&mut self, action: &str) -> Verdict {
        match (self.first.before(action), self.second.before(action)) {
            (Verdict::Fail(error), Verdict::Go) if self.half => Verdict::Tear(error),
            (Verdict::Fail(error), Verdict::Go) => Verdict::Fail(error),
            (_, second) => second,
        }
    }

    fn durable(&self) -> bool {
        false
    }
}

/// What fails may be half done, the way back may fail or be cut short too, and the disk may stay full.
///
/// After the steps of the marker, each second one is always tried; of the others, a plain run tries some.
#[test]
fn invariant_6_a_second_fault_on_the_way_back_leaves_the_old_tree_or_the_new() {
    let stride = if crate::is_thorough() { 1 } else { 19 };
    let mut pairs = 0;
    for act in [Act::Write, Act::Undo] {
        let listed = {
            let scratch = Scratch::plain();
            let (plan, ..) = prepare(&scratch, act);
            actions(|watch| perform(&scratch, act, &plan, watch).unwrap())
        };
        let marker = listed.iter().position(|action| action == "put next/committed").unwrap();
        let is_of_marker = |at: &usize| (marker..marker + 2).contains(at);
        let first = |at: &usize| at.is_multiple_of(stride) || is_of_marker(at);
        for at in (0..listed.len()).filter(first) {
            let step = if is_of_marker(&at) { 1 } else { stride };
            for (half, fault) in [
                (false, Fault::Kill),
                (true, Fault::Kill),
                (true, Fault::Tear),
                (true, Fault::Fail),
                (true, Fault::Full),
            ] {
                for again in (at + 1..).step_by(step) {
                    let scratch = Scratch::plain();
                    let (plan, old, new) = prepare(&scratch, act);
                    let mut faults = Twice {
                        first: Faults::new(Fault::Fail, at),
                        half,
                        second: Faults::new(fault, again),
                    };
                    let result = perform(&scratch, act, &plan, &mut faults);
                    let of = format!("{act:?} {at}, {fault:?} {again}");
                    let tree = scratch.tree();
                    assert!(result.is_err() || tree == new, "{of}: success, and not the new tree");
                    recover_watched(&scratch.repository(), &mut Quick).unwrap();
                    let after = scratch.tree();
                    assert!(after == old || after == new, "{of}: {after:#?}");
                    assert!(result.is_err() || after == new, "{of}: what succeeded was taken back");
                    goes_on(&scratch, act, &plan, &old, &new);
                    pairs += 1;
                    if !faults.second.struck() {
                        break;
                    }
                }
            }
        }
    }
    assert!(pairs > 100, "{pairs}");
}

/// The disk takes the marker, but does not say that it has it, and then neither takes anything nor gives it back.
#[test]
fn where_the_marker_can_t_be_withdrawn_the_new_tree_stands_and_is_told() {
    let scratch = Scratch::plain();
    let (plan, _, new) = prepare(&scratch, Act::Write);
    let listed = {
        let twin = Scratch::plain();
        let (plan, ..) = prepare(&twin, Act::Write);
        actions(|watch| perform(&twin, Act::Write, &plan, watch).unwrap())
    };
    let marker = listed.iter().position(|action| action == "put next/committed").unwrap();
    let error =
        write_watched(&scratch.repository(), &plan, &mut Faults::new(Fault::Tear, marker)).unwrap_err();
    assert_eq!(scratch.tree(), new);
    let is_told = |one: &Diagnostic| one.message.contains("all new files stand");
    assert!(error.diagnostics.iter().any(is_told), "{error:?}");
    assert!(matches!(recover_watched(&scratch.repository(), &mut Quick), Ok(Some(Recovered::Finished(_)))));
    assert_eq!(scratch.tree(), new);
    assert!(undo(&scratch.repository()).unwrap().is_some());
}

/// Kills at one step, as [`Faults`] does.
struct KillAt(usize);

impl Watch for KillAt {
    fn before(&mut self, _: &str) -> Verdict {
        if self.0 == 0 {
            return Verdict::Fail(io::ErrorKind::StorageFull.into());
        }
        self.0 -= 1;
        Verdict::Go
    }

    fn durable(&self) -> bool {
        false
    }
}

const TOP: &str = "GITOPS_WINDOWS_TEST_TOP";
const STEP: &str = "GITOPS_WINDOWS_TEST_STEP";

/// Dies at one step, for real.
struct Die(usize);

impl Watch for Die {
    fn before(&mut self, _: &str) -> Verdict {
        if self.0 == 0 {
            std::process::abort();
        }
        self.0 -= 1;
        Verdict::Go
    }

    fn durable(&self) -> bool {
        false
    }
}

/// Not a test of its own: the process that the next test starts and that dies.
#[test]
fn dying_process() {
    let (Some(top), Ok(step)) = (std::env::var_os(TOP), std::env::var(STEP)) else { return };
    let repository = Repository::discover(top.as_ref()).unwrap();
    // The plan comes from an equal tree, which is gone again before the end comes.
    let plan = everything(&Scratch::plain());
    write_watched(&repository, &plan, &mut Die(step.parse().unwrap())).unwrap();
}

#[test]
fn invariant_6_a_process_that_dies_at_any_step_leaves_a_journal() {
    let mut restored = 0;
    for step in 0..STEPS {
        let scratch = Scratch::git();
        let plan = everything(&scratch);
        let before = scratch.tree();
        let after = expected(&before, &plan);
        let died = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "write::tests::faults::dying_process"])
            .env(TOP, scratch.top())
            .env(STEP, step.to_string())
            .output()
            .unwrap();
        let repository = scratch.repository();
        match recover_watched(&repository, &mut Quick).unwrap() {
            None => assert!([&before, &after].contains(&&scratch.tree()), "{step}"),
            Some(Recovered::Restored(_)) => {
                restored += 1;
                assert_eq!(scratch.tree(), before, "{step}");
            }
            Some(Recovered::Finished(_)) => assert_eq!(scratch.tree(), after, "{step}"),
        }
        assert_eq!(recover(&repository), Ok(None));
        if died.status.success() {
            assert_eq!(scratch.tree(), after);
            break;
        }
    }
    assert!(restored > 10, "{restored}");
}

#[test]
fn a_write_waits_until_an_interrupted_one_is_taken_back() {
    let scratch = Scratch::git();
    let (plan, old, _) = prepare(&scratch, Act::Write);
    write_watched(&scratch.repository(), &plan, &mut kill_at_run()).unwrap_err();
    assert_ne!(scratch.tree(), old);
    let error = write(&scratch.repository(), &creating("other")).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Conflict);
    assert!(error.to_string().contains("an interrupted write waits"), "{error}");
    assert!(matches!(recover(&scratch.repository()), Ok(Some(Recovered::Restored(_)))));
    assert_eq!(scratch.tree(), old);
}

#[test]
fn invariant_6_recovery_overwrites_nothing_that_was_edited_since() {
    let scratch = Scratch::git();
    let (plan, old, _) = prepare(&scratch, Act::Write);
    write_watched(&scratch.repository(), &plan, &mut kill_at_run()).unwrap_err();
    scratch.put("private", "by hand");
    let torn = scratch.tree();
    let error = recover(&scratch.repository()).unwrap_err();
    assert_eq!((error.kind, error.diagnostics.len()), (ErrorKind::Conflict, 1));
    assert!(error.to_string().contains("`private` was edited since"), "{error}");
    assert_eq!(scratch.tree(), torn);
    scratch.put("private", "p\n");
    recover(&scratch.repository()).unwrap();
    assert_eq!(scratch.tree(), old);
}

#[test]
fn a_damaged_backup_or_journal_stops_the_recovery_before_it_changes_anything() {
    let scratch = Scratch::git();
    let (plan, ..) = prepare(&scratch, Act::Write);
    write_watched(&scratch.repository(), &plan, &mut kill_at_run()).unwrap_err();
    let torn = scratch.tree();
    for number in 0..plan.len() {
        let name = format!(".git/gitops-windows/next/old/{number}");
        if scratch.at(&name).exists() {
            scratch.put(&name, "damaged");
        }
    }
    let error = recover(&scratch.repository()).unwrap_err();
    assert!(error.to_string().contains("missing or damaged"), "{error}");
    scratch.put(".git/gitops-windows/next/journal.json", "{");
    let error = recover(&scratch.repository()).unwrap_err();
    assert!(error.to_string().contains("can't be understood"), "{error}");
    assert_eq!(scratch.tree(), torn);
}

#[test]
fn invariant_6_a_folder_that_may_not_be_written_leaves_the_old_tree() {
    let scratch = Scratch::git();
    let (plan, old, new) = prepare(&scratch, Act::Write);
    scratch.mode("old/deep", 0o555);
    if std::fs::File::create(scratch.at("old/deep/probe")).is_ok() {
        // The superuser may write everywhere.
        io::Write::write_all(&mut io::stderr(), b"skipped: run as another user than root\n").unwrap();
        return;
    }
    let error = write(&scratch.repository(), &plan).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Invalid);
    assert!(error.to_string().contains("can't write `old/deep/gone`; all files are as they were"), "{error}");
    scratch.mode("old/deep", 0o700);
    assert_eq!(scratch.tree(), old);
    write(&scratch.repository(), &plan).unwrap();
    assert_eq!(scratch.tree(), new);
}

#[test]
fn a_write_whose_tidying_failed_can_still_be_undone() {
    let scratch = Scratch::git();
    let (plan, old, new) = prepare(&scratch, Act::Write);
    let committed = (0..STEPS).find(|at| {
        let scratch = Scratch::git();
        let (plan, ..) = prepare(&scratch, Act::Write);
        write_watched(&scratch.repository(), &plan, &mut Faults::new(Fault::Kill, *at)).is_ok()
    });
    write_watched(&scratch.repository(), &plan, &mut Faults::new(Fault::Kill, committed.unwrap())).unwrap();
    assert_eq!(scratch.tree(), new);
    assert!(scratch.at(".git/gitops-windows/next/committed").exists());
    assert!(undo(&scratch.repository()).unwrap().is_some());
    assert_eq!(scratch.tree(), old);
}

#[test]
fn an_edit_during_the_write_wins() {
    /// Edits a file just before the first file is put in place.
    struct Edit<'a>(&'a Scratch);
    impl Watch for Edit<'_> {
        fn before(&mut self, action: &str) -> Verdict {
            if action.contains(" to apps/") {
                self.0.put("private", "by hand\n");
            }
            Verdict::Go
        }
    }
    let scratch = Scratch::git();
    let (plan, mut old, _) = prepare(&scratch, Act::Write);
    let error = write_watched(&scratch.repository(), &plan, &mut Edit(&scratch)).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Conflict);
    assert!(error.to_string().contains("`private` was edited while"), "{error}");
    old.get_mut("private").unwrap().1 = b"by hand\n".to_vec();
    assert_eq!(scratch.tree(), old);
    assert_eq!(recover(&scratch.repository()), Ok(None));
}
