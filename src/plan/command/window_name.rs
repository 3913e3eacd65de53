//! What a new window is called.

use crate::schedule::CronExpr;

/// What the guides call their window, Monday to Thursday.
const WORK_WEEK: &str = "work-week";

/// The days of a cron expression, from Sunday on.
const DAYS: [&str; 7] = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/// Returns a name that follows the days on which a window opens, as `saturday`.
pub(super) fn window_name(open: &str, close: &str) -> String {
    let days = |expression: &str| CronExpr::parse(expression).ok()?.days_of_week();
    let (Some(opens), Some(closes)) = (days(open), days(close)) else { return "window".to_owned() };
    match (opens.as_slice(), closes.as_slice()) {
        ([1], [4 | 5]) => WORK_WEEK.to_owned(),
        ([from], [to]) if (to + 7 - from) % 7 > 1 => format!("{}-to-{}", DAYS[*from], DAYS[*to]),
        ([day], _) => DAYS[*day].to_owned(),
        ([0, 6], _) => "weekend".to_owned(),
        ([1, 2, 3, 4, 5], _) => "weekdays".to_owned(),
        (several, _) if several.len() == DAYS.len() => "daily".to_owned(),
        (several, _) => several.iter().map(|day| DAYS[*day]).collect::<Vec<_>>().join("-"),
    }
}

#[cfg(test)]
mod tests {
    use super::window_name;

    #[test]
    fn a_window_is_named_after_the_days_on_which_it_opens() {
        let named = [
            ("0 8 * * MON", "0 17 * * THU", "work-week"),
            ("0 22 * * SAT", "0 4 * * SUN", "saturday"),
            ("0 22 * * 6", "0 23 * * 6", "saturday"),
            ("0 20 * * FRI", "0 6 * * MON", "friday-to-monday"),
            ("0 8 * * SAT,SUN", "0 17 * * 0,6", "weekend"),
            ("0 8 * * 1-5", "0 17 * * 1-5", "weekdays"),
            ("0 8 * * tue,thu", "0 17 * * tue,thu", "tuesday-thursday"),
            ("0 22 * * *", "0 4 * * *", "daily"),
            ("0 22 1 * *", "0 4 2 * *", "window"),
            ("0 22 13 * FRI", "0 4 14 * *", "window"),
            ("@weekly", "0 4 * * SUN", "sunday"),
        ];
        for (open, close, name) in named {
            assert_eq!(window_name(open, close), name, "{open} to {close}");
        }
    }
}
