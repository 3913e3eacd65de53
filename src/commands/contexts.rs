//! Which context of kubectl leads to which cluster.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};

/// Returns the context to ask for each cluster, `None` for the current one; `given` are the values of `--context`: `NAME`
/// where there is one cluster, else `CLUSTER=NAME`.
///
/// # Errors
///
/// When a cluster has none; `of` is the option that asks, for the message.
pub fn contexts(
    of: &str,
    clusters: &BTreeSet<String>,
    given: &[String],
) -> Result<BTreeMap<String, Option<String>>, Error> {
    let of_cluster: BTreeMap<&str, &str> = given.iter().filter_map(|text| text.split_once('=')).collect();
    let only = given.iter().rfind(|text| !text.contains('='));
    let mut found = BTreeMap::new();
    for cluster in clusters {
        let context = match (of_cluster.get(cluster.as_str()), only) {
            (Some(context), _) => Some((*context).to_owned()),
            // With contexts by cluster, the current one may be that of any other.
            (None, only) if clusters.len() == 1 && (only.is_some() || of_cluster.is_empty()) => only.cloned(),
            _ => {
                let why = match clusters.len() {
                    1 => "--context names others".to_owned(),
                    several => format!("{several} clusters are asked"),
                };
                return Err(Error::new(
                    ErrorKind::Usage,
                    Diagnostic::error(format!("{of}no context is known for cluster {cluster}, and {why}"))
                        .help(format!(
                            "add --context {cluster}=NAME, or name one cluster at a time with --cluster {cluster}"
                        )),
                ));
            }
        };
        found.insert(cluster.clone(), context);
    }
    Ok(found)
}

/// Returns the clusters that the values of `--context` name.
pub fn named(given: &[String]) -> BTreeSet<String> {
    given.iter().filter_map(|text| text.split_once('=')).map(|(cluster, _)| cluster.to_owned()).collect()
}
