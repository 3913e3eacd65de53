package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/openapi"
)

// render builds one folder: the objects as JSON and, if wanted, where each came from.
//
// kustomize tells origins by an annotation that takes part in the build, where a patch or a
// replacement may meet it. Where none can, one build tells both. Elsewhere the objects come from a
// build without it, and the origins from the one with it, as far as that gives the same objects.
func render(files tree, wanted request) (answer, error) {
	var marked *answer
	if wanted.Origins {
		done, ok := atOnce(files, wanted)
		if ok {
			return *done, nil
		}
		marked = done
	}
	v, at, err := prepare(files, wanted, false)
	defer func() { v.end() }()
	if err != nil {
		return answer{}, explain(err, v)
	}
	built, err := build(v, at, wanted.Flux != nil)
	if v.loose && v.readings > 1 {
		// The kustomization may be read as a file too.
		v.end()
		if v, at, err = prepare(files, wanted, true); err != nil {
			return answer{}, explain(err, v)
		}
		built, err = build(v, at, wanted.Flux != nil)
	}
	if err != nil {
		return answer{}, explain(err, v)
	}
	if v.unknown != "" {
		return answer{}, explain(failure("open", v.unknown, large), v)
	}
	result := answer{Twin: v.hasTwin && v.readings <= 1}
	if result.Objects, err = finish(wanted, built); err != nil {
		return answer{}, err
	}
	if wanted.Origins {
		if marked == nil {
			marked = markedBuild(v, wanted, at)
		}
		result.Origins = marked.originsOf(result.Objects)
	}
	return result, nil
}

// prepare gives the folder that is built, and the files as its build sees them; exactly, where anything but kustomize may
// read the kustomization.
func prepare(files tree, wanted request, exact bool) (*view, string, error) {
	v := &view{tree: files, replaced: map[string][]byte{}, exact: exact}
	at := filepath.Join(mount, wanted.Path)
	var err error
	if wanted.Flux != nil {
		err = wanted.Flux.apply(v, at)
	} else if place, controlled, err := findOrGenerate(v, at); err == nil {
		v.top, v.hasTwin = twin(v, place, controlled)
	}
	v.readings = 0
	return v, at, err
}

// atOnce builds with origin annotations, and tells whether that is the answer: it is not where anything in the build
// could tell that they are there. Nil where it fails.
func atOnce(files tree, wanted request) (*answer, bool) {
	v, at, err := prepare(files, wanted, false)
	defer v.end()
	if err != nil {
		return nil, false
	}
	if marked, kept := markOrigins(v, at); !marked || kept {
		return nil, false
	}
	// What is built is judged, and nothing else that was read for it.
	v.direct, v.readings, v.kustomizations = true, 0, nil
	built, err := build(v, at, wanted.Flux != nil)
	if err != nil || v.unknown != "" {
		return nil, false
	}
	result := answer{Twin: v.hasTwin && v.readings <= 1}
	// A kustomization that asks for origins is not empty to kustomize, even if it lists nothing, and may be read as a file too.
	alone := built.Size() > 0 && !v.redirected && v.readings <= 1 && v.isQuiet()
	if err := result.take(wanted, built, false); err != nil {
		return nil, false
	}
	return &result, alone
}

// finish gives the objects as they are applied.
func finish(wanted request, built resmap.ResMap) ([]json.RawMessage, error) {
	if wanted.Flux != nil {
		if err := wanted.Flux.finish(built); err != nil {
			return nil, err
		}
	}
	return encode(built)
}

// markedBuild builds once more with origin annotations; nil where there are none.
func markedBuild(v *view, wanted request, at string) *answer {
	marked, kept := markOrigins(v, at)
	if !marked {
		return nil
	}
	v.direct = true
	built, err := build(v, at, wanted.Flux != nil)
	if err != nil {
		return nil
	}
	var result answer
	if err := result.take(wanted, built, kept); err != nil {
		return nil
	}
	return &result
}

// take reads off origins, takes the annotations away unless they are kept, and gives the objects.
func (a *answer) take(wanted request, built resmap.ResMap, kept bool) error {
	a.Origins = make([]*origin, built.Size())
	for index, res := range built.Resources() {
		a.Origins[index] = readOrigin(res, wanted.Path)
	}
	if !kept {
		if err := built.RemoveOriginAnnotations(); err != nil {
			return err
		}
	}
	var err error
	a.Objects, err = finish(wanted, built)
	return err
}

// originsOf gives the origins of the objects of a build without annotations that came out the same with them.
func (a *answer) originsOf(objects []json.RawMessage) []*origin {
	result := make([]*origin, len(objects))
	if a == nil || len(a.Objects) != len(objects) {
		return result
	}
	for index := range objects {
		if bytes.Equal(objects[index], a.Objects[index]) {
			result[index] = a.Origins[index]
		}
	}
	return result
}

// build runs kustomize as `kustomize build --load-restrictor LoadRestrictionsNone` does, or as
// kustomize-controller does, which leaves the objects unsorted: their order is of no consequence
// there, as it applies them by kind.
func build(v *view, at string, flux bool) (resmap.ResMap, error) {
	plain := openapi.GetSchemaVersion()
	built, err := run(v, at)
	if openapi.GetSchemaVersion() == plain {
		return built, err
	}
	// The kustomization brings an OpenAPI schema of its own, which kustomize keeps for the life of
	// the process. Build again as if this were a new process, and leave no trace. The controller
	// adds the schema to the built-in one, the command line replaces it.
	openapi.ResetOpenAPI()
	if flux {
		_ = openapi.Schema()
	}
	defer openapi.ResetOpenAPI()
	return run(v, at)
}

func run(v *view, at string) (built resmap.ResMap, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			built, err = nil, fmt.Errorf("kustomize panicked: %v", reason)
		}
	}()
	return krusty.MakeKustomizer(&krusty.Options{
		Reorder:          krusty.ReorderOptionUnspecified,
		LoadRestrictions: types.LoadRestrictionsNone,
		PluginConfig:     types.DisabledPluginConfig(),
	}).Run(v, at)
}
