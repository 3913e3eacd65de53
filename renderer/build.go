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
// replacement may meet it. So the objects come from a build without it, and the origins from
// a second build, as far as that one gives the same objects.
func render(files tree, wanted request) ([]json.RawMessage, []*origin, error) {
	v := &view{tree: files, replaced: map[string][]byte{}}
	at := filepath.Join(mount, wanted.Path)
	if wanted.Flux != nil {
		if err := wanted.Flux.apply(v, at); err != nil {
			return nil, nil, explain(err, v)
		}
	}
	built, err := build(v, at, wanted.Flux != nil)
	if err != nil {
		return nil, nil, explain(err, v)
	}
	if v.unknown != "" {
		return nil, nil, explain(failure("open", v.unknown, large), v)
	}
	if wanted.Flux != nil {
		if err := wanted.Flux.finish(built); err != nil {
			return nil, nil, err
		}
	}
	objects, err := encode(built)
	if err != nil {
		return nil, nil, err
	}
	if !wanted.Origins {
		return objects, nil, nil
	}
	return objects, origins(v, wanted, at, objects), nil
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
	for index, res := range built.Resources() {
		result[index] = readOrigin(res, wanted.Path)
	}
	if !kept {
		if err := built.RemoveOriginAnnotations(); err != nil {
			return make([]*origin, len(objects))
		}
	}
	if wanted.Flux != nil {
		if err := wanted.Flux.finish(built); err != nil {
			return make([]*origin, len(objects))
		}
	}
	again, err := encode(built)
	if err != nil {
		return make([]*origin, len(objects))
	}
	for index := range objects {
		if !bytes.Equal(objects[index], again[index]) {
			result[index] = nil
		}
	}
	return result
}

// build runs kustomize as `kustomize build --load-restrictor LoadRestrictionsNone` does, or as
// kustomize-controller does.
func build(v *view, at string, flux bool) (resmap.ResMap, error) {
	plain := openapi.GetSchemaVersion()
	built, err := run(v, at, flux)
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
	return run(v, at, flux)
}

func run(v *view, at string, flux bool) (built resmap.ResMap, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			built, err = nil, fmt.Errorf("kustomize panicked: %v", reason)
		}
	}()
	options := &krusty.Options{
		LoadRestrictions: types.LoadRestrictionsNone,
		PluginConfig:     types.DisabledPluginConfig(),
	}
	if !flux {
		options.Reorder = krusty.ReorderOptionUnspecified
	}
	return krusty.MakeKustomizer(options).Run(v, at)
}
