#!/usr/bin/env python3
"""Writes a repository at a bound of docs/limits.md, the same bytes for the same arguments.

  limits.py KIND NUMBER DIR [--files N] [--git]

kustomizations  a cluster with NUMBER Flux Kustomizations, each of an entry point of its own
owners          the same where all apply the same four objects
objects         an entry point of NUMBER objects, in files of 40 objects; --files says in how many files instead
overlay         the same behind an overlay with a namespace, a prefix, a label and a patch
apps            an entry point that lists a folder for each four of its NUMBER objects
deep            an entry point that builds a base that builds a base ..., NUMBER deep
files           an entry point of one object, beside NUMBER files that no cluster gets
fleet           NUMBER clusters, each with an entry point for 20 apps of common bases and one for its infrastructure
"""
import argparse, os, subprocess

KUSTOMIZATION = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
NUMBER_A_FILE = 40

SPEC = """apiVersion: gitops-windows/v1
timeZone: Europe/Berlin
types:
  rt: {}
  rw: { window: work-week }
windows:
  work-week: { open: 0 8 * * MON, close: 0 17 * * THU }
clusters:
  one: {}
rules:
  - { kind: Namespace, type: rt }
  - { kind: ConfigMap, type: rt }
  - { type: rw }
"""


def flux(name, path):
    return f"""apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: {name}
  namespace: flux-system
spec:
  interval: 10m
  path: ./{path}
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
"""


SOURCE = """apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  name: flux-system
  namespace: flux-system
spec:
  interval: 1m
  ref:
    branch: main
  url: ssh://git@example.com/fleet.git
"""


def config_map(name):
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}-config\ndata:\n  level: info\n"


def service(name):
    return (
        f"apiVersion: v1\nkind: Service\nmetadata:\n  name: {name}\nspec:\n  selector:\n    app: {name}\n"
        "  ports:\n    - name: http\n      port: 80\n      targetPort: http\n"
    )


def service_account(name):
    return f"apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: {name}\n"


def deployment(name):
    return f"""apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
spec:
  selector:
    matchLabels:
      app: {name}
  template:
    metadata:
      labels:
        app: {name}
    spec:
      serviceAccountName: {name}
      containers:
        - name: main
          image: registry.example.com/{name}:1.4.2
          envFrom:
            - configMapRef:
                name: {name}-config
"""


SHAPES = [config_map, service, service_account, deployment]


def objects(number, begin=0):
    return [SHAPES[i % 4](f"app-{i // 4:05}") for i in range(begin, begin + number)]


def kustomization(resources, more=""):
    return KUSTOMIZATION + more + "resources:\n" + "".join(f"  - {name}\n" for name in resources)


