//! What a text in the spec may be: one rule, from which both the check and the schema follow.

use crate::spec::template::TemplateRule;

/// The kinds of text that the spec holds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TextRule {
    /// One of a few words.
    OneOf(&'static [&'static str]),
    /// The name of a type, a window or a namespace: an RFC 1123 label.
    Label,
    /// The name of a cluster: a folder's name.
    Cluster,
    /// The name of a Kubernetes object: an RFC 1123 subdomain.
    Object,
    /// A container image.
    Image,
    /// A minor version of Kubernetes.
    Minor,
    /// A Kubernetes kind.
    Kind,
    /// An API group, empty for the core group.
    Group,
    /// A name with `*` for any characters.
    Wildcard,
    /// `key` or `key=value` of a label or annotation.
    KeyValue,
    /// A glob over paths.
    Glob,
    /// A folder relative to the spec's.
    Folder,
    /// A time zone, cron expression, length or moment; `check_time` knows more.
    Time,
    /// A moment of the week or a time of day, which YAML 1.2 reads as text; `check_time` knows more.
    Clock,
    /// A date, or a date and a time with or without an offset; `instant` knows more.
    Moment,
    /// The code of a finding.
    Code,
    /// A sentence for people.
    Sentence,
    /// A template of `layout`.
    Template(&'static TemplateRule),
}

/// Says why a cluster can't have a name, and gives one like it that it may have.
pub(crate) fn cluster_name(name: &str) -> Option<(String, String)> {
    Some((TextRule::Cluster.check(name).err()?, TextRule::Cluster.likeness(name)))
}

/// Says why a text is not what it should be, as the end of a sentence that begins with the text.
type Verdict = Result<(), String>;

impl TextRule {
    /// Checks a text.
    pub(crate) fn check(self, text: &str) -> Verdict {
        if let Some(character) = text.chars().find(|character| is_control(*character)) {
            return Err(format!("holds the control character `{}`", character.escape_unicode()));
        }
        match self {
            TextRule::OneOf(words) if words.contains(&text) => Ok(()),
            TextRule::OneOf(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
                Err(format!("is not {}", words.join(" or ")))
            }
            TextRule::Label => label(text, 63),
            TextRule::Cluster => cluster(text),
            TextRule::Object => subdomain(text),
            TextRule::Image => image(text),
            TextRule::Minor => demand(
                text.strip_prefix("1.").is_some_and(|minor| {
                    (1..4).contains(&minor.len()) && minor.bytes().all(|byte| byte.is_ascii_digit())
                }),
                "is no minor version of Kubernetes, such as \"1.36\"",
            ),
            TextRule::Kind => demand(
                text.starts_with(|c: char| c.is_ascii_alphabetic())
                    && text.chars().all(|c| c.is_ascii_alphanumeric()),
                "is no kind: a kind holds letters and digits only, without wildcards",
            ),
            TextRule::Group if text.is_empty() => Ok(()),
            TextRule::Group => subdomain(text).map_err(|reason| format!("is no API group: it {reason}")),
            TextRule::Wildcard => demand(
                !text.is_empty() && !text.contains(|c: char| c == '/' || c.is_whitespace()),
                "is no name: it is empty, or holds a space or a slash",
            ),
            TextRule::KeyValue => key_value(text),
            TextRule::Glob => folder(text),
            TextRule::Folder => folder(text),
            TextRule::Code => demand(
                text.len() == 5
                    && text.starts_with("GW")
                    && text[2..].bytes().all(|digit| digit.is_ascii_digit()),
                "is no code of a finding, which is written like GW014",
            ),
            TextRule::Moment => {
                demand(is_moment(text), "is no date like `2026-12-18`, nor a time like `2026-12-18T17:00`")
            }
            TextRule::Time | TextRule::Clock | TextRule::Sentence => {
                demand(!text.trim().is_empty(), "is empty")
            }
            TextRule::Template(rule) => rule.check(text),
        }
    }

    /// Makes a valid label that resembles a text, or where that has no letter nor digit, one for what it names.
    pub(super) fn likeness(self, text: &str) -> String {
        let mut label = String::new();
        for character in text.chars().take(40) {
            match character.to_ascii_lowercase() {
                c if c.is_ascii_alphanumeric() => label.push(c),
                _ if !label.is_empty() && !label.ends_with('-') => label.push('-'),
                _ => {}
            }
        }
        let usual = match self {
            TextRule::Cluster => "edge-01",
            TextRule::Object => "flux-system",
            _ => "work-week",
        };
        Some(label.trim_end_matches('-')).filter(|label| !label.is_empty()).unwrap_or(usual).to_owned()
    }

