//! Files of several documents, cut by type and put together again.

use crate::yaml::read_documents;

const NOTE: &str = "documents of ";

/// Returns every document of a text an owner: an empty one goes with the next that holds something,
/// or with the last, so that no byte of the file is lost.
pub fn owners(text: &str, types: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let count = read_documents(text).map_or(0, |documents| documents.len());
    (0..count)
        .filter_map(|index| {
            let next = types.iter().find(|(document, _)| *document >= index);
            next.or(types.last()).map(|(_, owner)| (index, *owner))
        })
        .collect()
}

/// Writes down in which order the documents of a file stood.
pub fn note<'a>(file: &str, order: &[usize], name: impl Fn(usize) -> &'a String) -> String {
    let names: Vec<&str> = order.iter().map(|owner| name(*owner).as_str()).collect();
    format!("{NOTE}{file}: {}", names.join(" "))
}

/// Reads what [`note`] wrote about a file: the names of the types in the order of the documents.
pub fn order(notes: &[String], file: &str) -> Option<Vec<String>> {
    let begin = format!("{NOTE}{file}: ");
    let note = notes.iter().find_map(|note| note.strip_prefix(&begin))?;
    Some(note.split(' ').map(str::to_owned).collect())
}

/// Puts the pieces of a file together in the order of their documents.
///
/// Documents that came since follow the last of their piece. `None` where the result would not read
/// as exactly these documents.
pub fn rejoin<T: PartialEq>(pieces: &[(T, String)], order: &[T]) -> Option<String> {
    let mut left: Vec<(&T, Vec<(&str, serde_json::Value)>)> = Vec::new();
    for (owner, text) in pieces {
        let documents = read_documents(text).ok()?;
        let wholes =
            documents.iter().map(|document| (&text[document.whole.clone()], document.root.to_json()));
        left.push((owner, wholes.collect()));
    }
    let (mut text, mut values) = (String::new(), Vec::new());
    let mut take = |piece: (&str, serde_json::Value)| {
        text.push_str(piece.0);
        values.push(piece.1);
    };
    for (position, owner) in order.iter().enumerate() {
        let (_, documents) = left.iter_mut().find(|(other, _)| *other == owner)?;
        if !documents.is_empty() {
            take(documents.remove(0));
        }
        if !order[position + 1..].contains(owner) {
            documents.drain(..).for_each(&mut take);
        }
    }
    let again = read_documents(&text).ok()?;
    let same = again.len() == values.len()
        && again.iter().zip(&values).all(|(document, value)| document.root.to_json() == *value);
    same.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::cut_documents;

    #[test]
    fn what_was_cut_comes_back() {
        for (text, types) in [
            ("a: 1\n---\nb: 2\n---\nc: 3", vec![(0, 0), (1, 1), (2, 0)]),
            ("---\n# empty\n---\na: 1\n---\nb: 2\n---\n", vec![(1, 1), (2, 0)]),
            ("# head\r\n---\r\na: 1\r\n--- # two\r\nb: 2", vec![(1, 0), (2, 1)]),
        ] {
            let owners = owners(text, &types);
            let order: Vec<usize> = owners.iter().map(|(_, owner)| *owner).collect();
            let pieces: Vec<(usize, String)> = [0, 1]
                .map(|side| {
                    let keep: Vec<usize> =
                        owners.iter().filter(|(_, owner)| *owner == side).map(|(index, _)| *index).collect();
                    (side, cut_documents(text, &keep).unwrap())
                })
                .into();
            assert_eq!(rejoin(&pieces, &order).as_deref(), Some(text), "{text}");
        }
    }

    #[test]
    fn notes_are_read_again() {
        let names = ["rt".to_owned(), "rw".to_owned()];
        let note = note("all.yaml", &[0, 1, 0], |position| &names[position]);
        assert_eq!(order(&[note], "all.yaml").unwrap(), ["rt", "rw", "rt"]);
    }
}
