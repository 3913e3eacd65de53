//! Compiles the Go program beside this to WebAssembly, where the packed crate does not hold it already.
//!
//! Without Go at hand the result is empty, and `lib.rs` tells why. It is kept in the target directory by a hash of
//! what goes in, so that all profiles share one compilation.
#![allow(clippy::disallowed_methods, reason = "a build script writes into the target directory only")]

use std::error::Error;
use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

mod kept;
mod segments;

use kept::{cache, kept};

/// What the crate is packed with, so that it needs no Go.
const PACKED: &str = "renderer.wasm";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=.");
    println!("cargo::rerun-if-env-changed=GITOPS_WINDOWS_NO_RENDERER");
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    let program = if std::env::var_os("GITOPS_WINDOWS_NO_RENDERER").is_some_and(|value| !value.is_empty()) {
        Err("GITOPS_WINDOWS_NO_RENDERER is set".to_owned())
    } else if Path::new(PACKED).exists() {
        Ok(fs::read(PACKED)?)
    } else {
        match version_of_go() {
            Ok(go) => Ok(compiled(&go, &cache(&out))?),
            Err(reason) => {
                println!("cargo::rerun-if-env-changed=PATH");
                Err(reason)
            }
        }
    };
    let (wasm, missing) = match program {
        Ok(wasm) => (wasm, String::new()),
        Err(reason) => (Vec::new(), reason),
    };
    fs::write(out.join(PACKED), wasm)?;
    println!("cargo::rustc-env=RENDERER_MISSING={missing}");
    println!("cargo::rustc-env=RENDERER_KUSTOMIZE=api/{}", version_of_kustomize()?);
    Ok(())
}

/// Returns the program, from the cache if it is there.
fn compiled(go: &str, cache: &Path) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut hasher = DefaultHasher::new();
    go.hash(&mut hasher);
    for source in sources()? {
        source.hash(&mut hasher);
        fs::read(&source)?.hash(&mut hasher);
    }
    kept(&cache.join(format!("{:016x}.wasm", hasher.finish())), || wasm(cache))
}

