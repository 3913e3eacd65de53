//! The fields of a kustomization, by what they do.

/// Fields that may change an object which the kustomization lists, whatever they hold.
pub const CHANGING: [&str; 4] = ["patchesStrategicMerge", "patchesJson6902", "transformers", "replacements"];

/// Fields that apply to each object alone or name all of them alike, so that several kustomizations can carry a copy;
/// nobody edits them from day to day.
const CONSTANT: [&str; 10] = [
    "apiversion",
    "kind",
    "metadata",
    "resources",
    "namespace",
    "nameprefix",
    "namesuffix",
    "commonlabels",
    "labels",
    "commonannotations",
];

/// Returns whether a field of a kustomization applies to each object alone, or names all of them alike.
pub fn is_constant(key: &str) -> bool {
    CONSTANT.iter().any(|constant| constant.eq_ignore_ascii_case(key))
}

/// The fields that kustomize knows (`kustomize/api/types.Kustomization`), in whatever case.
pub const KNOWN: [&str; 35] = [
    "apiVersion",
    "bases",
    "buildMetadata",
    "commonAnnotations",
    "commonLabels",
    "components",
    "configMapGenerator",
    "configurations",
    "crds",
    "generatorOptions",
    "generators",
    "helmChartInflationGenerator",
    "helmCharts",
    "helmGlobals",
    "images",
    "imageTags",
    "kind",
    "labels",
    "metadata",
    "namePrefix",
    "namespace",
    "nameSuffix",
    "openapi",
    "patches",
    "patchesJson6902",
    "patchesStrategicMerge",
    "replacements",
    "replicas",
    "resources",
    "secretGenerator",
    "sortOptions",
    "transformers",
    "validators",
    "vars",
    "<<",
];

/// Returns whether kustomize knows a field.
pub(super) fn is_known(key: &str) -> bool {
    KNOWN.iter().any(|known| known.eq_ignore_ascii_case(key))
}
