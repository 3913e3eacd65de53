package main

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"
)

// isQuiet tells whether nothing in the build that was made could tell annotations from no annotations,
// so that a build without origin annotations gives the same objects.
//
// kustomize rewrites the annotations of each object at the end in any case (krusty.Kustomizer.Run,
// RemoveOriginAnnotations), so what is left is what reads them on the way: patches, selectors,
// replacements, variables, plugins, field specs, and hashes of whole objects.
func (v *view) isQuiet() bool {
	return !v.hashed && !slices.ContainsFunc(v.kustomizations, func(one kustomization) bool { return !one.isQuiet(v) })
}

// kustomization is one that the build has read.
type kustomization struct {
	at      string
	content []byte
}

var (
	// loud are words of which one stands in each kustomization that has any field which may read
	// annotations. Field names are read in any case.
	loud = regexp.MustCompile(`(?i)patch|fields|replacements|vars|transformers|validators|generators|helm|crds|openapi|configurations|buildmetadata`)
	// escaped finds keys that may be others than they look.
	escaped = regexp.MustCompile(`\\[xuU][^"\n]*"[ \t\r\n]*:`)
)

// hasEscapedKeys tells whether there may be keys that are others than they look.
func hasEscapedKeys(content []byte) bool {
	return bytes.IndexByte(content, '\\') >= 0 && escaped.Match(content)
}

// mayHash tells whether a file may ask for the hash of a whole object
// (kustomize/api/internal/utils, BuildAnnotationsGenAddHashSuffix).
func mayHash(content []byte) bool {
	return bytes.Contains(content, []byte("needsHashSuffix")) || hasEscapedKeys(content)
}

func (k kustomization) isQuiet(v *view) bool {
	if !loud.Match(k.content) {
		return true
	}
	settings, err := read(k.content)
	if err != nil || len(settings.Replacements)+len(settings.Vars)+len(settings.Transformers)+
		len(settings.Validators)+len(settings.Generators)+len(settings.HelmCharts)+
		len(settings.HelmChartInflationGenerator)+len(settings.Crds)+len(settings.OpenAPI) > 0 ||
		slices.Contains(settings.BuildMetadata, types.TransformerAnnotations) {
		return false
	}
	for _, label := range settings.Labels {
		if len(label.FieldSpecs) > 0 {
			return false
		}
	}
	for _, name := range settings.Configurations {
		content, err := v.readFile(filepath.Join(k.at, name))
		if err != nil || bytes.Contains(content, []byte("annotations")) {
			return false
		}
	}
	for _, patch := range settings.PatchesStrategicMerge {
		// A file, or else the patch itself.
		content, err := v.readFile(filepath.Join(k.at, string(patch)))
		if err != nil {
			content = []byte(patch)
		}
		if !isQuietPatch(content) {
			return false
		}
	}
	for _, patch := range append(settings.PatchesJson6902, settings.Patches...) {
		if patch.Target != nil && patch.Target.AnnotationSelector != "" {
			return false
		}
		content := []byte(patch.Patch)
		if patch.Path != "" {
			if content, err = v.readFile(filepath.Join(k.at, patch.Path)); err != nil {
				return false
			}
		}
		if !isQuietPatch(content) {
			return false
		}
	}
	return true
}

// isQuietPatch tells whether a patch does the same to an object with another annotation.
func isQuietPatch(content []byte) bool {
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	for {
		var patch any
		if err := decoder.Decode(&patch); err != nil {
			return errors.Is(err, io.EOF)
		}
		switch patch := patch.(type) {
		case nil:
		case []any:
			if slices.ContainsFunc(patch, func(step any) bool { return !isQuietStep(step) }) {
				return false
			}
		case map[string]any:
			if !isQuietMerge(patch) {
				return false
			}
		default:
			return false
		}
	}
}

// isQuietMerge tells whether a strategic merge sets annotations at most.
func isQuietMerge(patch map[string]any) bool {
	kind, _ := patch["kind"].(string)
	if strings.HasSuffix(kind, "List") {
		return false
	}
	for key, value := range patch {
		if strings.HasPrefix(key, "$") && !(key == "$patch" && value == "delete") {
			return false
		}
	}
	metadata, ok := patch["metadata"].(map[string]any)
	if !ok {
		return false
	}
	for key := range metadata {
		if strings.HasPrefix(key, "$") {
			return false
		}
	}
	value, ok := metadata["annotations"]
	if !ok {
		return true
	}
	annotations, ok := value.(map[string]any)
	for key, value := range annotations {
		if _, isText := value.(string); !isText || strings.HasPrefix(key, "$") {
			return false
		}
	}
	return ok && len(annotations) > 0
}

// isQuietStep tells whether a step of a JSON patch stays away from the annotations as a whole.
func isQuietStep(step any) bool {
	fields, ok := step.(map[string]any)
	if !ok {
		return false
	}
	for key, value := range fields {
		if key != "path" && key != "from" {
			continue
		}
		place, ok := value.(string)
		if !ok || !strings.HasPrefix(place, "/") || place == "/metadata" ||
			strings.HasPrefix(place, "/metadata/annotations") {
			return false
		}
	}
	return true
}
