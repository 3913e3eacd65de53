package resource

import (
	"bytes"

	"sigs.k8s.io/kustomize/kyaml/kio"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// fromBytes does as kio.FromBytes, which resolves anchors. For that it copies each mapping for each mapping around it,
// though most objects have no anchor at all: those are left as they were read.
func fromBytes(in []byte) ([]*yaml.RNode, error) {
	nodes, err := (&kio.ByteReader{OmitReaderAnnotations: true, Reader: bytes.NewBuffer(in)}).Read()
	if err != nil {
		return nil, err
	}
	for _, node := range nodes {
		if isPlain(node.Document()) {
			continue
		}
		if err := node.DeAnchor(); err != nil {
			return nil, err
		}
	}
	return nodes, nil
}

// isPlain tells whether RNode.DeAnchor surely leaves a node as it is: it has no anchor, no alias and no merge, and every
// key is a usual one.
func isPlain(node *yaml.Node) bool {
	if node == nil || node.Anchor != "" {
		return false
	}
	switch node.Kind {
	case yaml.ScalarNode:
		return true
	case yaml.MappingNode:
		if len(node.Content)%2 != 0 || node.Tag == yaml.NodeTagNull {
			return false
		}
		for index := 0; index < len(node.Content); index += 2 {
			key := node.Content[index]
			if key.Kind != yaml.ScalarNode || key.Value == "" || key.Value == "<<" || key.Tag == yaml.NodeTagNull || key.Tag == yaml.MergeTag {
				return false
			}
		}
	case yaml.DocumentNode, yaml.SequenceNode:
	default:
		return false
	}
	for _, child := range node.Content {
		if !isPlain(child) {
			return false
		}
	}
	return true
}