/// What is changed in kustomize's modules, to build the same with less work: in which file, what, by what. The files
/// of `_kustomize` say why.
const CHANGES: [(&str, &str, &str); 46] = [
    (
        "krusty/kustomizer.go",
        "\tldr, err := fLdr.NewLoader(",
        "\ttarget.Watch(fSys)\n\tldr, err := fLdr.NewLoader(",
    ),
    (
        "internal/target/kusttarget.go",
        "\tdefer ldr.Cleanup()\n",
        concat!(
            "\tdefer ldr.Cleanup()\n\tknown := kt.enter(ldr, isComponent)\n\tdefer known.leave()\n",
            "\tif done, err := known.again(ra); done {\n\t\tif err != nil {\n\t\t\treturn nil, err\n\t\t}\n\t\treturn ra, nil\n\t}\n",
        ),
    ),
    (
        "internal/target/kusttarget.go",
        "\terr = ra.MergeAccumulator(subRa)\n",
        "\tknown.keep(subKt, subRa)\n\terr = ra.MergeAccumulator(subRa)\n",
    ),
    (
        "internal/plugins/builtinconfig/transformerconfig.go",
        "// Merge merges two TransformerConfigs objects into\n// a new TransformerConfig object\nfunc (t *TransformerConfig) Merge(",
        "// merge does as Merge.\nfunc (t *TransformerConfig) merge(",
    ),
    (
        "internal/plugins/builtinconfig/transformerconfig.go",
        "\treturn defaultConfig.DeepCopy()\n",
        "\treturn defaultsOf(defaultConfig)\n",
    ),
    ("types/kustomization.go", "\t\"sigs.k8s.io/yaml\"\n", ""),
    ("types/kustomization.go", "\tj, err := yaml.YAMLToJSON(y)\n", "\tj, err := ToJSON(y)\n"),
    (
        "internal/target/kusttarget.go",
        "\tfor _, path := range paths {\n\t\t// try loading resource as file",
        "\tdefer ra.Hold()()\n\tfor _, path := range paths {\n\t\t// try loading resource as file",
    ),
    (
        "internal/target/kusttarget.go",
        "\tfor i, g := range generators {\n",
        "\tdefer ra.Hold()()\n\tfor i, g := range generators {\n",
    ),
    (
        "resmap/reswrangler.go",
        "\trList []*resource.Resource\n}\n",
        "\trList []*resource.Resource\n\tknown known\n\tnamed named\n}\n",
    ),
    (
        "resmap/reswrangler.go",
        "\tif r := m.GetMatchingResourcesByCurrentId(id.Equals); len(r) > 0 {",
        "\tif m.isNew(id) {\n\t\tm.append(res)\n\t\tm.added(res, 1)\n\t\treturn nil\n\t}\n\tif r := m.GetMatchingResourcesByCurrentId(id.Equals); len(r) > 0 {",
    ),
    ("resmap/reswrangler.go", "\tm.rList[i] = res\n", "\tm.rList[i] = res\n\tm.added(res, 0)\n"),
    (
        "resmap/reswrangler.go",
        "\tfor _, res := range list {\n\t\tif err := m.Append(res); err != nil {",
        "\tdefer Hold(m)()\n\tfor _, res := range list {\n\t\tif err := m.Append(res); err != nil {",
    ),
    (
        "resmap/reswrangler.go",
        "\tmatches := m.GetMatchingResourcesByAnyId(id.Equals)\n\tswitch len(matches) {",
        "\tvar matches []*resource.Resource\n\tif !m.isUnheard(id) {\n\t\tmatches = m.GetMatchingResourcesByAnyId(id.Equals)\n\t}\n\tswitch len(matches) {",
    ),
    (
        "resmap/factory.go",
        "\tresult := New()\n\tfor _, res := range resources {\n",
        "\tresult := New()\n\tdefer Hold(result)()\n\tfor _, res := range resources {\n",
    ),
    (
        "internal/builtins/SortOrderTransformer.go",
        "\t\tm.Clear()\n",
        "\t\tm.Clear()\n\t\tdefer resmap.Hold(m)()\n",
    ),
    (
        "internal/builtins/NamespaceTransformer.go",
        "\tfor _, r := range m.Resources() {\n",
        "\tids := resmap.IdsOf(m.Resources())\n\tfor index, r := range m.Resources() {\n",
    ),
    (
        "internal/builtins/NamespaceTransformer.go",
        "\t\tmatches := m.GetMatching",
        "\t\tif ids.Becomes(index, r.CurId()) {\n\t\t\tcontinue\n\t\t}\n\t\tmatches := m.GetMatching",
    ),
    (
        "internal/accumulator/resaccumulator.go",
        "// Intersection drops the resources which \"other\" does not have.\nfunc (ra *ResAccumulator) Intersection(",
        "// intersection does as Intersection.\nfunc (ra *ResAccumulator) intersection(",
    ),
    (
        "internal/accumulator/namereferencetransformer.go",
        "\tfMap := t.determineFilters(m.Resources())\n",
        "\tif t.isStill() {\n\t\treturn t.still(m.Resources())\n\t}\n\tfMap := t.determineFilters(m.Resources())\n",
    ),
    (
        "filters/nameref/nameref.go",
        "\tReferralCandidates resmap.ResMap\n}\n",
        "\tReferralCandidates resmap.ResMap\n\n\t// Candidates are used instead where they are there.\n\tCandidates *Candidates\n}\n",
    ),
    (
        "filters/nameref/nameref.go",
        "f.ReferralCandidates.Resources(), allNamesAreTheSame)",
        "f.all(node.YNode().Value), allNamesAreTheSame)",
    ),
    (
        "filters/nameref/nameref.go",
        "\tcandidates, err := f.filterMapCandidatesByNamespace(node)\n",
        "\tcandidates, err := f.in(nameNode.YNode().Value, node)\n",
    ),
    (
        "internal/target/multitransformer.go",
        "\tfor _, t := range o.transformers {\n",
        "\tdefer resmap.Patching(m)()\n\tfor index, t := range o.transformers {\n\t\tif !isPatch(t) {\n\t\t\tresmap.Forget(m)\n\t\t}\n",
    ),
    (
        "internal/target/multitransformer.go",
        "\t\tif t.Origin != nil {\n\t\t\tif err := m.AddTransformerAnnotation(t.Origin); err != nil {",
        "\t\tif t.Origin != nil {\n\t\t\tif err := o.addOrigins(m, index); err != nil {",
    ),
    (
        "internal/builtins/PatchTransformer.go",
        "func (p *PatchTransformerPlugin) Transform(m resmap.ResMap) error {\n",
        "func (p *PatchTransformerPlugin) Transform(m resmap.ResMap) error {\n\tif p.Target != nil || p.jsonPatches != nil {\n\t\tresmap.Forget(m)\n\t}\n",
    ),
    (
        "internal/builtins/PatchTransformer.go",
        "\t\ttarget, err := m.GetById(patch.OrgId())\n",
        "\t\ttarget, err := resmap.ById(m, patch.OrgId())\n",
    ),
    (
        "internal/builtins/PatchTransformer.go",
        "\t\tif err := target.ApplySmPatch(patch); err != nil {\n\t\t\treturn errors.Wrap(err)\n\t\t}\n",
        "\t\tif err := target.ApplySmPatch(patch); err != nil {\n\t\t\treturn errors.Wrap(err)\n\t\t}\n\t\tresmap.Patched(m, target)\n",
    ),
    ("resource/factory.go", "\tnodes, err := kio.FromBytes(b)\n", "\tnodes, err := fromBytes(b)\n"),
    (
        "internal/git/repospec.go",
        "func extractUsername(s string) (string, string) {\n\tvar userRegexp = regexp.MustCompile(`^([a-zA-Z][a-zA-Z0-9-]*)@`)\n",
        "var userRegexp = regexp.MustCompile(`^([a-zA-Z][a-zA-Z0-9-]*)@`)\n\nfunc extractUsername(s string) (string, string) {\n",
    ),
    ("../kyaml/yaml/compatibility.go", "\nfunc IsValueNonString(", "\nfunc isValueNonString("),
    ("../kyaml/openapi/openapi.go", "\t\"reflect\"\n", ""),
    (
        "../kyaml/openapi/openapi.go",
        "\treturn reflect.DeepEqual(*rs.Schema, spec.Schema{})\n",
        "\treturn isZero(rs.Schema)\n",
    ),
    (
        "../kyaml/yaml/walk/walk.go",
        "\t\tfm := fieldmeta.FieldMeta{}\n",
        "\t\t// What stands in no comment is not there.\n\t\tif r.YNode().LineComment == \"\" && r.YNode().HeadComment == \"\" {\n\t\t\tcontinue\n\t\t}\n\t\tfm := fieldmeta.FieldMeta{}\n",
    ),
    (
        "internal/target/kusttarget.go",
        "\tvar result types.Kustomization\n\tb, _ := json.Marshal(*kt.kustomization)\n\tjson.Unmarshal(b, &result)\n\treturn result\n",
        "\t// Nobody changes it.\n\treturn *kt.kustomization\n",
    ),
    ("internal/target/kusttarget.go", "\t\"encoding/json\"\n", ""),
    (
        "internal/target/kusttarget.go",
        "\tif c != nil {\n\t\ty, err = yaml.Marshal(c)\n",
        concat!(
            "\tif c != nil {\n\t\tif y = types.Plain(c); y != nil && p.Config(resmap.NewPluginHelpers(kt.ldr, kt.validator, kt.rFactory, kt.pLdr.Config()), y) == nil {\n",
            "\t\t\treturn nil\n\t\t}\n\t\t// What goes wrong is told with YAML.\n\t\ty, err = yaml.Marshal(c)\n",
        ),
    ),
    (
        "internal/builtins/PatchTransformer.go",
        "\tif err := yaml.Unmarshal(c, p); err != nil {\n",
        "\tif err := types.Unmarshal(c, p); err != nil {\n",
    ),
    ("internal/builtins/PatchTransformer.go", "\t\"sigs.k8s.io/yaml\"\n", ""),
    (
        "types/selector.go",
        "func NewSelectorRegex(s *Selector) (*SelectorRegex, error) {\n",
        "func NewSelectorRegex(s *Selector) (*SelectorRegex, error) {\n\tregexp := patterns{}\n",
    ),
    (
        "internal/builtins/PatchTransformer.go",
        "\t\tjsonOps, err := yaml.YAMLToJSON(in)\n",
        "\t\tjsonOps, err := types.ToJSON(in)\n",
    ),
    ("../kyaml/kio/byteio_reader.go", "\t\tyamlSeparatorRegexp := regexp.MustCompile(`\\n---.*\\n`)\n", ""),
    (
        "../kyaml/kio/byteio_reader.go",
        "func splitDocuments(s string)",
        "var yamlSeparatorRegexp = regexp.MustCompile(`\\n---.*\\n`)\n\nfunc splitDocuments(s string)",
    ),
    (
        "../kyaml/yaml/walk/map.go",
        "\tfor _, key := range l.fieldNames() {\n",
        "\tfor _, key := range l.fieldNames() {\n\t\tif keeps && l.stays(key) {\n\t\t\tcontinue\n\t\t}\n",
    ),
    (
        "../kyaml/yaml/walk/map.go",
        "\t// recursively set the field values on the map\n",
        "\tkeeps := l.Keeps()\n\t// recursively set the field values on the map\n",
    ),
    (
        "../kyaml/yaml/walk/map.go",
        "\tif node == nil {\n\t\treturn nil, nil\n\t}\n",
        "\tif node == nil {\n\t\treturn nil, nil\n\t}\n\tif isUncommented(node) {\n\t\treturn node.Value, nil\n\t}\n",
    ),
];

