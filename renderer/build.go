package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/openapi"
)

// render builds one folder: the objects as JSON and, if wanted, where each came from.
//
// kustomize tells origins by an annotation that takes part in the build, where a patch or a
// replacement may meet it. Where none can, one build tells both. Elsewhere the objects come from a
// build without it, and the origins from a second one, as far as that gives the same objects.
func render(files tree, wanted request) (answer, error) {
	if wanted.Origins {
		if done, ok := atOnce(files, wanted); ok {
			return done, nil
		}
	}
	v, at, err := prepare(files, wanted)
	defer v.end()
	if err != nil {
		return answer{}, explain(err, v)
	}
	built, err := build(v, at, wanted.Flux != nil)
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
		result.Origins = origins(v, wanted, at, result.Objects)
	}
	return result, nil
}

// prepare gives the folder that is built, and the files as its build sees them.
func prepare(files tree, wanted request) (*view, string, error) {
	v := &view{tree: files, replaced: map[string][]byte{}}
	at := filepath.Join(mount, wanted.Path)
	if wanted.Flux == nil || reflect.DeepEqual(*wanted.Flux, fluxSpec{}) {
		v.top, v.hasTwin = twin(v, at)
	}
	var err error
	if wanted.Flux != nil {
		err = wanted.Flux.apply(v, at)
	}
	v.readings = 0
	return v, at, err
}

// atOnce builds with origin annotations; false where it fails, or where anything in the build could
// tell that they are there.
func atOnce(files tree, wanted request) (answer, bool) {
	v, at, err := prepare(files, wanted)
	defer v.end()
	if err != nil {
		return answer{}, false
	}
	if marked, kept := markOrigins(v, at); !marked || kept {
		return answer{}, false
	}
	v.direct, v.readings = true, 0
	built, err := build(v, at, wanted.Flux != nil)
	// A kustomization that asks for origins is not empty to kustomize, even if it lists nothing.
	if err != nil || built.Size() == 0 || v.unknown != "" || v.redirected || !v.isQuiet() {
		return answer{}, false
	}
	result := answer{Twin: v.hasTwin && v.readings <= 1}
	for _, res := range built.Resources() {
		result.Origins = append(result.Origins, readOrigin(res, wanted.Path))
	}
	if err := built.RemoveOriginAnnotations(); err != nil {
		return answer{}, false
	}
	if result.Objects, err = finish(wanted, built); err != nil {
		return answer{}, false
	}
	return result, true
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

// origins builds once more with origin annotations and reads them off; nil where there are none.
func origins(v *view, wanted request, at string, objects []json.RawMessage) []*origin {
	result := make([]*origin, len(objects))
	marked, kept := markOrigins(v, at)
	if !marked {
		return result
	}
	v.direct = true
	built, err := build(v, at, wanted.Flux != nil)
	if err != nil || built.Size() != len(objects) {
		return result
	}
	told := make([]*origin, len(objects))
	for index, res := range built.Resources() {
		told[index] = readOrigin(res, wanted.Path)
	}
	if !kept {
		if err := built.RemoveOriginAnnotations(); err != nil {
			return result
		}
	}
	again, err := finish(wanted, built)
	if err != nil {
		return result
	}
	for index := range objects {
		if bytes.Equal(objects[index], again[index]) {
			result[index] = told[index]
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
