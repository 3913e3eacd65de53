//! Remedies of several steps.

/// What an alternative begins with; it gets no number.
const OR: &str = "or ";

/// Numbers the steps of a remedy, which stand one a line.
///
/// A single step gets no number, and neither does a line that begins with `or`: it, with the steps behind it, stands in
/// place of the steps before. What has numbers already stays as it is.
///
/// ```
/// use gitops_windows::diagnostic::numbered;
/// assert_eq!(numbered("commit it\nwait\nor take it back"), "1. commit it\n2. wait\nor take it back");
/// assert_eq!(numbered("commit it\nor take it back"), "commit it\nor take it back");
/// assert_eq!(numbered("wait\nor so:\n1. commit it\n2. wait"), "wait\nor so:\n1. commit it\n2. wait");
/// ```
pub fn numbered(remedy: &str) -> String {
    let lines: Vec<&str> = remedy.lines().collect();
    let ways = lines.chunk_by(|one, other| one.starts_with(OR) == other.starts_with(OR));
    let told = ways.flat_map(|steps| {
        let is_one = steps.len() < 2 || steps[0].starts_with(OR) || steps[0].starts_with("1. ");
        let told = steps.iter().enumerate().map(move |(index, step)| match is_one {
            true => (*step).to_owned(),
            false => format!("{}. {step}", index + 1),
        });
        told.collect::<Vec<_>>()
    });
    told.collect::<Vec<_>>().join("\n")
}

/// Returns the steps of a remedy without their numbers.
pub fn steps(remedy: &str) -> Vec<String> {
    let bare = |(index, line): (usize, &str)| {
        let number = format!("{}. ", index + 1);
        line.strip_prefix(&number).unwrap_or(line).to_owned()
    };
    remedy.lines().enumerate().map(bare).collect()
}

/// Writes a remedy in one line.
pub fn one_line(remedy: &str) -> String {
    numbered(remedy).lines().collect::<Vec<_>>().join("; ")
}
