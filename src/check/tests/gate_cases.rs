//! The cases of [`super::cases`] about the CronJobs of gates and their commands.

use super::cases::{CLOSE, Case, INFRA, OPEN, case};

const OPEN_PATCH: &str = "clusters/edge/infra/open-patch.yaml";
/// What closes in the unedited repository.
const CLOSES: &str = "[kubectl, patch, kustomization, apps-rw, -n, flux-system, --type=merge, --field-manager=flux, '--patch={\"spec\":{\"suspend\":true}}']";

pub const GATE_CASES: [Case; 9] = [
    case(
        "GW040 clusters/edge/infra/open-patch.yaml:5",
        &[(OPEN_PATCH, "0 8 * * MON", "0 8 * * 7")],
        &[(OPEN_PATCH, "0 8 * * MON", "0 8 * * 0")],
    ),
    case(
        "GW040 clusters/edge/infra/open-patch.yaml:5",
        &[(OPEN_PATCH, "0 8 * * MON", "TZ=Europe/Berlin 0 8 * * MON")],
        &[(OPEN_PATCH, "0 8 * * MON", "${AT}")],
    ),
    case(
        "GW040 clusters/edge/infra/open-patch.yaml:6",
        &[(OPEN_PATCH, "Europe/Berlin", "europe/berlin")],
        &[(OPEN_PATCH, "Europe/Berlin", "Etc/UTC")],
    ),
    case(
        "GW040 clusters/edge/infra/kustomization.yaml:8",
        &[(
            INFRA,
            "- path: close-patch.yaml\n",
            "- path: close-patch.yaml\n- target: { kind: CronJob, name: open }\n  patch: |\n    - { op: replace, path: /spec/schedule, value: never }\n",
        )],
        &[(
            INFRA,
            "- path: close-patch.yaml\n",
            "- path: close-patch.yaml\n- target: { kind: CronJob, name: open }\n  patch: |\n    - { op: replace, path: /spec/schedule, value: '@daily' }\n",
        )],
    ),
    case(
        "GW040 infra/gate/open.yaml:3",
        &[(INFRA, "resources:", "nameSuffix: -which-is-far-too-long-for-the-name-of-a-cron-job\nresources:")],
        &[(INFRA, "resources:", "nameSuffix: -which-is-just-short-enough-for-a-cron-job\nresources:")],
    ),
    case(
        "GW041 infra/gate/close.yaml:16",
        &[(CLOSE, "--type=merge, ", "")],
        &[(CLOSE, "--type=merge", "--type, merge")],
    ),
    case(
        "GW041 infra/gate/close.yaml:16",
        &[(CLOSE, "--type=merge", "--type=json")],
        &[
            (CLOSE, "--type=merge", "--type=json"),
            (
                CLOSE,
                "{\"spec\":{\"suspend\":true}}",
                "[{\"op\":\"add\",\"path\":\"/spec/suspend\",\"value\":true}]",
            ),
        ],
    ),
    case(
        "GW041 infra/gate/close.yaml:16",
        &[
            (CLOSE, "--type=merge", "--type=json"),
            (
                CLOSE,
                "{\"spec\":{\"suspend\":true}}",
                "[{\"op\":\"replace\",\"path\":\"/spec/suspend\",\"value\":true}]",
            ),
        ],
        // It is there once something was closed.
        &[
            (OPEN, "--type=merge", "--type=json"),
            (
                OPEN,
                "{\"spec\":{\"suspend\":false}}",
                "[{\"op\":\"replace\",\"path\":\"/spec/suspend\",\"value\":false}]",
            ),
        ],
    ),
    case(
        "GW042 infra/gate/close.yaml:16",
        &[(CLOSE, CLOSES, "[sh, -c, 'for k in apps-rw; do flux suspend ks $k; done']")],
        &[(CLOSE, CLOSES, "[sh, -c, 'set -e; echo $k; flux suspend ks apps-rw']")],
    ),
];
