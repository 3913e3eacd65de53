//! The placeholders of `layout`.

/// What a template of `layout` may and must hold.
#[derive(Debug)]
pub(crate) struct TemplateRule {
    /// The placeholders that have a meaning in it.
    pub(crate) placeholders: &'static [&'static str],
    /// Whether `{1}` to `{9}` stand for the segments of the path, and `{2..}` for all from there on.
    pub(crate) segments: bool,
    /// Sets of placeholders; all of one set must be there, lest two things get one name. `1` stands
    /// for any segment.
    pub(crate) needs: &'static [&'static [&'static str]],
    /// What stands between the placeholders.
    pub(crate) kind: TemplateKind,
}

/// A regular expression for what [`segment`] reads.
const SEGMENT: &str = r"[1-9](?:\.\.)?";

/// What a template makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TemplateKind {
    /// A folder, relative to the spec's.
    Folder,
    /// A file name ending in `.yaml` or `.yml`.
    File,
    /// The name of a Kubernetes object.
    Object,
}

impl TemplateKind {
    /// Returns a regular expression's class of the characters that may stand beside placeholders.
    pub(crate) fn class(self) -> &'static str {
        match self {
            TemplateKind::Folder => "[A-Za-z0-9._/-]",
            TemplateKind::File => "[A-Za-z0-9._-]",
            TemplateKind::Object => "[a-z0-9-]",
        }
    }

    fn allows(self, character: char) -> bool {
        match self {
            TemplateKind::Folder => {
                character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '-' | '/')
            }
            TemplateKind::File => character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '-'),
            TemplateKind::Object => {
                character.is_ascii_lowercase() || character.is_ascii_digit() || character == '-'
            }
        }
    }
}

/// Fills the placeholders of a template of `layout`.
///
/// A placeholder without a value stays as it is written, which a spec that was read never has.
///
/// ```
/// use gitops_windows::spec::expand;
/// let values = [("path", "clusters/edge-01/apps"), ("name", "apps"), ("type", "rt")];
/// assert_eq!(expand("{path}/{name}-{type}", &values), "clusters/edge-01/apps/apps-rt");
/// ```
pub fn expand(template: &str, values: &[(&str, &str)]) -> String {
    let mut result = String::with_capacity(template.len());
    for part in parts(template) {
        match part {
            Part::Text(text) => result.push_str(text),
            Part::Placeholder(name) => match values.iter().find(|(key, _)| *key == name) {
                Some((_, value)) => result.push_str(value),
                None => {
                    result.push('{');
                    result.push_str(name);
                    result.push('}');
                }
            },
        }
    }
    result
}

/// Fills the placeholders of a template about a folder: besides those of [`expand`], `{path}`, its
/// last segment as `{name}`, its segments as `{1}` to `{9}`, and as `{2..}` all from the second on.
///
/// `None` where the folder has too few segments. `{4..}` of three is empty, and takes the slash
/// before it along.
///
/// ```
/// use gitops_windows::spec::expand_folder;
/// let values = [("type", "live")];
/// let side = |folder| expand_folder("{1}/{2}/{3}-{type}/{4..}", folder, &values);
/// assert_eq!(side("clusters/edge/sets/asset-01").unwrap(), "clusters/edge/sets-live/asset-01");
/// assert_eq!(side("clusters/edge/infra").unwrap(), "clusters/edge/infra-live");
/// assert_eq!(side("clusters/edge"), None);
/// ```
pub fn expand_folder(template: &str, folder: &str, values: &[(&str, &str)]) -> Option<String> {
    let segments: Vec<&str> = folder.split('/').collect();
    let mut result = String::with_capacity(template.len() + folder.len());
    let mut cut = false;
    for part in parts(template) {
        match part {
            Part::Text(text) => {
                // What was left out took its slash along, so the next must begin a segment.
                if cut && !text.is_empty() && !text.starts_with('/') {
                    return None;
                }
                result.push_str(text);
            }
            Part::Placeholder("path") => result.push_str(folder),
            Part::Placeholder("name") => result.push_str(segments.last()?),
            Part::Placeholder(name) => match segment(name) {
                Some((number, false)) => result.push_str(segments.get(number - 1)?),
                Some((number, true)) => {
                    let rest = segments.get(number - 1..)?;
                    cut = rest.is_empty();
                    if cut && result.pop() != Some('/') {
                        return None;
                    }
                    result.push_str(&rest.join("/"));
                    continue;
                }
                None => result.push_str(values.iter().find(|(key, _)| *key == name)?.1),
            },
        }
        cut = false;
    }
    Some(result)
}

