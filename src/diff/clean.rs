//! Making what a file holds safe to show.

use std::fmt::Write;

use crate::diagnostic::is_hidden;

/// Makes control characters visible, so that no file's bytes steer a terminal or hide text.
///
/// C0 controls become their pictures (`␛`, `␍`), a tab stays. C1 controls, characters that reorder
/// text, that have no width or that break lines become `<U+202E>`; bytes that are not UTF-8 become
/// `<FF>`. Line feeds become `␊`: give lines without their end.
///
/// ```
/// use gitops_windows::diff::clean;
/// assert_eq!(clean(b"\ta: \x1b[2J\xff\r"), "\ta: ␛[2J<FF>␍");
/// ```
pub fn clean(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\t' => out.push('\t'),
                '\0'..='\x1f' => out.extend(char::from_u32(0x2400 + character as u32)),
                '\x7f' => out.push('␡'),
                _ if is_hidden(character) => {
                    let _ = write!(out, "<U+{:04X}>", character as u32);
                }
                _ => out.push(character),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "<{byte:02X}>");
        }
    }
    out
}
