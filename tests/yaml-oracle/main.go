// Command yaml-oracle reads YAML texts, each a JSON string on a line of stdin, and writes for each a
// line of JSON: what Go's YAML readers make of it.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"
	sigs "sigs.k8s.io/yaml"
)

type answer struct {
	// V3 holds the documents as go-yaml v3 has them; absent on an error.
	V3      []any  `json:"v3,omitempty"`
	V3Error string `json:"v3error,omitempty"`
	// V2 holds the first document as sigs.k8s.io/yaml has it.
	V2      json.RawMessage `json:"v2,omitempty"`
	V2Error string          `json:"v2error,omitempty"`
}

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for {
		line, err := in.ReadString('\n')
		if line != "" {
			var text string
			if err := json.Unmarshal([]byte(line), &text); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			encoded, err := json.Marshal(read(text))
			if err != nil {
				encoded = []byte(fmt.Sprintf(`{"v3error":%q,"v2error":"-"}`, err.Error()))
			}
			out.Write(encoded)
			out.WriteByte('\n')
		}
		if err != nil {
			return
		}
	}
}

func read(text string) (result answer) {
	defer func() {
		if failure := recover(); failure != nil {
			result.V3Error = fmt.Sprint(failure)
		}
	}()
	if value, err := sigs.YAMLToJSON([]byte(text)); err != nil {
		result.V2Error = err.Error()
	} else {
		result.V2 = value
	}
	decoder := yaml.NewDecoder(strings.NewReader(text))
	for {
		var node yaml.Node
		err := decoder.Decode(&node)
		if errors.Is(err, io.EOF) {
			return result
		}
		if err != nil {
			result.V3, result.V3Error = nil, err.Error()
			return result
		}
		value, err := plain(&node)
		if err != nil {
			result.V3, result.V3Error = nil, err.Error()
			return result
		}
		result.V3 = append(result.V3, value)
	}
}

func plain(node *yaml.Node) (any, error) {
	switch node.Kind {
	case yaml.DocumentNode:
		if len(node.Content) == 0 {
			return nil, nil
		}
		return plain(node.Content[0])
	case yaml.AliasNode:
		return plain(node.Alias)
	case yaml.SequenceNode:
		items := []any{}
		for _, child := range node.Content {
			item, err := plain(child)
			if err != nil {
				return nil, err
			}
			items = append(items, item)
		}
		return items, nil
	case yaml.MappingNode:
		result := map[string]any{}
		return result, fill(result, node)
	}
	if node.ShortTag() == "!!timestamp" {
		return node.Value, nil
	}
	var value any
	if err := node.Decode(&value); err != nil {
		return nil, err
	}
	if number, ok := value.(float64); ok && (math.IsNaN(number) || math.IsInf(number, 0)) {
		return node.Value, nil
	}
	return value, nil
}

func fill(result map[string]any, node *yaml.Node) error {
	for pass := range 2 {
		for i := 0; i+1 < len(node.Content); i += 2 {
			key, child := node.Content[i], node.Content[i+1]
			if merge := key.ShortTag() == "!!merge"; merge != (pass == 0) {
				continue
			} else if merge {
				for child.Kind == yaml.AliasNode {
					child = child.Alias
				}
				sources := []*yaml.Node{child}
				if child.Kind == yaml.SequenceNode {
					sources = child.Content
				}
				for j := len(sources) - 1; j >= 0; j-- {
					source := sources[j]
					for source.Kind == yaml.AliasNode {
						source = source.Alias
					}
					if err := fill(result, source); err != nil {
						return err
					}
				}
				continue
			}
			name, err := plain(key)
			if err != nil {
				return err
			}
			text, ok := name.(string)
			if !ok {
				encoded, err := json.Marshal(name)
				if err != nil {
					return err
				}
				text = string(encoded)
			}
			if result[text], err = plain(child); err != nil {
				return err
			}
		}
	}
	return nil
}
