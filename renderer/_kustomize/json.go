package types

import (
	"bytes"
	"encoding/json"
	"slices"

	"sigs.k8s.io/yaml"
)

// asJSON is a kustomization that was read, and what it is as JSON.
type asJSON struct {
	text string
	json []byte
}

// read has the last kustomizations that were read. Each is read by several, one after the other, which takes a fifth of
// a small build, and then for the next overlay.
var (
	read [32]asJSON
	next int
)

// longest is how much text is kept.
const longest = 64 << 10

// ToJSON gives a kustomization as JSON, which the caller may change.
func ToJSON(content []byte) ([]byte, error) {
	if len(content) > longest {
		return yaml.YAMLToJSON(content)
	}
	for _, known := range read {
		if known.json != nil && known.text == string(content) {
			return slices.Clone(known.json), nil
		}
	}
	result, err := yaml.YAMLToJSON(content)
	if err != nil {
		return nil, err
	}
	know(content, result)
	return result, nil
}

func know(content, result []byte) {
	read[next] = asJSON{string(content), slices.Clone(result)}
	next = (next + 1) % len(read)
}

// Written takes a kustomization that encoding/json has just written for what it is when it is read; false where it may be
// read as another.
func Written(content []byte) bool {
	if len(content) > longest || !isPlain(content) {
		return false
	}
	know(content, content)
	return true
}

// Plain gives the configuration of a plugin as JSON that is read as what it is; nil where it may be read as another.
func Plain(configuration any) []byte {
	content, err := json.Marshal(configuration)
	if err != nil || !Written(content) {
		return nil
	}
	return content
}

// Unmarshal reads YAML, and JSON that is known as what it is.
func Unmarshal(content []byte, into any) error {
	for _, known := range read {
		if known.text == string(content) && bytes.Equal(known.json, content) && json.Unmarshal(content, into) == nil {
			return nil
		}
	}
	return yaml.Unmarshal(content, into)
}

// longestKey is how long a text surely may be as a key of YAML.
const longestKey = 512

// isPlain tells whether text that encoding/json wrote is the same in YAML: of usual letters, and escaped as YAML does too.
// Long keys are none there, and one that reads `<<` is another thing.
func isPlain(content []byte) bool {
	if bytes.Contains(content, []byte(`"\u003c\u003c"`)) {
		return false
	}
	begin := -1
	for index := 0; index < len(content); index++ {
		switch letter := content[index]; {
		case letter < ' ' || letter > '~':
			return false
		case letter == '\\':
			index++
		case letter == '"' && begin < 0:
			begin = index
		case letter == '"':
			isKey := index+1 < len(content) && content[index+1] == ':'
			if isKey && index-begin > longestKey {
				return false
			}
			begin = -1
		}
	}
	return true
}
