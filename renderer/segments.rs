//! Joins the data segments of a WebAssembly module.
//!
//! Go's linker writes a segment for whatever stands between two gaps of a few zeros, a hundred thousand in all, and the
//! code that puts each into memory is a quarter of all that is made of the program. Memory is zero at first, so that a gap
//! may as well be written.

/// Zeros that take less room than the code for another segment.
const GAP: usize = 4096;

/// The id of the section of data.
const DATA: u8 = 11;

/// The id of the section that counts the segments of data.
const DATA_COUNT: u8 = 12;

/// Where in memory a segment goes, and its bytes.
struct Segment {
    to: usize,
    bytes: Vec<u8>,
}

impl Segment {
    fn end(&self) -> usize {
        self.to + self.bytes.len()
    }
}

/// Returns a module that puts the same into its memory from few segments; `None` where its segments are not as Go's linker
/// writes them.
pub fn joined(module: &[u8]) -> Option<Vec<u8>> {
    let (header, mut at) = (module.get(..8)?, 8);
    let mut result = header.to_vec();
    let mut has_data = false;
    while at < module.len() {
        let begin = at;
        let id = *module.get(at)?;
        at += 1;
        let length = number(module, &mut at)?;
        let section = module.get(at..at.checked_add(length)?)?;
        at += length;
        match id {
            // Go's linker writes none.
            DATA_COUNT => return None,
            DATA if has_data => return None,
            DATA => {
                has_data = true;
                let section = written(&merged(segments(section)?));
                result.push(DATA);
                put(&mut result, section.len());
                result.extend(section);
            }
            _ => result.extend(&module[begin..at]),
        }
    }
    has_data.then_some(result)
}

/// Reads the segments, sorted by where they go; `None` where two overlap, so that their order counts, or one is none that
/// goes to a fixed place of the first memory.
fn segments(section: &[u8]) -> Option<Vec<Segment>> {
    let mut at = 0;
    let mut found = Vec::new();
    for _ in 0..number(section, &mut at)? {
        // Active in memory 0, then `i32.const`, a number, and `end`.
        if section.get(at..at + 2)? != [0, 0x41] {
            return None;
        }
        at += 2;
        let to = place(section, &mut at)?;
        if *section.get(at)? != 0x0b {
            return None;
        }
        at += 1;
        let length = number(section, &mut at)?;
        let bytes = section.get(at..at.checked_add(length)?)?.to_vec();
        found.push(Segment { to, bytes });
        at += length;
    }
    found.sort_by_key(|segment| segment.to);
    let apart = found.windows(2).all(|pair| pair[0].end() <= pair[1].to);
    (apart && at == section.len()).then_some(found)
}

/// Joins what small gaps divide.
fn merged(segments: Vec<Segment>) -> Vec<Segment> {
    let mut result: Vec<Segment> = Vec::new();
    for segment in segments {
        match result.last_mut() {
            Some(last) if segment.to - last.end() < GAP => {
                last.bytes.resize(segment.to - last.to, 0);
                last.bytes.extend(segment.bytes);
            }
            _ => result.push(segment),
        }
    }
    result
}

fn written(segments: &[Segment]) -> Vec<u8> {
    let mut result = Vec::new();
    put(&mut result, segments.len());
    for segment in segments {
        result.extend([0, 0x41]);
        put_place(&mut result, segment.to);
        result.push(0x0b);
        put(&mut result, segment.bytes.len());
        result.extend(&segment.bytes);
    }
    result
}

/// Reads a number of up to 32 bits (LEB128).
fn number(bytes: &[u8], at: &mut usize) -> Option<usize> {
    let mut result = 0;
    for shift in (0..35).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        result |= usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(result);
        }
    }
    None
}

/// Reads a place in memory, which is a number with a sign; `None` for one above the first two GiB, which has the sign.
fn place(bytes: &[u8], at: &mut usize) -> Option<usize> {
    let begin = *at;
    let result = number(bytes, at)?;
    let last = *bytes.get(*at - 1)?;
    // With five bytes the sign stands above what counts.
    let is_negative = last & 0x40 != 0 || *at - begin == 5 && last & 0x08 != 0;
    (!is_negative).then_some(result)
}

fn put(into: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        into.push(number as u8 | 0x80);
        number >>= 7;
    }
    into.push(number as u8);
}

fn put_place(into: &mut Vec<u8>, mut number: usize) {
    // The last byte has room for the sign.
    while number >= 0x40 {
        into.push(number as u8 & 0x7f | 0x80);
        number >>= 7;
    }
    into.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &[u8] = b"\0asm\x01\0\0\0";

    /// Returns a module of a section that nobody looks into, and one of data.
    fn module(segments: &[(usize, &[u8])]) -> Vec<u8> {
        let segments: Vec<Segment> =
            segments.iter().map(|(to, bytes)| Segment { to: *to, bytes: bytes.to_vec() }).collect();
        let data = written(&segments);
        let mut module = [HEADER, &[5, 3, 1, 0, 200]].concat();
        module.push(DATA);
        put(&mut module, data.len());
        [module, data, vec![0, 2, 1, b'x']].concat()
    }

    #[test]
    fn segments_with_small_gaps_are_one() {
        let far = 1 << 27;
        let before = module(&[(far, b"far"), (70_000, b"bcd"), (69_990, b"a"), (far + 3 + GAP, b"next")]);
        let joined_up =
            module(&[(69_990, b"a\0\0\0\0\0\0\0\0\0bcd"), (far, b"far"), (far + 3 + GAP, b"next")]);
        assert_eq!(joined(&before), Some(joined_up.clone()));
        assert_eq!(joined(&joined_up), Some(joined_up));
    }

    #[test]
    fn places_are_numbers_with_a_sign() {
        for to in [0, 63, 64, 127, 128, 8191, 8192, (1 << 27) - 1, 1 << 27, (1 << 31) - 1] {
            let (mut bytes, mut at) = (Vec::new(), 0);
            put_place(&mut bytes, to);
            assert_eq!((place(&bytes, &mut at), at), (Some(to), bytes.len()), "{to}");
        }
        for negative in [&[0x7f][..], &[0x80, 0x7f], &[0x80, 0x80, 0x80, 0x80, 0x78]] {
            assert_eq!(place(negative, &mut 0), None, "{negative:?}");
        }
    }

    #[test]
    fn what_is_not_as_expected_stays() {
        let overlapping = module(&[(10, b"abc"), (12, b"d")]);
        let mut passive = module(&[(10, b"abc")]);
        let kind = passive.windows(2).position(|pair| pair == [0, 0x41]).unwrap();
        passive[kind] = 1;
        let whole = module(&[(10, b"abc")]);
        let counted = [HEADER, &[DATA_COUNT, 1, 1], &whole[8..]].concat();
        let twice = [&whole[..], &whole[8..]].concat();
        let short = whole[..whole.len() - 6].to_vec();
        for other in [overlapping, passive, counted, twice, short, HEADER.to_vec(), Vec::new()] {
            assert_eq!(joined(&other), None, "{other:?}");
        }
    }
}