    /// Returns a regular expression (ECMA 262) for what [`check`](Self::check) accepts, which for
    /// [`TextRule::OneOf`] is left to an `enum`.
    pub(crate) fn pattern(self) -> Option<String> {
        const CLEAN: &str = r"(?!.*[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff])";
        const SUBDOMAIN: &str =
            r"(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*";
        const FOLDER: &str = r"(?!/)(?!(?:.*/)?\.\.(?:/|$))[^\\]+$";
        Some(match self {
            TextRule::OneOf(_) => return None,
            TextRule::Label => "^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$".to_owned(),
            TextRule::Cluster => r"^(?!.*\.\.)[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$".to_owned(),
            TextRule::Object => format!("^{SUBDOMAIN}$"),
            TextRule::Image => "^(?=.{1,512}$)[A-Za-z0-9][A-Za-z0-9._/:@-]*$".to_owned(),
            TextRule::Minor => r"^1\.[0-9]{1,3}$".to_owned(),
            TextRule::Kind => "^[A-Za-z][A-Za-z0-9]*$".to_owned(),
            TextRule::Group => format!("^(?:{SUBDOMAIN})?$"),
            TextRule::Wildcard => format!(r"^{CLEAN}[^\s\u0085/]+$"),
            TextRule::KeyValue => format!(
                r"^{CLEAN}(?:{SUBDOMAIN_PREFIX}/)?[A-Za-z0-9](?:[A-Za-z0-9._-]{{0,61}}[A-Za-z0-9])?(?:=.*)?$",
                SUBDOMAIN_PREFIX =
                    r"(?=[^/=]{1,253}/)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*"
            ),
            TextRule::Glob | TextRule::Folder => format!("^{CLEAN}{FOLDER}"),
            TextRule::Moment => {
                "^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}(?:Z|[+-][0-9]{2}:[0-9]{2})?)?$".to_owned()
            }
            TextRule::Code => "^GW[0-9]{3}$".to_owned(),
            TextRule::Time | TextRule::Clock | TextRule::Sentence => format!(r"^{CLEAN}.*[^\s\u0085].*$"),
            TextRule::Template(rule) => rule.pattern(),
        })
    }
}

/// Returns whether a character has no place in a line of text: control characters, line separators
/// and marks that turn the direction of writing.
fn is_control(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Returns whether a text has the form of a date, or of a date and a time to the minute.
fn is_moment(text: &str) -> bool {
    let has_form = |text: &str, form: &str| {
        let fits =
            |(byte, wanted): (u8, u8)| if wanted == b'0' { byte.is_ascii_digit() } else { byte == wanted };
        text.len() == form.len() && text.bytes().zip(form.bytes()).all(fits)
    };
    let offset = |rest: &str| ["", "Z", "+00:00", "-00:00"].iter().any(|form| has_form(rest, form));
    has_form(text, "0000-00-00")
        || text
            .split_at_checked(16)
            .is_some_and(|(time, rest)| has_form(time, "0000-00-00T00:00") && offset(rest))
}

fn demand(holds: bool, otherwise: &str) -> Verdict {
    if holds { Ok(()) } else { Err(otherwise.to_owned()) }
}

/// RFC 1123 label: <https://kubernetes.io/docs/concepts/overview/working-with-objects/names/>.
fn label(text: &str, longest: usize) -> Verdict {
    demand(!text.is_empty(), "is empty")?;
    demand(text.len() <= longest, &format!("is longer than {longest} characters"))?;
    demand(
        text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
            && !text.starts_with('-')
            && !text.ends_with('-'),
        "may hold only lowercase letters, digits and, between them, hyphens",
    )
}

fn subdomain(text: &str) -> Verdict {
    demand(!text.is_empty(), "is empty")?;
    demand(text.len() <= 253, "is longer than 253 characters")?;
    demand(
        text.split('.').all(|part| label(part, 253).is_ok()),
        "may hold only lowercase letters, digits and, between them, hyphens and dots",
    )
}

fn cluster(text: &str) -> Verdict {
    demand(!text.is_empty(), "is empty")?;
    demand(text.len() <= 63, "is longer than 63 characters")?;
    let ends = |c: char| c.is_ascii_alphanumeric();
    demand(
        text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
            && text.starts_with(ends)
            && text.ends_with(ends),
        "names a folder: letters, digits and, between them, `.`, `_` and `-`",
    )?;
    demand(!text.contains(".."), "holds `..`")
}

fn image(text: &str) -> Verdict {
    demand(
        text.len() <= 512
            && text.starts_with(|c: char| c.is_ascii_alphanumeric())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || "._/:@-".contains(c)),
        "is no image reference such as `ghcr.io/fluxcd/flux-cli:v2.9.4`",
    )
}