/// Where the files of `_kustomize` belong in kustomize's modules; beside these is the program.
const ADDITIONS: [(&str, &str); 17] = [
    ("anchor.go", "resource"),
    ("json.go", "types"),
    ("memo.go", "internal/target"),
    ("copy.go", "internal/accumulator"),
    ("intersection.go", "internal/accumulator"),
    ("reference.go", "internal/accumulator"),
    ("referral.go", "filters/nameref"),
    ("known.go", "resmap"),
    ("named.go", "resmap"),
    ("mark.go", "internal/target"),
    ("merge.go", "internal/plugins/builtinconfig"),
    ("keep.go", "../kyaml/yaml/walk"),
    ("keeps.go", "../kyaml/yaml/merge2"),
    ("nonstring.go", "../kyaml/yaml"),
    ("patterns.go", "types"),
    ("zero.go", "../kyaml/openapi"),
    ("program.go", ".."),
];

const KUSTOMIZE: &str = "sigs.k8s.io/kustomize/api";

/// The modules that are changed, and the folders of their copies.
const MODULES: [(&str, &str); 2] = [(KUSTOMIZE, "kustomize"), ("sigs.k8s.io/kustomize/kyaml", "kyaml")];

/// Which packages of Go's library are replaced by a file of `_std`, which says why.
const STUBS: [(&str, &str); 1] = [("net/http", "http.go")];

