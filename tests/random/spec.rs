//! The spec of a repository, without its clusters.

use crate::repository::Maker;

impl Maker<'_> {
    /// Returns the text; `clusters:` is its last line.
    pub fn spec(&mut self) -> String {
        let mut dice = self.dice("spec");
        let middle = self.has(&mut dice, "three-types", 2);
        let mut text = String::from("apiVersion: gitops-windows/v1\ntypes:\n  rt: {}\n");
        if middle {
            text.push_str("  mid: { window: work }\n");
        }
        text.push_str("  rw: { window: work }\nwindows:\n  work: { timeZone: UTC, open: 0 8 * * MON, close: 0 17 * * THU }\n");
        if middle || self.has(&mut dice, "large-rules", 1) {
            let second = if middle { "mid" } else { "rt" };
            let name = self.apps[0].name.clone();
            let mut rules = vec![
                format!("  - {{ kind: Service, type: {second} }}\n"),
                format!("  - {{ kind: ConfigMap, name: \"*{name}*\", type: rt }}\n"),
                format!("  - {{ label: team, type: {second} }}\n"),
                format!("  - {{ label: team=a, type: {second} }}\n"),
                format!("  - {{ annotation: note=1, type: {second} }}\n"),
                format!("  - {{ app: \"{name}*\", kind: Secret, type: {second} }}\n"),
                format!("  - {{ path: \"**/own.yaml\", type: {second} }}\n"),
                format!("  - {{ path: \"apps/**/all.yaml\", kind: ConfigMap, type: {second} }}\n"),
                format!("  - {{ apiGroup: example.com, type: {second} }}\n"),
                format!("  - {{ apiGroup: \"\", kind: Secret, type: {second} }}\n"),
                format!("  - {{ namespace: \"*-east\", kind: Service, type: {second} }}\n"),
                "  - { kind: Namespace, type: rt }\n".to_owned(),
            ];
            dice.shuffle(&mut rules);
            rules.truncate(1 + dice.below(4) as usize);
            text.push_str(&format!(
                "rules:\n{}  - {{ kind: ConfigMap, type: rt }}\n  - {{ type: rw }}\n",
                rules.concat()
            ));
        }
        text.push_str("clusters:\n");
        text
    }
}
