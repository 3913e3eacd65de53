//! Mutations, by numbers from a seed.

/// Pieces that are odd in any language.
const ODD: [&str; 40] = [
    "",
    " ",
    "\n",
    "\r\n",
    "\r",
    "\t",
    "\0",
    "\u{feff}",
    "\u{2028}",
    "\u{85}",
    "\u{202e}",
    "\u{1b}[31m",
    "é",
    "日本",
    "\u{1f600}",
    "\u{301}",
    "\"",
    "'",
    "`",
    "\\",
    "#",
    "%",
    "&",
    "*",
    "!",
    "|",
    ">",
    "-",
    ":",
    ",",
    "[",
    "]",
    "{",
    "}",
    "0",
    "-1",
    "18446744073709551616",
    "1e999",
    "...",
    "---",
];

/// The largest input, in bytes.
const LARGEST: usize = 16 << 10;

/// Numbers from a seed (splitmix64).
pub struct Dice(u64);

impl Dice {
    /// Numbers of a target and a seed.
    pub fn of(target: &str, seed: u64) -> Dice {
        let name = target.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Dice(name ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// A number below a bound, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }

    /// A number below the power of 2, mostly a small one.
    fn mostly_few(&mut self, power: usize) -> usize {
        let bound = 1 << self.below(power);
        self.below(bound)
    }

    /// One of some.
    pub fn of_all<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }

    /// A sample with some mutations, or a heap of words.
    pub fn input(&mut self, samples: &[String], words: &[&str]) -> String {
        if self.below(8) == 0 {
            let count = self.below(30);
            return (0..count).map(|_| self.piece(words)).collect();
        }
        let mut text = self.of_all(samples).clone();
        cut(&mut text, LARGEST);
        let times = 1 + self.mostly_few(5);
        for _ in 0..times {
            self.mutate(&mut text, samples, words);
            cut(&mut text, 2 * LARGEST);
        }
        text
    }

    /// A word, or something odd.
    pub fn piece(&mut self, words: &[&str]) -> String {
        match self.below(4) {
            0 => (*self.of_all(&ODD)).to_owned(),
            1 => char::from_u32(self.below(0x3000) as u32).unwrap_or('x').to_string(),
            _ => (*self.of_all(words)).to_owned(),
        }
    }

    fn mutate(&mut self, text: &mut String, samples: &[String], words: &[&str]) {
        let (from, to) = self.range(text);
        match self.below(9) {
            0 => text.insert_str(from, &self.piece(words)),
            1 => text.replace_range(from..to, ""),
            2 => text.replace_range(from..to, &self.piece(words)),
            // A range again: often, so that things become deep or long.
            3 => {
                let times = 1 + self.mostly_few(7);
                let range = text[from..to].repeat(times);
                text.insert_str(from, &range);
            }
            4 => {
                let (line, other) = (self.line(text), self.line(text));
                let moved = text[line].to_owned();
                text.insert_str(other.start, &moved);
            }
            5 => {
                let line = self.line(text);
                text.replace_range(line, "");
            }
            6 => {
                let other = self.of_all(samples);
                let line = self.line(other);
                text.insert_str(from, &other[line]);
            }
            7 => {
                let line = self.line(text);
                let spaces = " ".repeat(self.below(5));
                text.insert_str(line.start, &spaces);
            }
            _ => text.truncate(from),
        }
    }

    /// A range of whole characters, mostly a short one.
    fn range(&mut self, text: &str) -> (usize, usize) {
        let from = floor(text, self.below(text.len() + 1));
        let length = self.mostly_few(8);
        (from, floor(text, (from + length).min(text.len())).max(from))
    }

    /// A line with its end.
    fn line(&mut self, text: &str) -> std::ops::Range<usize> {
        let at = floor(text, self.below(text.len() + 1));
        let start = text[..at].rfind('\n').map_or(0, |at| at + 1);
        let end = text[at..].find('\n').map_or(text.len(), |length| at + length + 1);
        start..end
    }
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn cut(text: &mut String, length: usize) {
    if text.len() > length {
        text.truncate(floor(text, length));
    }
}
