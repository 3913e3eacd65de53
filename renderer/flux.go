package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"
	"sigs.k8s.io/yaml"
)

// fluxSpec holds what kustomize-controller merges into the folder's kustomization before it builds
// (github.com/fluxcd/pkg/kustomize, Generator.GenerateManifest), and what it sets on the objects
// afterwards. Everything else in the spec is of no consequence for the objects, and postBuild
// stays text.
type fluxSpec struct {
	TargetNamespace         *string         `json:"targetNamespace"`
	NamePrefix              *string         `json:"namePrefix"`
	NameSuffix              *string         `json:"nameSuffix"`
	Patches                 []fluxPatch     `json:"patches"`
	Images                  []types.Image   `json:"images"`
	Components              []string        `json:"components"`
	IgnoreMissingComponents bool            `json:"ignoreMissingComponents"`
	BuildMetadata           []string        `json:"buildMetadata"`
	CommonMetadata          *commonMetadata `json:"commonMetadata"`
}

// fluxPatch is a patch with its target.
type fluxPatch struct {
	Patch  string        `json:"patch"`
	Target *fluxSelector `json:"target"`
}

// fluxSelector tells what a patch is for.
type fluxSelector struct {
	Group              string `json:"group"`
	Version            string `json:"version"`
	Kind               string `json:"kind"`
	Name               string `json:"name"`
	Namespace          string `json:"namespace"`
	LabelSelector      string `json:"labelSelector"`
	AnnotationSelector string `json:"annotationSelector"`
}

// commonMetadata is set on each object.
type commonMetadata struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// apply puts the kustomization that the controller would write into the view, and looks for the twin where nothing is merged
// into the folder's own.
func (spec *fluxSpec) apply(v *view, at string) error {
	if !v.IsDir(at) {
		return fmt.Errorf("kustomization path not found: %s is no folder", at)
	}
	place, settings, err := findOrGenerate(v, at)
	if err != nil {
		return err
	}
	setText(&settings.Namespace, spec.TargetNamespace)
	setText(&settings.NamePrefix, spec.NamePrefix)
	setText(&settings.NameSuffix, spec.NameSuffix)
	for _, patch := range spec.Patches {
		settings.Patches = append(settings.Patches, types.Patch{Patch: patch.Patch, Target: patch.Target.selector()})
	}
	for _, component := range spec.Components {
		if !isLocal(component) {
			return fmt.Errorf("component path '%s' must be local and relative", component)
		}
		if spec.IgnoreMissingComponents && !v.Exists(filepath.Join(at, component)) {
			continue
		}
		settings.Components = append(settings.Components, component)
	}
	for _, image := range spec.Images {
		settings.Images = withImage(settings.Images, image)
	}
	if len(spec.BuildMetadata) > 0 {
		settings.BuildMetadata = spec.BuildMetadata
	}
	content, err := spec.marshal(v, settings)
	if err != nil {
		return err
	}
	if reflect.DeepEqual(*spec, fluxSpec{}) {
		v.top, v.hasTwin = twin(v, place, settings)
	}
	v.replaced[place], v.top = content, place
	return nil
}

// marshal gives the kustomization that the controller would write. As JSON that takes half the time, and reading it too: what
// is read as a kustomization alone, as nearly all are, may be either.
func (spec *fluxSpec) marshal(v *view, settings types.Kustomization) ([]byte, error) {
	if !v.exact {
		if content, err := json.Marshal(settings); err == nil && written(content) {
			v.loose = true
			return content, nil
		}
	}
	return yaml.Marshal(settings)
}

// unmarshal reads a kustomization as the controller does. That reads text where there should be text, even if it looks like
// a number; where none does, it is as others read it, who may have done so already.
func unmarshal(content []byte, settings *types.Kustomization) error {
	if text, err := toJSON(content); err == nil {
		found := *settings
		if json.Unmarshal(text, &found) == nil {
			*settings = found
			return nil
		}
	}
	return yaml.Unmarshal(content, settings)
}

// findOrGenerate gives the folder's kustomization, or one that lists what lies in the folder, and
// where it stands.
func findOrGenerate(v *view, at string) (string, types.Kustomization, error) {
	settings := types.Kustomization{
		TypeMeta: types.TypeMeta{APIVersion: types.KustomizationVersion, Kind: types.KustomizationKind},
	}
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		place := filepath.Join(at, name)
		if !v.Exists(place) || v.IsDir(place) {
			continue
		}
		content, err := v.ReadFile(place)
		if err == nil {
			err = unmarshal(content, &settings)
		}
		if len(settings.Resources) == 0 {
			// The controller does so to keep kustomize from refusing an empty kustomization.
			settings.BuildMetadata = []string{types.OriginAnnotations}
		}
		return place, settings, err
	}
	resources, err := manifests(v, at)
	settings.Resources = resources
	if len(resources) == 0 {
		settings.Namespace = "_placeholder"
	}
	return filepath.Join(at, konfig.DefaultKustomizationFileName()), settings, err
}

