//! Reports that another run has written, which a fork can make say anything.

use std::fmt::Write;

use crate::diff::clean;

/// The HTML that a report of ours holds.
const TAGS: &[&str] = &["<details>", "</details>", "<summary>", "</summary>", "<sub>", "</sub>"];

/// Makes Markdown of unknown origin harmless, wherever in it something stands: nobody is mentioned, nothing is
/// linked, no image is loaded, no HTML but that of a report stays, no line is a command of the forge.
///
/// A forge looks for mentions and links in what it has rendered, so this asks no parser what is code and what is not:
/// characters that could begin one become look-alikes everywhere.
///
/// ```
/// use gitops_windows::post::foreign;
///
/// assert_eq!(foreign("@all see [this](https://x.example)"), "＠all see [this] (https:∕∕x.example)\n");
/// assert_eq!(foreign("<details><img src=x>"), "<details>‹img src=x>\n");
/// ```
pub fn foreign(markdown: &str) -> String {
    let mut text = String::with_capacity(markdown.len() + 100);
    for line in markdown.lines() {
        // A line that begins so is a command to GitLab.
        text.push_str(if line.trim_start().starts_with('/') { "· " } else { "" });
        // Writing to a string never fails.
        let _ = writeln!(text, "{}", harmless(&clean(line.as_bytes())));
    }
    text
}

fn harmless(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let tag = TAGS.iter().find(|tag| rest.starts_with(**tag));
        let word = tag.copied().unwrap_or(&rest[..first.len_utf8()]);
        rest = &rest[word.len()..];
        match first {
            '<' if tag.is_none() => text.push('‹'),
            '@' => text.push('＠'),
            // `&#64;` is an `@` once it is rendered.
            '&' => text.push('＆'),
            '#' if rest.starts_with(|next: char| next.is_ascii_digit()) => text.push('＃'),
            '/' if text.ends_with([':', '∕']) => text.push('∕'),
            '.' if ends_with_www(&text) => text.push('․'),
            // Links, images, references to links and their definitions.
            ']' if rest.starts_with(['(', '[', ':']) => text.push_str("] "),
            _ => text.push_str(word),
        }
    }
    text
}

fn ends_with_www(text: &str) -> bool {
    let end = text.len().checked_sub(3).and_then(|at| text.get(at..));
    end.is_some_and(|end| end.eq_ignore_ascii_case("www"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use pulldown_cmark::{Event, Options, Parser, Tag};

    use super::*;

    #[test]
    fn nothing_is_mentioned_linked_or_loaded() {
        let hostile = [
            "@org/team and a&#64;b and &commat;all",
            "![x](https://x.example/p.png) [a]: //x.example [b][a] [c]:x",
            "www.x.example WWW.x.example http://x.example ftp:/x",
            "<img src=x onerror=y><a href=//x.example>z</a><details open><SCRIPT>",
            "#12 owner/name#13 GH-14 <!-- gitops-windows pr default x -->",
            "/merge\n  /approve\n\u{202e}x\u{0}\u{200b}",
            "```\n@in-code https://x.example\n```",
        ];
        let made = foreign(&hostile.join("\n"));
        insta::assert_snapshot!(made);
        let again = foreign(&made);
        assert_eq!(again, made);
    }

    proptest! {
        #[test]
        fn whatever_it_says_it_becomes_text(parts in proptest::collection::vec(part(), 0..12)) {
            let made = foreign(&parts.concat());
            let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_GFM;
            for event in Parser::new_ext(&made, options) {
                match event {
                    Event::Start(Tag::Link { .. } | Tag::Image { .. }) => prop_assert!(false, "{made}"),
                    Event::Html(html) | Event::InlineHtml(html) => {
                        let rest = TAGS.iter().fold(html.to_string(), |text, tag| text.replace(tag, ""));
                        prop_assert!(!rest.contains('<'), "{made}");
                    }
                    Event::Text(text) | Event::Code(text) => {
                        prop_assert!(!text.contains('@') && !text.contains("://"), "{made}");
                    }
                    _ => {}
                }
            }
        }
    }

    fn part() -> impl Strategy<Value = String> {
        const KNOWN: &[&str] = &[
            "@all",
            "&#64;",
            "&commat;",
            "[a](b)",
            "![a](b)",
            "[a]: /b",
            "[a][a]",
            "[a]",
            "<a href=b>",
            "<https://b>",
            "<details>",
            "</details>",
            "<sub onclick=x>",
            "<",
            "/",
            ":",
            "]",
            "(",
            "[",
            "`",
            "```",
            "\\",
            "\n",
            "    ",
            "|",
            "<!--",
            "-->",
            "https",
            "&lt;img&gt;",
            "<a@b.c>",
            "&#60;img src=x&#62;",
        ];
        prop_oneof![proptest::sample::select(KNOWN).prop_map(str::to_owned), any::<String>(), "[ -~]{0,6}"]
    }

    #[test]
    fn a_report_of_ours_keeps_its_form() {
        let report = "**1 object changes.**\n\n| cluster | objects |\n|---|---|\n\n<details><summary>at once</summary>\n\n  ```diff\n  - a: 1\n  + a: 2\n  ```\n\n</details>\n\n<sub>1f0c</sub>\n";
        assert_eq!(foreign(report), report);
    }
}