/// Reads `3` as the third segment, and `3..` as all from there on.
pub(super) fn segment(name: &str) -> Option<(usize, bool)> {
    let (digit, rest) = match name.strip_suffix("..") {
        Some(digit) => (digit, true),
        None => (name, false),
    };
    match digit.as_bytes() {
        [digit @ b'1'..=b'9'] => Some((usize::from(digit - b'0'), rest)),
        _ => None,
    }
}

/// A piece of a template.
pub(super) enum Part<'a> {
    /// What stands as it is.
    Text(&'a str),
    /// A name in braces.
    Placeholder(&'a str),
}

/// Cuts a template at its placeholders.
pub(super) fn parts(template: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = template;
    while let Some((text, after)) = rest.split_once('{') {
        let Some((name, tail)) = after.split_once('}') else { break };
        parts.push(Part::Text(text));
        parts.push(Part::Placeholder(name));
        rest = tail;
    }
    parts.push(Part::Text(rest));
    parts
}

impl TemplateRule {
    /// Tells what is wrong with a template.
    pub(crate) fn check(&self, template: &str) -> Result<(), String> {
        let mut found = Vec::new();
        for part in parts(template) {
            match part {
                Part::Placeholder(name) if self.placeholders.contains(&name) => found.push(name),
                Part::Placeholder(name) if self.segments && segment(name).is_some() => found.push("1"),
                Part::Placeholder(name) => {
                    return Err(format!("holds the unknown placeholder `{{{name}}}`; {}", self.known()));
                }
                Part::Text(text) => {
                    if let Some(character) = text.chars().find(|character| !self.kind.allows(*character)) {
                        return Err(format!(
                            "holds the character `{}`, which {}",
                            character.escape_debug(),
                            self.kind.allowed()
                        ));
                    }
                }
            }
        }
        self.check_shape(template)?;
        if !self.needs.is_empty() && !self.needs.iter().any(|set| set.iter().all(|name| found.contains(name)))
        {
            let sets: Vec<String> = self
                .needs
                .iter()
                .map(|set| set.iter().map(|name| format!("`{{{name}}}`")).collect::<Vec<_>>().join(" and "))
                .collect();
            return Err(format!("lacks {}, so two things would get the same name", sets.join(", or ")));
        }
        Ok(())
    }

    fn check_shape(&self, template: &str) -> Result<(), String> {
        match self.kind {
            TemplateKind::Folder if template.starts_with('/') => Err("is an absolute path".to_owned()),
            TemplateKind::Folder if template.split('/').any(|segment| matches!(segment, "" | "." | "..")) => {
                Err("holds an empty segment, `.` or `..`".to_owned())
            }
            TemplateKind::File if !template.ends_with(".yaml") && !template.ends_with(".yml") => {
                Err("does not end in `.yaml` or `.yml`, so kustomize would not know it".to_owned())
            }
            TemplateKind::File if template.starts_with('.') => Err("begins with a dot".to_owned()),
            TemplateKind::File if ["kustomization.yaml", "kustomization.yml"].contains(&template) => {
                Err("is the name of the kustomization itself".to_owned())
            }
            TemplateKind::Object if template.is_empty() => Err("is empty".to_owned()),
            TemplateKind::Object if template.starts_with('-') || template.ends_with('-') => {
                Err("begins or ends with a hyphen".to_owned())
            }
            TemplateKind::Object if template.len() > 52 => {
                Err("is longer than the 52 characters that a CronJob's name may have".to_owned())
            }
            _ => Ok(()),
        }
    }

    fn known(&self) -> String {
        if self.placeholders.is_empty() {
            return "this one takes none".to_owned();
        }
        let names: Vec<String> = self.placeholders.iter().map(|name| format!("`{{{name}}}`")).collect();
        let segments =
            if self.segments { ", and for the path's segments `{1}` to `{9}` and `{2..}`" } else { "" };
        format!("this one takes {}{segments}", names.join(", "))
    }

    /// Returns a regular expression (ECMA 262) that matches what [`check`](Self::check) accepts.
    pub(crate) fn pattern(&self) -> String {
        let class = self.kind.class();
        let mut pattern = String::from("^");
        pattern += match self.kind {
            TemplateKind::Folder => r"(?!/)(?!.*//)(?!.*/$)(?!(.*/)?\.\.?(/|$))",
            TemplateKind::File => r"(?!\.)(?!kustomization\.ya?ml$)(?=.*\.ya?ml$)",
            TemplateKind::Object => r"(?!-)(?!.*-$)(?=.{1,52}$)",
        };
        if !self.needs.is_empty() {
            let sets: Vec<String> = self
                .needs
                .iter()
                .map(|set| {
                    let need = |name: &&str| match *name {
                        "1" => format!(r"(?=.*\{{{SEGMENT}\}})"),
                        name => format!(r"(?=.*\{{{name}\}})"),
                    };
                    set.iter().map(need).collect::<String>()
                })
                .collect();
            pattern += &format!("(?:{})", sets.join("|"));
        }
        if self.placeholders.is_empty() {
            pattern += &format!("{class}+$");
        } else {
            let mut names = self.placeholders.join("|");
            if self.segments {
                names += "|";
                names += SEGMENT;
            }
            pattern += &format!(r"(?:{class}|\{{(?:{names})\}})+$");
        }
        pattern
    }
}

impl TemplateKind {
    fn allowed(self) -> &'static str {
        match self {
            TemplateKind::Folder => "is none of the letters, digits, `.`, `_`, `-` and `/` of a folder",
            TemplateKind::File => "is none of the letters, digits, `.`, `_` and `-` of a file name",
            TemplateKind::Object => "is none of the lowercase letters, digits and `-` of an object's name",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOLDER: TemplateRule = TemplateRule {
        placeholders: &["path", "name", "type"],
        segments: true,
        needs: &[&["path", "type"], &["name", "type"], &["1", "type"]],
        kind: TemplateKind::Folder,
    };

    #[test]
    fn segments_of_a_folder() {
        let fill = |template: &str, folder: &str| expand_folder(template, folder, &[("type", "rt")]);
        for (template, folder, expected) in [
            ("{path}/{name}-{type}", "a/b", Some("a/b/b-rt")),
            ("{1}-{type}", "a", Some("a-rt")),
            ("{1}-{type}/{2..}", "a", Some("a-rt")),
            ("{1}-{type}/{2..}", "a/b/c", Some("a-rt/b/c")),
            ("{1}-{type}/{2..}/x", "a", Some("a-rt/x")),
            ("{1..}/{type}", "a/b", Some("a/b/rt")),
            ("{1}/{type}-{2..}", "a/b", Some("a/rt-b")),
            ("{1}/{type}-{2..}", "a", None),
            ("{type}/{1}/{2..}-x", "a", None),
            ("{2}/{type}", "a", None),
            ("{1}/{3..}/{type}", "a", None),
            ("{cluster}/{type}", "a", None),
        ] {
            assert_eq!(fill(template, folder).as_deref(), expected, "{template} of {folder}");
        }
    }

    #[test]
    fn values_are_not_expanded_again() {
        assert_eq!(expand("{a}{b}", &[("a", "{b}"), ("b", "x")]), "{b}x");
        assert_eq!(expand("{a", &[("a", "x")]), "{a");
        assert_eq!(expand("{z}", &[]), "{z}");
    }

    #[test]
    fn folders_stay_inside_and_types_apart() {
        for good in ["{path}/{name}-{type}", "sets-{type}/{name}", "{path}/{type}", "{1}/{2..}-{type}"] {
            assert_eq!(FOLDER.check(good), Ok(()), "{good}");
        }
        for bad in [
            "",
            "/{path}/{type}",
            "{path}/../{type}",
            "{path}//{type}",
            "{path}/{type}/",
            "{path}/x",
            "{type}",
            "{path}/{typ}",
            "{0}/{type}",
            "{10}/{type}",
            "{1...}/{type}",
            "{..2}/{type}",
            "{path}/{type",
            "{path}/{type}}",
            "{path} {type}",
            "./{path}/{type}",
        ] {
            assert!(FOLDER.check(bad).is_err(), "{bad}");
        }
    }
}
