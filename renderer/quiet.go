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

// loud are words of which one stands in each kustomization that has any field which may read annotations.
var loud = [][]byte{
	[]byte("patch"), []byte("fields"), []byte("replacements"), []byte("vars"), []byte("transformers"), []byte("validators"),
	[]byte("generators"), []byte("helm"), []byte("crds"), []byte("openapi"), []byte("configurations"), []byte("buildmetadata"),
}

// isLoud tells whether one of these words stands there. Field names are read in any case (encoding/json, foldName), where
// two letters that are none of ASCII count as s and k.
func isLoud(content []byte) bool {
	lower := bytes.ToLower(content)
	return bytes.Contains(content, []byte("\u017f")) || bytes.Contains(content, []byte("\u212a")) ||
		slices.ContainsFunc(loud, func(word []byte) bool { return bytes.Contains(lower, word) })
}

// escaped finds keys that may be others than they look.
var escaped = regexp.MustCompile(`\\[xuU][^"\n]*"[ \t\r\n]*:`)

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
	if !isLoud(k.content) {
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
		if patch.Target != nil && mayMeet(patch.Target.AnnotationSelector) {
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

// mayMeet tells whether a selector of annotations may speak of those that are set for origins. It goes by the keys that it
// names and by no other (k8s.io/apimachinery/pkg/labels, Requirement.Matches), and spells them as they are.
func mayMeet(selector string) bool { return strings.Contains(selector, "config.kubernetes.io/") }

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
			strings.HasPrefix(place, annotated) && !(fields["op"] == "remove" && isOther(place)) {
			return false
		}
	}
	return true
}

const (
	// annotated is where a JSON patch finds the annotations.
	annotated = "/metadata/annotations"
	// Those that come with origins (kustomize/api/internal/utils/annotations.go).
	originAnnotation      = "config.kubernetes.io/origin"
	transformerAnnotation = "alpha.config.kubernetes.io/transformations"
)

// isOther tells whether a path leads to one annotation that does not come with origins. To remove it fails where there is
// none of that name (github.com/evanphx/json-patch, partialDoc.remove), whatever other ones there are.
func isOther(place string) bool {
	key, found := strings.CutPrefix(place, annotated+"/")
	key = strings.NewReplacer("~1", "/", "~0", "~").Replace(key)
	return found && key != originAnnotation && key != transformerAnnotation
}
