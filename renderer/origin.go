package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"
)

// origin tells where an object came from.
type origin struct {
	// Path is the file that held the object or configured its generator, relative to the top.
	Path string `json:"path"`
	// Generator is the generator's kind, or empty.
	Generator string `json:"generator,omitempty"`
}

// readOrigin gives what the origin annotation says; nil where it says nothing of this repository.
func readOrigin(res *resource.Resource, folder string) *origin {
	found, err := res.GetOrigin()
	if err != nil || found == nil || found.Repo != "" {
		return nil
	}
	result := origin{Path: found.Path}
	if found.ConfiguredIn != "" {
		result = origin{Path: found.ConfiguredIn, Generator: found.ConfiguredBy.Kind}
	}
	result.Path = filepath.Join(folder, result.Path)
	if result.Path == ".." || strings.HasPrefix(result.Path, "../") {
		return nil
	}
	return &result
}

// markOrigins lets the folder's kustomization ask for origin annotations. The first result tells
// whether that was possible, the second whether the kustomization asks for them itself.
func markOrigins(v *view, at string) (marked, kept bool) {
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		place := filepath.Join(at, name)
		content, err := v.ReadFile(place)
		if err != nil {
			continue
		}
		var settings types.Kustomization
		if err := settings.Unmarshal(content); err != nil {
			return false, false
		}
		if slices.Contains(settings.BuildMetadata, types.OriginAnnotations) {
			return true, true
		}
		changed, err := withOrigins(content, settings.BuildMetadata)
		if err != nil {
			return false, false
		}
		written(changed)
		v.replaced[place], v.top = changed, place
		// With any of its metadata kustomize notes transformers too, which the build could read.
		v.originsOnly = len(settings.BuildMetadata) == 0
		return true, false
	}
	return false, false
}

// withOrigins gives a kustomization that is the same but for asking for origin annotations.
func withOrigins(content []byte, metadata []string) ([]byte, error) {
	fields, err := decode(content)
	if err != nil {
		return nil, err
	}
	for key := range fields {
		if strings.EqualFold(key, "buildMetadata") {
			delete(fields, key)
		}
	}
	fields["buildMetadata"] = append(slices.Clone(metadata), types.OriginAnnotations)
	return json.Marshal(fields)
}

// withoutLinks gives the kustomization of a folder with the folders that it names behind links named
// by where they are: kustomize builds those, but tells origins as if the links led nowhere.
func withoutLinks(v *view, at string, content []byte) []byte {
	fields, err := decode(content)
	if err != nil {
		return content
	}
	changed := false
	for key, value := range fields {
		list, ok := value.([]any)
		if !ok || !slices.ContainsFunc(folderFields, func(name string) bool { return strings.EqualFold(key, name) }) {
			continue
		}
		for index, item := range list {
			text, ok := item.(string)
			if !ok {
				continue
			}
			place := filepath.Join(at, text)
			found, target := v.stat(place)
			if found != folder || target == place {
				continue
			}
			if relative, err := filepath.Rel(at, target); err == nil {
				// Without the dot it might be taken for a place in the network.
				list[index] = "./" + relative
				changed = true
			}
		}
	}
	if !changed {
		return content
	}
	if text, err := json.Marshal(fields); err == nil {
		return text
	}
	return content
}

// folderFields are the fields of a kustomization that may name folders to build.
var folderFields = []string{"resources", "bases", "components"}

// toJSON gives a kustomization as JSON; another takes its place where the program is compiled (build.rs).
var toJSON = yaml.YAMLToJSON

// written tells whether JSON that was just written may stand in place of YAML; another takes its place as well.
var written = func([]byte) bool { return false }

func decode(content []byte) (map[string]any, error) {
	text, err := toJSON(content)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var fields map[string]any
	err = decoder.Decode(&fields)
	if err == nil && fields == nil {
		err = errors.New("it is empty")
	}
	return fields, err
}
