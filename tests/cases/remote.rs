//! Remote bases: copied at their commit, so that nothing needs the network after that.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpListener;

use crate::support::flux_kustomization;
use crate::support::scratch::{Scratch, assert_same};

/// A repository with a base that takes in a neighbour, and one that it takes from elsewhere in turn.
fn bases(deeper: &str) -> Scratch {
    let scratch = Scratch::empty();
    scratch.write("web/kustomization.yaml", format!("resources:\n- web.yaml\n- ../common\n- {deeper}\n"));
    scratch.write(
        "web/web.yaml",
        "apiVersion: v1\nkind: Service\nmetadata: { name: web }\nspec: { ports: [{ port: 80 }] }\n",
    );
    scratch.write(
        "common/kustomization.yaml",
        "resources: [common.yaml]\nconfigMapGenerator:\n- name: files\n  files: [motd.txt]\n",
    );
    scratch.write("common/common.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: common }\n");
    scratch.write("common/motd.txt", "hello\n");
    scratch.write("other/not-taken.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: other }\n");
    scratch.commit();
    scratch
}

/// Serves one text at every path, as often as it is asked.
fn serve(text: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = Vec::new();
            let mut part = [0; 1024];
            while !request.windows(4).any(|end| end == b"\r\n\r\n") {
                let count = stream.read(&mut part).unwrap();
                request.extend_from_slice(&part[..count]);
            }
            let length = text.len();
            let answer =
                format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}");
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    format!("http://{address}")
}

fn url(scratch: &Scratch) -> String {
    format!("file://{}", scratch.top().display())
}

/// What changes from run to run, as words.
fn shown(scratch: &Scratch, text: &str, all: &[(&str, &Scratch)]) -> String {
    let mut text = text.to_owned();
    for (name, base) in all {
        let commit = base.git(&["rev-parse", "HEAD"]);
        let commit = commit.trim();
        let top = base.top().display().to_string();
        text = text.replace(commit, &format!("{name}-COMMIT")).replace(&commit[..12], &format!("{name}-C"));
        text = text.replace(&top, &format!("/{name}")).replace(top.trim_start_matches('/'), name);
        // What two of them share is no part of a path from one to the other.
        let own = base.top().parent().unwrap().file_name().unwrap().to_string_lossy().into_owned();
        text = text.replace(&own, name);
    }
    text.replace(&scratch.top().display().to_string(), "FLEET")
}

#[test]
fn remote_bases_are_copied_at_their_commit_with_all_that_they_take_in() {
    let deeper = Scratch::empty();
    deeper.write("kustomization.yaml", "resources: [deep.yaml]\n");
    deeper.write("deep.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: deep }\n").commit();
    let base = bases(&format!("{}?ref=main", url(&deeper)));
    let server = serve("apiVersion: v1\nkind: Namespace\nmetadata: { name: file }\n");

    let fleet = Scratch::empty();
    let web = format!("{}//web?ref=main", url(&base));
    fleet.write(
        "apps/kustomization.yaml",
        format!("resources:\n- {web}\n- '{server}/install/all.yaml'\n- own.yaml\n"),
    );
    fleet.write("apps/own.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: own }\n");
    fleet.write("dead/kustomization.yaml", "resources: [https://git.example.com/a/b//c?ref=v1]\n");
    fleet.write(
        "clusters/one/flux-system/gotk-sync.yaml",
        flux_kustomization("flux-system", "clusters/one", ""),
    );
    fleet.write("clusters/one/apps.yaml", flux_kustomization("apps", "apps", ""));
    fleet.commit();
    let before = fleet.tree();

    let run = fleet.expect(1, &["fetch-bases"]);
    assert_same(&before, &fleet.tree(), "something was written that nobody agreed to");
    let all = [("BASE", &base), ("DEEPER", &deeper)];
    let told = |text: &str| {
        shown(&fleet, text, &all)
            .replace(&server.replace("http://", ""), "SERVER")
            .replace(&server.replace("http://", "").replace(':', "_"), "SERVER")
    };
    insta::assert_snapshot!("fetched", told(&run.stderr));

    fleet.take(&["fetch-bases", "--yes"]);
    let run = fleet.expect(0, &["fetch-bases"]);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", "Nothing to change.\n"));
    // The same base again, now that its copy names a copy itself, where something else stands on the line.
    fleet.write("more/kustomization.yaml", format!("resources:\r\n- {web} # the web\r\n"));
    fleet.write("clusters/one/more.yaml", flux_kustomization("more", "more", "")).commit();
    fleet.take(&["fetch-bases", "--yes"]);
    insta::assert_snapshot!(
        "fetched_again",
        told(&fleet.text("more/kustomization.yaml")).escape_debug().to_string()
    );
    fleet.git(&["rm", "-r", "--quiet", "more", "clusters/one/more.yaml"]);
    fleet.commit();
    // In an order that does not depend on where the bases lie.
    let all = fleet.tree();
    let files: BTreeMap<String, String> = all
        .keys()
        .map(|path| path.display().to_string())
        .map(|path| (told(&path), told(&fleet.text(&path))))
        .collect();
    let copies: Vec<String> = files
        .iter()
        .filter(|(path, _)| path.starts_with("vendor/") || path.starts_with("apps/"))
        .map(|(path, text)| format!("{path}\n{text}"))
        .collect();
    insta::assert_snapshot!("fetched_tree", copies.join("\n"));
    // Nothing needs the network any more: kustomize inside has none.
    drop((base, deeper));
    assert_eq!(fleet.expect(0, &["check"]).stderr, "Nothing to report.\n");
    fleet.take(&["init", "--yes", "--open=0 22 * * SAT", "--close=0 4 * * SUN", "--time-zone=UTC"]);
    fleet.take(&["split", "--all", "--yes"]);
    fleet.expect(0, &["verify"]);
}

