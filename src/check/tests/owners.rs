//! Objects that many Flux Kustomizations apply.

use std::collections::BTreeSet;

use super::repository::{edited, findings};

/// Tells of a repository in which so many Flux Kustomizations apply one folder.
fn told(owners: usize) -> Vec<String> {
    told_of(owners, |index| (format!("more-{index:03}"), "flux-system".to_owned()))
}

/// As [`told`], of Flux Kustomizations by their names and namespaces.
fn told_of(owners: usize, id: impl Fn(usize) -> (String, String)) -> Vec<String> {
    let mut files = edited(&[]);
    let settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: more, namespace: shop }\n";
    files.insert("apps/more/settings.yaml".to_owned(), settings.to_owned());
    files.insert("apps/more/kustomization.yaml".to_owned(), "resources: [settings.yaml]\n".to_owned());
    let one = |index: usize| {
        let (name, namespace) = id(index);
        format!(
            "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{ name: {name}, namespace: \
             {namespace} }}\nspec: {{ interval: 5m, prune: true, path: ./apps/more, sourceRef: {{ kind: GitRepository, name: \
             flux-system, namespace: flux-system }} }}\n"
        )
    };
    let text: String = (0..owners).map(one).collect();
    files.get_mut("clusters/edge/apps.yaml").unwrap().push_str(&text);
    let (codes, found) = findings(&[files], None).remove(0);
    let own = codes.iter().zip(found).filter(|(code, _)| code.starts_with("GW009"));
    own.map(|(_, finding)| finding.message).collect()
}

#[test]
fn few_owners_are_told_in_all_pairs_and_many_once_each() {
    assert_eq!(told(4).len(), 6);
    let many = told(60);
    assert_eq!(many.len(), 59);
    let named: BTreeSet<&str> =
        many.iter().flat_map(|message| message.split(' ')).filter(|word| word.starts_with("more-")).collect();
    assert_eq!(named.len(), 60, "{many:?}");
    assert!(many[0].starts_with("more-000 and more-001 both apply ConfigMap shop/more"), "{}", many[0]);
}

#[test]
fn owners_of_one_name_are_told_by_their_namespaces() {
    let spaces = ["flux-system", "shop"];
    let told = told_of(2, |index| ("more".to_owned(), spaces[index].to_owned()));
    assert!(told[0].starts_with("flux-system/more and shop/more both apply"), "{told:?}");
}
