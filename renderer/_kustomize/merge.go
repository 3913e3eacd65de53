package builtinconfig

import "slices"

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
	one, other := t.Clone(), input.Clone()
	result, err := t.merge(input)
	if err != nil {
		return nil, err
	}
	merged[next] = merger{one, other, result.Clone()}
	next = (next + 1) % len(merged)
	return result, nil
}

// Clone gives a copy in which also a list that is not there is not there.
func (t *TransformerConfig) Clone() *TransformerConfig {
	result := *t
	result.NamePrefix = slices.Clone(t.NamePrefix)
	result.NameSuffix = slices.Clone(t.NameSuffix)
	result.NameSpace = slices.Clone(t.NameSpace)
	result.CommonLabels = slices.Clone(t.CommonLabels)
	result.Labels = slices.Clone(t.Labels)
	result.TemplateLabels = slices.Clone(t.TemplateLabels)
	result.CommonAnnotations = slices.Clone(t.CommonAnnotations)
	result.VarReference = slices.Clone(t.VarReference)
	result.Images = slices.Clone(t.Images)
	result.Replicas = slices.Clone(t.Replicas)
	result.NameReference = slices.Clone(t.NameReference)
	for index, reference := range result.NameReference {
		result.NameReference[index].Referrers = slices.Clone(reference.Referrers)
	}
	return &result
}

func (t *TransformerConfig) equals(other *TransformerConfig) bool {
	return slices.Equal(t.NamePrefix, other.NamePrefix) && slices.Equal(t.NameSuffix, other.NameSuffix) &&
		slices.Equal(t.NameSpace, other.NameSpace) && slices.Equal(t.CommonLabels, other.CommonLabels) &&
		slices.Equal(t.Labels, other.Labels) && slices.Equal(t.TemplateLabels, other.TemplateLabels) &&
		slices.Equal(t.CommonAnnotations, other.CommonAnnotations) &&
		slices.Equal(t.VarReference, other.VarReference) && slices.Equal(t.Images, other.Images) &&
		slices.Equal(t.Replicas, other.Replicas) &&
		slices.EqualFunc(t.NameReference, other.NameReference, func(a, b NameBackReferences) bool {
			return a.Gvk == b.Gvk && slices.Equal(a.Referrers, b.Referrers)
		})
}
