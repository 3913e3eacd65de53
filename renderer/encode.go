package main

import (
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
)

// encode gives each object as JSON, the same as kustomize's own conversion gives.
//
// That conversion writes YAML and reads it again, which takes as long as the build. Here the nodes
// are read directly; a node that is in any way unusual is left to kustomize.
func encode(built resmap.ResMap) ([]json.RawMessage, error) {
	objects := make([]json.RawMessage, 0, built.Size())
	for _, res := range built.Resources() {
		text, err := encodeOne(res)
		if err != nil {
			return nil, err
		}
		objects = append(objects, text)
	}
	return objects, nil
}

func encodeOne(res *resource.Resource) (json.RawMessage, error) {
	if node := res.YNode(); node != nil && node.Kind == yaml.MappingNode {
		if value, ok := plainValue(node, 0); ok {
			return json.Marshal(value)
		}
	}
	return res.MarshalJSON()
}

const (
	// depthLimit is the depth of nodes below which plainValue leaves an object to kustomize.
	depthLimit = 200
	// quoted are the styles in which any text is a string.
	quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle
)

// plainValue reads a node that means the same under any reading; false for every other one.
func plainValue(node *yaml.Node, depth int) (any, bool) {
	if depth > depthLimit || node.Anchor != "" {
		return nil, false
	}
	switch node.Kind {
	case yaml.MappingNode:
		if tag := node.ShortTag(); tag != "!!map" {
			return nil, false
		}
		fields := make(map[string]any, len(node.Content)/2)
		for index := 0; index+1 < len(node.Content); index += 2 {
			key, ok := plainString(node.Content[index])
			if !ok {
				return nil, false
			}
			if _, doubled := fields[key]; doubled {
				return nil, false
			}
			if fields[key], ok = plainValue(node.Content[index+1], depth+1); !ok {
				return nil, false
			}
		}
		return fields, true
	case yaml.SequenceNode:
		if tag := node.ShortTag(); tag != "!!seq" {
			return nil, false
		}
		items := make([]any, len(node.Content))
		for index, item := range node.Content {
			var ok bool
			if items[index], ok = plainValue(item, depth+1); !ok {
				return nil, false
			}
		}
		return items, true
	case yaml.ScalarNode:
		if text, ok := plainString(node); ok {
			return text, true
		}
		return plainScalar(node)
	}
	return nil, false
}

// plainString gives the text of a node that is a string beyond doubt.
func plainString(node *yaml.Node) (string, bool) {
	if node.Kind != yaml.ScalarNode || node.Anchor != "" || node.Tag != "!!str" && node.Tag != "" {
		return "", false
	}
	text := node.Value
	if !clean(text) {
		return "", false
	}
	if node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		plain := node.Style&yaml.FoldedStyle == 0 && text != "" && text[0] != ' ' && text[0] != '\n'
		return text, plain
	}
	if node.Style&quoted != 0 {
		return text, true
	}
	if node.Style != 0 || text == "" || strings.Contains(text, "\n") {
		return "", false
	}
	switch first := text[0]; {
	case first >= 'a' && first <= 'z', first >= 'A' && first <= 'Z', first == '/', first == '_':
		switch strings.ToLower(text) {
		case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
			return "", false
		}
		return text, true
	}
	// What has a string's tag and does not look like one is written in quotes.
	return text, node.Tag == "!!str"
}

// plainScalar gives the value of a number, boolean or null in its usual form.
func plainScalar(node *yaml.Node) (any, bool) {
	if node.Style != 0 || node.Anchor != "" {
		return nil, false
	}
	switch node.ShortTag() {
	case "!!bool":
		switch node.Value {
		case "true":
			return true, true
		case "false":
			return false, true
		}
	case "!!null":
		switch node.Value {
		case "null", "~", "":
			return nil, true
		}
	case "!!int":
		text := strings.TrimPrefix(node.Value, "-")
		if len(text) == 0 || len(text) > 15 || text[0] == '0' && len(text) > 1 || node.Value == "-0" {
			return nil, false
		}
		for index := range len(text) {
			if text[index] < '0' || text[index] > '9' {
				return nil, false
			}
		}
		return json.Number(node.Value), true
	}
	return nil, false
}

// clean tells whether writing the text as YAML and reading it again surely gives it back.
func clean(text string) bool {
	for _, letter := range text {
		if letter < ' ' && letter != '\n' || letter == 0x7f || letter >= 0x80 && letter < 0xa0 ||
			letter == 0x2028 || letter == 0x2029 || letter == 0xfeff || letter == 0xfffd {
			return false
		}
	}
	return true
}
