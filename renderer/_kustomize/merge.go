package builtinconfig

import (
	"slices"

	"sigs.k8s.io/kustomize/api/types"
)

// Configurations are shared: whoever has one may put other lists into it, by appending too, and changes no list that
// others have. Only sortFields does, which merge calls of what it was given.

// merger is one merge that was made.
type merger struct{ one, other, merged *TransformerConfig }

// merged has the last merges, and next where to put another. In most builds there are only a few different
// ones, of Kubernetes' defaults with themselves, and each folder needs two: a fifth of its time.
var (
	merged [8]merger
	next   int
)

// Merge merges two TransformerConfigs objects into a new TransformerConfig object.
func (t *TransformerConfig) Merge(input *TransformerConfig) (*TransformerConfig, error) {
	if input == nil {
		return t, nil
	}
	for _, known := range merged {
		if known.merged != nil && known.one.equals(t) && known.other.equals(input) {
			return known.merged.Clone(), nil
		}
	}
	result, err := t.own().merge(input.own())
	if err != nil {
		return nil, err
	}
	merged[next] = merger{t.Clone(), input.Clone(), result}
	next = (next + 1) % len(merged)
	return result.Clone(), nil
}

// defaults has what MakeDefaultConfig gives: a copy of the defaults.
var defaults *TransformerConfig

func defaultsOf(config *TransformerConfig) *TransformerConfig {
	if defaults == nil {
		defaults = config.DeepCopy()
	}
	return defaults.Clone()
}

// Clone gives a configuration of the same lists, of which each may grow by itself.
func (t *TransformerConfig) Clone() *TransformerConfig {
	return t.each(slices.Clip[types.FsSlice])
}

// own gives a configuration of lists of its own, in which also a list that is not there is not there.
func (t *TransformerConfig) own() *TransformerConfig {
	result := t.each(slices.Clone[types.FsSlice])
	result.NameReference = slices.Clone(t.NameReference)
	for index, reference := range result.NameReference {
		result.NameReference[index].Referrers = slices.Clone(reference.Referrers)
	}
	return result
}

// each gives a configuration with other lists in place of these.
func (t *TransformerConfig) each(list func(types.FsSlice) types.FsSlice) *TransformerConfig {
	return &TransformerConfig{
		NamePrefix:        list(t.NamePrefix),
		NameSuffix:        list(t.NameSuffix),
		NameSpace:         list(t.NameSpace),
		CommonLabels:      list(t.CommonLabels),
		Labels:            list(t.Labels),
		TemplateLabels:    list(t.TemplateLabels),
		CommonAnnotations: list(t.CommonAnnotations),
		NameReference:     t.NameReference,
		VarReference:      list(t.VarReference),
		Images:            list(t.Images),
		Replicas:          list(t.Replicas),
	}
}

func (t *TransformerConfig) equals(other *TransformerConfig) bool {
	return equal(t.NamePrefix, other.NamePrefix) && equal(t.NameSuffix, other.NameSuffix) &&
		equal(t.NameSpace, other.NameSpace) && equal(t.CommonLabels, other.CommonLabels) &&
		equal(t.Labels, other.Labels) && equal(t.TemplateLabels, other.TemplateLabels) &&
		equal(t.CommonAnnotations, other.CommonAnnotations) && equal(t.VarReference, other.VarReference) &&
		equal(t.Images, other.Images) && equal(t.Replicas, other.Replicas) &&
		(isSame(t.NameReference, other.NameReference) ||
			slices.EqualFunc(t.NameReference, other.NameReference, func(a, b NameBackReferences) bool {
				return a.Gvk == b.Gvk && equal(a.Referrers, b.Referrers)
			}))
}

func equal(one, other types.FsSlice) bool {
	return isSame(one, other) || slices.Equal(one, other)
}

// isSame tells whether two lists are the same in memory.
func isSame[T any](one, other []T) bool {
	return len(one) == len(other) && (len(one) == 0 || &one[0] == &other[0])
}
