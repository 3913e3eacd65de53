//! Enums of which each variant has a word.

/// Defines an enum whose variants have words, with all of them in a list and the way to the word: what a variant is
/// called in output stands beside it, and nowhere else.
macro_rules! words {
    ($(#[$about:meta])* $vis:vis enum $name:ident { $($(#[$of:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$about])*
        $vis enum $name { $($(#[$of])* $variant,)* }

        impl $name {
            /// All of them, in their order.
            $vis const ALL: [$name; [$($word),*].len()] = [$($name::$variant),*];

            /// The words, in the same order.
            $vis const WORDS: [&str; [$($word),*].len()] = [$($word),*];

            /// Returns the word by which output and the spec call it.
            $vis const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }
        }
    };
}

/// As [`words`], of an enum whose variants hold something.
macro_rules! words_of {
    ($(#[$about:meta])* $vis:vis enum $name:ident {
        $($(#[$of:meta])* $variant:ident $(($($held:ty),*))? = $word:literal,)*
    }) => {
        $(#[$about])*
        $vis enum $name { $($(#[$of])* $variant $(($($held),*))?,)* }

        impl $name {
            /// The words of all of them, in their order.
            $vis const WORDS: [&str; [$($word),*].len()] = [$($word),*];

            /// Returns the word by which output calls it.
            $vis const fn as_str(&self) -> &'static str {
                match self { $($name::$variant { .. } => $word,)* }
            }
        }
    };
}

pub(crate) use {words, words_of};
