//! Time zones and times of windows, judged by [`crate::schedule`].

use jiff::tz::TimeZone;

use crate::diagnostic::Diagnostic;
use crate::schedule::{self, CronExpr, OpenTimes, WindowForm, WindowKey, reference};
use crate::spec::Placed;
use crate::spec::keys::WINDOW;
use crate::spec::model::{Freeze, Spec, WindowDef};

impl Spec {
    /// Returns the exact times at which a gate is open for a type in a cluster; `None` for a pair of CronJobs, which turn one
    /// switch.
    ///
    /// # Errors
    ///
    /// Those of [`WindowDef::schedule`], and those of [`schedule::Window::edges`]; a spec that was read has none of these.
    pub fn open_times(&self, cluster: &str, type_name: &str) -> Result<Option<OpenTimes>, Vec<Diagnostic>> {
        if !self.gate.is_exact() {
            return Ok(None);
        }
        let (later, mut edges) = (self.later(cluster), Vec::new());
        for def in self.windows_of(cluster, type_name) {
            let window = def.schedule()?;
            // A time that is refused elsewhere comes as the clocks have it.
            let in_table = self.gate.table.as_ref().and_then(|_| window.resolve_in_table(reference()).ok());
            let own =
                in_table.map_or_else(|| window.edges(), Ok).map_err(|error| vec![def.refused(error)])?;
            edges.push((own.later(later), window.zone_or_utc()));
        }
        let freezes = self.freezes_of(cluster, type_name).into_iter().map(Freeze::stretch).collect();
        let overrides =
            self.overrides_of(cluster, type_name).into_iter().map(|given| given.stretch()).collect();
        let times = OpenTimes::new(edges, freezes, overrides);
        Ok(Some(match &self.gate.table {
            Some(table) => times.within(table.bounds).settling(table.settle),
            None => times,
        }))
    }
}

impl Placed<WindowDef> {
    /// Says why a window has no openings and closings.
    pub(crate) fn refused(&self, error: schedule::WindowError) -> Diagnostic {
        let place = self.text(error.key).map_or(&self.place, |text| &text.place);
        Diagnostic::error(error.message).at(place.clone()).help(error.help)
    }
}

impl WindowDef {
    /// Returns the window as [`crate::schedule`] computes with it.
    ///
    /// A window of a [`Spec`](crate::spec::Spec) that was read has been through here, and opens and
    /// closes ([`schedule::Window::edges`]).
    ///
    /// # Errors
    ///
    /// When the zone or a time is none that Kubernetes takes: all that is wrong, with the place in
    /// the expression.
    pub fn schedule(&self) -> Result<schedule::Window, Vec<Diagnostic>> {
        let mut diagnostics = Vec::new();
        let zone = match &self.time_zone {
            Some(zone) => time_zone(zone).map_err(|error| diagnostics.push(*error)).ok(),
            None => None,
        };
        let form = self.form(&mut diagnostics);
        match form {
            Some(form) if diagnostics.is_empty() => Ok(schedule::Window { zone, form }),
            _ => Err(diagnostics),
        }
    }

    /// Tells everything that is wrong with the window's zone and times.
    pub(crate) fn check(&self) -> Vec<Diagnostic> {
        let window = match self.schedule() {
            Ok(window) => window,
            Err(diagnostics) => return diagnostics,
        };
        match window.edges() {
            Ok(_) => Vec::new(),
            Err(error) => {
                let mut diagnostic = Diagnostic::error(error.message).help(error.help);
                diagnostic.place = self.text(error.key).map(|text| text.place.clone());
                vec![diagnostic]
            }
        }
    }

    /// Returns what stands under a key.
    pub fn text(&self, key: WindowKey) -> Option<&Placed<String>> {
        match key {
            WindowKey::TimeZone => self.time_zone.as_ref(),
            _ => self.times.iter().find(|(own, _)| *own == key).map(|(_, text)| text),
        }
    }

    /// Returns whether its keys are one way to write a window; where they are not, that is said elsewhere.
    pub(crate) fn is_whole(&self) -> bool {
        let is_it = |form: &&[&str]| self.times.iter().map(|(key, _)| key.as_str()).eq(form.iter().copied());
        WINDOW.forms.iter().any(is_it)
    }

    fn form(&self, diagnostics: &mut Vec<Diagnostic>) -> Option<WindowForm> {
        match &self.times[..] {
            [(WindowKey::Open, open), (WindowKey::Close, close)] => {
                let (open, close) = (cron(open, "open", diagnostics), cron(close, "close", diagnostics));
                Some(WindowForm::OpenClose { open: open?, close: close? })
            }
            [(WindowKey::Open, open), (WindowKey::For, length)] => {
                let open = cron(open, "open", diagnostics);
                let length = other(length, length_help, diagnostics);
                Some(WindowForm::OpenFor { open: open?, length: length? })
            }
            [(WindowKey::From, from), (WindowKey::To, to)] => {
                let help = |error: &schedule::WeekTimeError| error.help.clone();
                let (from, to) = (other(from, help, diagnostics), other(to, help, diagnostics));
                Some(WindowForm::FromTo { from: from?, to: to? })
            }
            [(WindowKey::On, on), (WindowKey::From, from), (WindowKey::For, length)] => {
                let help = |error: &schedule::MonthDayError| error.help.clone();
                let (on, from) = (other(on, help, diagnostics), other(from, help, diagnostics));
                let length = other(length, length_help, diagnostics);
                Some(WindowForm::Monthly { on: on?, from: from?, length: length? })
            }
            _ => None,
        }
    }
}

/// Reads the name of a zone.
pub(super) fn time_zone(name: &Placed<String>) -> Result<TimeZone, Box<Diagnostic>> {
    schedule::zone::parse(name).map_err(|error| {
        let help = error.help();
        Box::new(Diagnostic::error(error.message).at(name.place.clone()).help(help))
    })
}

fn cron(text: &Placed<String>, key: &str, diagnostics: &mut Vec<Diagnostic>) -> Option<CronExpr> {
    match CronExpr::parse(text) {
        Ok(expr) => Some(expr),
        Err(error) => {
            let message = format!("Kubernetes would refuse `{key}` as a schedule: {}", error.message);
            let help = error.help.unwrap_or_else(|| "write five fields, such as `0 8 * * MON`".to_owned());
            diagnostics.push(Diagnostic::error(message).at(text.within(error.span)).help(help));
            None
        }
    }
}

fn length_help(_: &schedule::LengthError) -> String {
    "write a length such as `4h` or `1h30m`".to_owned()
}

fn other<T>(
    text: &Placed<String>,
    help: impl Fn(&T::Err) -> String,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<T>
where
    T: std::str::FromStr,
    T::Err: std::fmt::Display,
{
    match text.parse() {
        Ok(value) => Some(value),
        Err(error) => {
            let help = help(&error);
            diagnostics.push(Diagnostic::error(error.to_string()).at(text.place.clone()).help(help));
            None
        }
    }
}