/// Returns what `go build -overlay` reads: the packages' own files are not there, the stubs are.
fn overlay(folder: &Path) -> Result<String, Box<dyn Error>> {
    let root = PathBuf::from(go(folder, &["env", "GOROOT"])?.trim()).join("src");
    let mut lines = Vec::new();
    for (package, stub) in STUBS {
        let place = root.join(package);
        let own = files(&place)?.into_iter().filter(|path| path.extension() == Some(OsStr::new("go")));
        lines.extend(own.map(|path| format!("{path:?}: \"\"")));
        let stub = fs::canonicalize(Path::new("_std").join(stub))?;
        lines.push(format!("{:?}: {stub:?}", place.join("stub.go")));
    }
    Ok(format!("{{\"Replace\": {{{}}}}}", lines.join(",\n")))
}

/// Puts the Go program into a folder, beside kustomize's modules with their changes.
fn lay_out(folder: &Path) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(folder)?;
    for source in sources()?.iter().filter(|source| source.parent() == Some(Path::new("."))) {
        fs::copy(source, folder.join(source.file_name().unwrap_or_default()))?;
    }
    for (module, place) in MODULES {
        let downloaded = go(folder, &["mod", "download", "-json", module])?;
        let told = downloaded.lines().find_map(|line| line.trim().strip_prefix("\"Dir\": \""));
        let from = told.and_then(|told| told.strip_suffix("\",")).ok_or("go mod download names no folder")?;
        copy_module(Path::new(from), &folder.join(place))?;
    }
    let kustomize = folder.join("kustomize");
    for (file, old, new) in CHANGES {
        let text = fs::read_to_string(kustomize.join(file))?;
        if text.matches(old).count() != 1 {
            return Err(format!("{KUSTOMIZE}: {file} is another than the changes of build.rs are for").into());
        }
        fs::write(kustomize.join(file), text.replace(old, new))?;
    }
    for (name, place) in ADDITIONS {
        fs::copy(Path::new("_kustomize").join(name), kustomize.join(place).join(name))?;
    }
    for (module, place) in MODULES {
        go(folder, &["mod", "edit", "-replace", &format!("{module}=./{place}")])?;
    }
    Ok(())
}