def in_files(folder, texts, files):
    size = -(-len(texts) // files)
    for i in range(files):
        yield f"{folder}/part-{i:05}.yaml", "---\n".join(texts[i * size : (i + 1) * size])


def entry(folder, number, files, more="", begin=0):
    parts = dict(in_files(folder, objects(number, begin), files))
    yield from parts.items()
    yield f"{folder}/kustomization.yaml", kustomization((os.path.basename(name) for name in parts), more)


def cluster(applied):
    yield "windows.yaml", SPEC
    at = "clusters/one/flux"
    names = ["source.yaml"] + [f"{name}.yaml" for name in applied]
    yield f"{at}/source.yaml", SOURCE
    for name, path in applied.items():
        yield f"{at}/{name}.yaml", flux(name, path)
    yield f"{at}/kustomization.yaml", kustomization(names)


def repository(kind, number, files):
    if kind == "fleet":
        yield from fleet(number)
        return
    files = files or -(-number // NUMBER_A_FILE)
    apps = "clusters/one/apps"
    if kind in ("kustomizations", "owners"):
        names = [f"app-{i:05}" for i in range(number)]
        yield from cluster({"flux-system": "clusters/one/flux"} | {name: f"apps/{name}" for name in names})
        for i, name in enumerate(names):
            yield from entry(f"apps/{name}", 4, 1, begin=0 if kind == "owners" else 4 * i)
        return
    yield from cluster({"flux-system": "clusters/one/flux", "apps": apps})
    if kind == "objects":
        yield from entry(apps, number, files)
    elif kind == "overlay":
        yield from entry("base", number, files)
        more = "namespace: web\nnamePrefix: one-\nlabels:\n  - pairs:\n      team: web\npatches:\n  - path: replicas.yaml\n    target:\n      kind: Deployment\n"
        yield f"{apps}/kustomization.yaml", kustomization(["../../../base"], more)
        yield f"{apps}/replicas.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: any\nspec:\n  replicas: 2\n"
    elif kind == "apps":
        for i in range(0, number, 4):
            name = f"app-{i // 4:05}"
            yield f"{apps}/{name}/all.yaml", "---\n".join(shape(name) for shape in SHAPES)
            yield f"{apps}/{name}/kustomization.yaml", kustomization(["all.yaml"])
        yield f"{apps}/kustomization.yaml", kustomization(f"app-{i // 4:05}" for i in range(0, number, 4))
    elif kind == "deep":
        for i in range(number):
            above = [f"../base-{i + 1:05}"] if i + 1 < number else ["all.yaml"]
            yield f"base/base-{i:05}/kustomization.yaml", kustomization(above)
        yield f"base/base-{number - 1:05}/all.yaml", "---\n".join(objects(4))
        yield f"{apps}/kustomization.yaml", kustomization(["../../../base/base-00000"])
    elif kind == "files":
        yield from entry(apps, 4, 1)
        for i in range(number):
            yield f"other/{i // 1000:05}/file-{i:07}.yaml", config_map(f"other-{i:07}")


def overlay(name, shape, cluster, replicas):
    more = f"namespace: {name}\n"
    if shape == "patched":
        more += f"namePrefix: {cluster}-\npatches:\n  - path: replicas.yaml\n    target:\n      kind: Deployment\n"
        text = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: any\nspec:\n"
        yield "replicas.yaml", f"{text}  replicas: {replicas}\n"
    elif shape == "generated":
        more += f"configMapGenerator:\n  - name: {name}-cluster\n    literals:\n      - cluster={cluster}\n"
    yield "namespace.yaml", f"apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {name}\n"
    yield "kustomization.yaml", kustomization(["namespace.yaml", f"../../../../apps/{name}"], more)


def fleet(number, apps=20):
    names = [f"app-{i:02}" for i in range(apps)]
    shapes = [("patched", "generated", "plain")[i % 3] for i in range(apps)]
    for name in names:
        yield f"apps/{name}/all.yaml", "---\n".join(shape(name) for shape in SHAPES)
        yield f"apps/{name}/kustomization.yaml", kustomization(["all.yaml"])
    priority = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata:\n  name: shop\nvalue: 100000\n"
    yield "infra/priority.yaml", priority
    yield "infra/kustomization.yaml", kustomization(["priority.yaml"])
    for i in range(number):
        cluster = f"edge-{i:04}"
        at = f"clusters/{cluster}"
        for entry in ("apps", "infra"):
            yield f"{at}/flux/{entry}.yaml", flux(entry, f"{at}/{entry}")
        yield f"{at}/infra/kustomization.yaml", kustomization(["../../../infra"])
        yield f"{at}/apps/kustomization.yaml", kustomization(names)
        for name, shape in zip(names, shapes):
            for file, text in overlay(name, shape, cluster, i % 5 + 1):
                yield f"{at}/apps/{name}/{file}", text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = ["kustomizations", "owners", "objects", "overlay", "apps", "deep", "files", "fleet"]
    parser.add_argument("kind", choices=kinds)
    parser.add_argument("number", type=int)
    parser.add_argument("dir")
    parser.add_argument("--files", type=int)
    parser.add_argument("--git", action="store_true")
    args = parser.parse_args()
    made = set()
    for path, text in repository(args.kind, args.number, args.files):
        folder = os.path.join(args.dir, os.path.dirname(path))
        if folder not in made:
            os.makedirs(folder, exist_ok=True)
            made.add(folder)
        with open(os.path.join(args.dir, path), "w", encoding="utf-8") as file:
            file.write(text)
    if args.git:
        git = ["git", "-C", args.dir, "-c", "user.name=limits", "-c", "user.email=limits@example.com", "-c", "gc.auto=0"]
        fixed = os.environ | {"GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z"}
        for command in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "All"]):
            subprocess.run(git + command, check=True, env=fixed)


if __name__ == "__main__":
    main()
