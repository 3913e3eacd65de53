package walk

import "sigs.k8s.io/kustomize/kyaml/yaml"

// keeper is a visitor that leaves as it is what no source but the first has.
type keeper interface{ Keeps() bool }

// Keeps tells whether what stands in the first source alone stays.
func (l Walker) Keeps() bool {
	visitor, ok := l.Visitor.(keeper)
	return ok && visitor.Keeps()
}

// stays tells whether a field surely stays as it is: a usual scalar that only the first of two sources has. Most fields of
// an object that a patch is merged into are such.
func (l Walker) stays(key string) bool {
	if len(l.Sources) != 2 || l.VisitKeysAsScalars || yaml.IsMissingOrNull(l.Sources[0]) {
		return false
	}
	if other := l.Sources[1]; other != nil && (other.YNode() == nil || other.Field(key) != nil) {
		return false
	}
	field := l.Sources[0].Field(key)
	if field == nil || !isBare(field.Key.YNode()) || !isBare(field.Value.YNode()) || field.Value.IsTaggedNull() {
		return false
	}
	// The setter quotes texts that only look like texts.
	value := field.Value.YNode()
	return value.Tag != "" && (value.Style != 0 || !field.Value.IsStringValue() || !yaml.IsYaml1_1NonString(value))
}

// isBare tells whether a node is a scalar without comments, in which schemas may stand.
func isBare(node *yaml.Node) bool {
	return node != nil && node.Kind == yaml.ScalarNode && node.LineComment == "" && node.HeadComment == ""
}

// isUncommented tells whether no schema can stand in a comment of a field.
func isUncommented(field *yaml.MapNode) bool {
	for _, part := range []*yaml.RNode{field.Key, field.Value} {
		if node := part.YNode(); node == nil || node.LineComment != "" || node.HeadComment != "" {
			return false
		}
	}
	return true
}
