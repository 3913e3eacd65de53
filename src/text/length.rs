//! Numbers of things and lengths of time in words.

use std::time::Duration;

/// Says how many of what: `1 object`, `2 objects`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Writes how long something takes, in the two largest units, rounded up.
pub(crate) fn length(duration: Duration) -> String {
    let minutes = usize::try_from(duration.as_secs()).unwrap_or(usize::MAX).div_ceil(60).max(1);
    let minutes = if minutes > 1440 { minutes.div_ceil(60) * 60 } else { minutes };
    let (days, hours) = (minutes / 1440, minutes % 1440 / 60);
    let units = [(days, "day"), (hours, "hour"), (minutes % 60, "minute")];
    let units = units.into_iter().skip_while(|(number, _)| *number == 0).take(2);
    let told = units.filter(|(number, _)| *number > 0).map(|(number, unit)| count(number, unit));
    told.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_told_in_two_units() {
        let told = |seconds| length(Duration::from_secs(seconds));
        assert_eq!(
            [told(0), told(60), told(601), told(43_200), told(86_400 + 3_660), told(u64::MAX)]
                .map(|one| one.len() < 40),
            [true; 6]
        );
        assert_eq!([told(0), told(601), told(43_200)], ["1 minute", "11 minutes", "12 hours"]);
        assert_eq!(
            [told(86_400 + 3_600), told(86_400 + 60), told(86_400)],
            ["1 day 1 hour", "1 day 1 hour", "1 day"]
        );
    }
}
