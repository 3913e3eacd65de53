package main

import (
	"reflect"

	"sigs.k8s.io/kustomize/api/types"
)

// twin tells whether kustomize alone and kustomize-controller, for a Flux Kustomization without any
// field, build the folder from the same kustomization, which the controller reads so; and the file that holds it.
//
// The controller reads the file more leniently, writes it anew (fluxcd/pkg/kustomize,
// Generator.WriteFile) and gives the result to kustomize. Where both readings hold the same, all that
// follows is the same, unless the file is also read as a file: view.readings tells.
func twin(v *view, place string, controlled types.Kustomization) (string, bool) {
	// The controller adds a schema to the built-in one, and does not build from an empty list.
	if len(controlled.Resources) == 0 || len(controlled.OpenAPI) > 0 {
		return place, false
	}
	if found, target := v.stat(place); found != file || target != place {
		return place, false
	}
	content, err := v.ReadFile(place)
	if err != nil {
		return place, false
	}
	alone, err := read(content)
	controlled.FixKustomization()
	return place, err == nil && reflect.DeepEqual(alone, controlled)
}

// read gives a kustomization as kustomize reads it.
func read(content []byte) (types.Kustomization, error) {
	var settings types.Kustomization
	err := settings.Unmarshal(content)
	settings.FixKustomization()
	return settings, err
}
