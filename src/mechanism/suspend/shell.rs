//! Scripts, cut the way a shell would cut them, without running anything.

/// Returns whether a program is a shell.
pub(super) fn is_shell(word: &str) -> bool {
    matches!(word.rsplit('/').next(), Some("sh" | "bash" | "ash" | "dash" | "busybox"))
}

/// Returns whether a word makes a shell take the next one for a script.
pub(super) fn is_shell_flag(word: &str) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.contains('c')
}

/// Cuts a script into simple commands of words, at `;`, `&`, `|`, newlines and keywords.
pub(super) fn shell_commands(script: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut characters = script.chars().peekable();
    let end_word = |word: &mut Option<String>, commands: &mut Vec<Vec<String>>| {
        if let (Some(text), Some(last)) = (word.take(), commands.last_mut()) {
            last.push(text);
        }
    };
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (Some('\''), _) => word.get_or_insert_default().push(character),
            (_, '\\') => match characters.next() {
                Some('\n') | None => {}
                Some(next) => word.get_or_insert_default().push(next),
            },
            (Some(_), _) => word.get_or_insert_default().push(character),
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => while characters.next_if(|next| *next != '\n').is_some() {},
            (None, ';' | '&' | '|' | '\n' | '(' | ')') => {
                end_word(&mut word, &mut commands);
                commands.push(Vec::new());
            }
            (None, _) if character.is_whitespace() => end_word(&mut word, &mut commands),
            (None, _) => word.get_or_insert_default().push(character),
        }
    }
    end_word(&mut word, &mut commands);
    for command in &mut commands {
        let keywords = ["if", "then", "else", "do", "while", "!", "{", "exec", "time"];
        let skipped = command.iter().take_while(|word| keywords.contains(&word.as_str())).count();
        command.drain(..skipped);
    }
    commands
}