#[test]
fn what_can_not_be_copied_is_told_at_its_address() {
    let base = bases("https://git.example.com/none//x?ref=v1");
    let fleet = Scratch::empty();
    fleet.write(
        "clusters/one/flux-system/gotk-sync.yaml",
        flux_kustomization("flux-system", "clusters/one", ""),
    );
    fleet.write("clusters/one/apps.yaml", flux_kustomization("apps", "apps", ""));
    let told: Vec<String> = ["//none", "//web?ref=gone", "//other", "//../web"]
        .iter()
        .map(|end| {
            fleet.write("apps/kustomization.yaml", format!("resources:\n- {}{end}\n", url(&base))).commit();
            let before = fleet.tree();
            let run = fleet.expect(3, &["fetch-bases", "--yes"]);
            assert_same(&before, &fleet.tree(), "something was written");
            shown(&fleet, &run.stderr, &[("BASE", &base)])
        })
        .collect();
    insta::assert_snapshot!(told.join("\n"));
    // Flux writes a list of all that lies below `clusters/one`, which has none.
    let whole = Scratch::empty();
    whole.write("kustomization.yaml", "resources: [one.yaml]\n");
    whole.write("one.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: one }\n").commit();
    fleet.write("apps/kustomization.yaml", format!("resources:\n- {}\n", url(&whole))).commit();
    let run = fleet.expect(3, &["fetch-bases", "clusters/one/vendor", "--yes"]);
    insta::assert_snapshot!("copies_that_flux_applies", shown(&fleet, &run.stderr, &[("BASE", &whole)]));
    fleet.expect(0, &["fetch-bases", "copies", "--yes"]);
}

#[test]
fn copies_that_no_source_fetches_are_refused() {
    let base = bases("web.yaml");
    base.replace("web/kustomization.yaml", "- web.yaml\n- ../common\n- web.yaml\n", "- web.yaml\n").commit();
    let fleet = Scratch::empty();
    let source = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: { name: flux-system, namespace: flux-system }\nspec: { interval: 1m, url: https://git.example.com/fleet, ignore: \"/*\\n!/clusters\\n!/apps\\n\" }\n---\n";
    let root = format!("{source}{}", flux_kustomization("flux-system", "clusters/one", ""));
    fleet.write("clusters/one/flux-system/gotk-sync.yaml", root);
    fleet.write("clusters/one/apps.yaml", flux_kustomization("apps", "apps", ""));
    fleet.write("apps/kustomization.yaml", format!("resources:\n- {}//web\n", url(&base))).commit();
    let run = fleet.expect(5, &["fetch-bases", "--yes"]);
    assert!(run.stderr.contains("would reach no cluster: `/*` in `spec.ignore`"), "{}", run.stderr);
    fleet.expect(0, &["fetch-bases", "apps/vendor", "--yes"]);
}