// manifests lists what a generated kustomization has as resources: YAML files, and folders with
// a kustomization of their own instead of what they hold.
func manifests(v *view, at string) ([]string, error) {
	var found []string
	objects := provider.NewDefaultDepProvider().GetResourceFactory()
	err := v.Walk(at, func(place string, info os.FileInfo, err error) error {
		if err != nil || place == at {
			return err
		}
		relative := "." + strings.TrimPrefix(place, at)
		if info.IsDir() {
			for _, name := range konfig.RecognizedKustomizationFileNames() {
				if inner := filepath.Join(place, name); v.Exists(inner) && !v.IsDir(inner) {
					found = append(found, relative)
					return filepath.SkipDir
				}
			}
			return nil
		}
		if extension := filepath.Ext(place); extension != ".yaml" && extension != ".yml" || leftOut(place) {
			return nil
		}
		content, err := v.ReadFile(place)
		if err != nil {
			return err
		}
		if err := parses(func() error { _, err := objects.SliceFromBytes(content); return err }); err != nil {
			return fmt.Errorf("failed to decode Kubernetes YAML from %s: %w", place, err)
		}
		found = append(found, relative)
		return nil
	})
	return found, err
}

// leftOut tells whether source-controller leaves the file out of the artifact by default
// (github.com/fluxcd/pkg/sourceignore, ExcludeCI and ExcludeExtra).
func leftOut(place string) bool {
	return slices.Contains([]string{
		".goreleaser.yml", ".goreleaser.brew.yml", ".sops.yaml", ".flux.yaml",
		".travis.yml", ".gitlab-ci.yml", "appveyor.yml", ".drone.yml",
		"cloudbuild.yaml", "codeship-services.yml", "codeship-steps.yml",
	}, filepath.Base(place))
}

// parses runs a reader that may panic.
func parses(read func() error) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("%v", reason)
		}
	}()
	return read()
}

// finish sets the common metadata, which wins over what the objects have.
func (spec *fluxSpec) finish(built resmap.ResMap) error {
	if spec.CommonMetadata == nil {
		return nil
	}
	for _, res := range built.Resources() {
		if common := spec.CommonMetadata.Labels; len(common) > 0 {
			labels := res.GetLabels()
			maps.Copy(labels, common)
			if err := res.SetLabels(labels); err != nil {
				return err
			}
		}
		if common := spec.CommonMetadata.Annotations; len(common) > 0 {
			annotations := res.GetAnnotations()
			maps.Copy(annotations, common)
			if err := res.SetAnnotations(annotations); err != nil {
				return err
			}
		}
	}
	return nil
}

// withImage overrides the entry of the same name field by field; tag and digest go together.
func withImage(images []types.Image, image types.Image) []types.Image {
	image = types.Image{Name: image.Name, NewName: image.NewName, NewTag: image.NewTag, Digest: image.Digest}
	index := slices.IndexFunc(images, func(other types.Image) bool { return other.Name == image.Name })
	if index < 0 {
		return append(images, image)
	}
	if image.NewName != "" {
		images[index].NewName = image.NewName
	}
	if image.NewTag != "" || image.Digest != "" {
		images[index].NewTag, images[index].Digest = image.NewTag, image.Digest
	}
	return images
}

func (s *fluxSelector) selector() *types.Selector {
	if s == nil {
		return nil
	}
	return &types.Selector{
		ResId: resid.ResId{
			Gvk:       resid.Gvk{Group: s.Group, Version: s.Version, Kind: s.Kind},
			Name:      s.Name,
			Namespace: s.Namespace,
		},
		LabelSelector:      s.LabelSelector,
		AnnotationSelector: s.AnnotationSelector,
	}
}

// isLocal tells whether kustomize would look for the path in the repository.
func isLocal(place string) bool {
	lower := strings.ToLower(place)
	for _, scheme := range []string{
		"git::", "gh:", "ssh://", "https://", "http://", "git@", "github.com:", "github.com/",
	} {
		if len(scheme) < len(lower) && strings.HasPrefix(lower, scheme) {
			return false
		}
	}
	return !filepath.IsAbs(place) && !filepath.IsAbs(strings.TrimPrefix(lower, "file://"))
}

func setText(field *string, value *string) {
	if value != nil {
		*field = *value
	}
}
