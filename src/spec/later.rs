//! How much later than their windows say clusters open and close.

use sha2::{Digest, Sha256};

use crate::diagnostic::Diagnostic;
use crate::schedule::Length;
use crate::spec::model::{Cluster, Spec};
use crate::text::did_you_mean;

/// The most by which windows are shifted, in minutes: four weeks.
const MOST: u64 = 28 * 24 * 60;

impl Spec {
    /// Returns by how many minutes all windows of a cluster open and close later than they say: by its wave, and by its
    /// name. One that the spec does not name is no later.
    pub fn later(&self, cluster: &str) -> u32 {
        let Some(cluster) = self.clusters.get(cluster) else { return 0 };
        self.wave_of(cluster).unwrap_or_default().saturating_add(self.spread(cluster))
    }

    /// Returns by how much the wave of a cluster is later; `None` where it is in none.
    fn wave_of(&self, cluster: &Cluster) -> Option<u32> {
        let Some(waves) = &self.waves else { return Some(0) };
        let own = cluster.labels.get(&waves.by)?;
        let position = waves.order.iter().position(|wave| wave == own)?;
        Some(u32::try_from(position).ok()?.saturating_mul(waves.offset.minutes()))
    }

    /// Returns which part of `stagger` falls to a cluster: whole ticks of a table, whole minutes without one.
    fn spread(&self, cluster: &Cluster) -> u32 {
        let Some(stagger) = &self.stagger else { return 0 };
        let tick = self.tick();
        let digest = Sha256::digest(cluster.name.value.as_bytes());
        let number = digest.iter().take(8).fold(0, |number: u64, byte| number << 8 | u64::from(*byte));
        let slots = u64::from(stagger.minutes().div_ceil(tick)).max(1);
        u32::try_from(number % slots).unwrap_or_default() * tick
    }

    fn tick(&self) -> u32 {
        self.gate.table.as_ref().map_or(1, |table| table.every)
    }
}

/// Checks that each cluster is in a wave, and that nothing is spread in vain.
pub(super) fn check(spec: &Spec, diagnostics: &mut Vec<Diagnostic>) {
    let mut error = |message: String, place, help: String| {
        diagnostics.push(Diagnostic::error(message).at(place).help(help));
    };
    if let Some(stagger) = spec.stagger.as_ref().filter(|stagger| stagger.minutes() <= spec.tick()) {
        error(
            format!("`stagger: {}` leaves one time for all clusters", stagger.value),
            stagger.place.clone(),
            match spec.gate.table {
                Some(_) => "make it longer than `every`".to_owned(),
                None => "make it at least 2m".to_owned(),
            },
        );
    }
    let Some(waves) = &spec.waves else { return };
    for (position, wave) in waves.order.iter().enumerate() {
        if waves.order[..position].contains(wave) {
            let message = format!("`order` names the wave `{}` twice", wave.value);
            error(message, wave.place.clone(), "remove one of them".to_owned());
        }
    }
    let spread = spec.stagger.as_ref().map_or(0, |stagger| u64::from(stagger.minutes()));
    let last = waves.order.len().saturating_sub(1) as u64 * u64::from(waves.offset.minutes());
    if last + spread > MOST {
        let message = "the last wave would open more than four weeks after the first".to_owned();
        error(message, waves.offset.place.clone(), "make `offset` shorter".to_owned());
    }
    // Whoever is in no wave must not become a canary by that.
    for cluster in spec.clusters.values().filter(|cluster| spec.wave_of(cluster).is_none()) {
        let (name, by) = (&cluster.name.value, &waves.by);
        let known = || waves.order.iter().map(|wave| wave.value.as_str());
        match cluster.labels.get(by) {
            Some(own) => error(
                format!("`order` does not name the wave `{}` of cluster `{name}`", own.value),
                own.place.clone(),
                did_you_mean(own, known()).unwrap_or_else(|| "add it to `order` under `waves`".to_owned()),
            ),
            None => error(
                format!("cluster `{name}` is in no wave: it has no label `{by}`"),
                cluster.name.place.clone(),
                format!(
                    "give it one, such as `labels: {{ {by}: {} }}`",
                    waves.order.last().map_or("", |wave| wave.value.as_str())
                ),
            ),
        }
    }
}

/// Writes how much later something is, behind its times; nothing where it is not.
pub(crate) fn later_words(minutes: u32) -> String {
    Length::from_minutes(minutes).map_or_else(String::new, |length| format!(", {length} later"))
}