fn key_value(text: &str) -> Verdict {
    let key = text.split_once('=').map_or(text, |(key, _)| key);
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    let ends = |c: char| c.is_ascii_alphanumeric();
    demand(
        prefix.is_none_or(|prefix| subdomain(prefix).is_ok())
            && (1..=63).contains(&name.len())
            && name.starts_with(ends)
            && name.ends_with(ends)
            && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')),
        "is neither `key` nor `key=value` with a key that Kubernetes accepts",
    )
}

fn folder(text: &str) -> Verdict {
    demand(!text.is_empty(), "is empty")?;
    demand(!text.starts_with('/'), "is an absolute path")?;
    demand(!text.contains('\\'), "holds a backslash")?;
    demand(!text.split('/').any(|segment| segment == ".."), "leaves its folder with `..`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(rule: TextRule, good: &[&str], bad: &[&str]) {
        for text in good {
            assert_eq!(rule.check(text), Ok(()), "{rule:?} {text:?}");
        }
        for text in bad {
            assert!(rule.check(text).is_err(), "{rule:?} {text:?}");
        }
    }

    #[test]
    fn names_become_folders_and_objects() {
        judged(TextRule::Label, &["rt", "work-week", "1"], &["", "Rt", "-a", "a-", "a_b", "a.b", "ä"]);
        judged(TextRule::Label, &[&"a".repeat(63)], &[&"a".repeat(64)]);
        judged(TextRule::Cluster, &["edge-01", "Edge_1.eu"], &["", ".", "..", "a..b", "a/b", "a b", "-a"]);
        judged(TextRule::Object, &["flux-system", "a.b"], &["", "a..b", "A", "a_b", ".a"]);
    }

    #[test]
    fn what_is_no_name_gets_one_like_it() {
        assert_eq!(cluster_name("Edge 1_").unwrap().1, "edge-1");
        assert_eq!(cluster_name("___").unwrap().1, "edge-01");
        assert_eq!(TextRule::Label.likeness("_"), "work-week");
        for rule in [TextRule::Cluster, TextRule::Object, TextRule::Label] {
            assert_eq!(rule.check(&rule.likeness("")), Ok(()));
        }
    }

    #[test]
    fn matchers() {
        judged(TextRule::Kind, &["ConfigMap", "GitRepository"], &["", "Config*", "a/b", "1a"]);
        judged(TextRule::Group, &["", "apps", "kustomize.toolkit.fluxcd.io"], &["apps/v1", "*", "A"]);
        judged(TextRule::Wildcard, &["*", "nginx-*", "system:x"], &["", "a b", "a/b", "a\n"]);
        judged(
            TextRule::KeyValue,
            &["app", "app=nginx", "app.kubernetes.io/name=a b", "x=", "x=y=z"],
            &["", "=x", "a b=c", "/a", "a/b/c", "A.b/c", "a=\u{202e}"],
        );
        judged(TextRule::Glob, &["apps/**/config*.yaml", "*"], &["", "/a", "../a", "a/../b", "a\\b"]);
    }

    #[test]
    fn images_and_folders() {
        judged(
            TextRule::Minor,
            &["1.36", "1.9", "1.100"],
            &["", "1", "1.", "v1.36", "1.36.3", "2.0", "1.1000"],
        );
        judged(
            TextRule::Image,
            &["ghcr.io/fluxcd/flux-cli:v2.9.4", "registry:5000/a/b@sha256:00ff"],
            &["", "a b", "a\n", "{{x}}", "-a", "$(x)"],
        );
        judged(
            TextRule::Folder,
            &["clusters/edge-01", "./clusters/a/", ".", "a..b"],
            &["", "/a", "..", "a/.."],
        );
    }
}