/// Copies what of a module is built; the module cache is read-only, and the copies are not.
fn copy_module(from: &Path, to: &Path) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(to)?;
    for path in files(from)? {
        let place = to.join(path.file_name().unwrap_or_default());
        let name = path.to_string_lossy();
        if path.is_dir() {
            copy_module(&path, &place)?;
        } else if !name.ends_with("_test.go") {
            fs::write(place, fs::read(&path)?)?;
        }
    }
    Ok(())
}

/// Runs Go and gives what it prints.
fn go(folder: &Path, arguments: &[&str]) -> Result<String, Box<dyn Error>> {
    let output = Command::new("go")
        .args(arguments)
        .current_dir(folder)
        .env("GOWORK", "off")
        .env_remove("GOFLAGS")
        .output()?;
    let text = String::from_utf8(output.stdout)?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr);
        return Err(format!("go {} failed:\n{text}{reason}", arguments.join(" ")).into());
    }
    Ok(text)
}

/// Saves the compiler an eighth of its time, for what the linker leaves out.
const NO_DEBUGGING: &str = "-gcflags=all=-dwarf=false";

/// Compiles the Go program to WebAssembly of few segments of data.
fn wasm(cache: &Path) -> Result<Vec<u8>, Box<dyn Error>> {
    let out = cache.join(format!("{}.go-build", std::process::id()));
    let folder = cache.join(format!("{}.go", std::process::id()));
    lay_out(&folder)?;
    fs::write(folder.join("overlay.json"), overlay(&folder)?)?;
    let result = Command::new("go")
        .args([
            "build",
            "-trimpath",
            "-buildvcs=false",
            "-mod=readonly",
            "-overlay=overlay.json",
            NO_DEBUGGING,
            "-ldflags",
            "-s -w",
            "-o",
        ])
        .arg(&out)
        .arg(".")
        .current_dir(&folder)
        .env("GOOS", "wasip1")
        .env("GOARCH", "wasm")
        .env("CGO_ENABLED", "0")
        .env("GOWORK", "off")
        .env_remove("GOFLAGS")
        .output()?;
    fs::remove_dir_all(&folder)?;
    if !result.status.success() {
        return Err(format!(
            "go build of renderer/ failed:\n{}{}set GITOPS_WINDOWS_NO_RENDERER=1 to build without the embedded kustomize",
            String::from_utf8_lossy(&result.stdout),
            String::from_utf8_lossy(&result.stderr),
        )
        .into());
    }
    let content = fs::read(&out)?;
    fs::remove_file(&out)?;
    Ok(segments::joined(&content).unwrap_or(content))
}

/// Tells Go's version, or why there is none.
fn version_of_go() -> Result<String, String> {
    let output =
        Command::new("go").args(["env", "GOVERSION"]).output().map_err(|error| format!("go: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        Err(format!("go env: {}", String::from_utf8_lossy(&output.stderr).trim()))
    }
}

/// Tells the version of kustomize that `renderer/go.mod` names.
fn version_of_kustomize() -> Result<String, Box<dyn Error>> {
    let module = fs::read_to_string("go.mod")?;
    let version = module.lines().find_map(|line| line.trim().strip_prefix("sigs.k8s.io/kustomize/api "));
    Ok(version.ok_or("go.mod names no version of sigs.k8s.io/kustomize/api")?.to_owned())
}

/// Lists what the Go program is made of, sorted.
fn sources() -> Result<Vec<PathBuf>, Box<dyn Error>> {
    // How it is compiled stands here.
    let mut found = vec![PathBuf::from("build.rs"), PathBuf::from("segments.rs")];
    for path in [".", "_kustomize", "_std"]
        .into_iter()
        .flat_map(|folder| files(Path::new(folder)).unwrap_or_default())
    {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let source = name.ends_with(".go") && !name.ends_with("_test.go");
        if source || name == "go.mod" || name == "go.sum" {
            found.push(path);
        }
    }
    Ok(found)
}

/// Lists the files of a folder, sorted.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        found.push(entry?.path());
    }
    found.sort();
    Ok(found)
}
