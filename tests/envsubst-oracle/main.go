// Command envsubst-oracle fills variables in with fluxcd/pkg/envsubst, as kustomize-controller does.
//
// Each line of stdin is a JSON object: `text` is filled in as it is, or `object` as its YAML (fluxcd/pkg/kustomize,
// `varSubstitution`), with the values of `vars`. Each answer is a line of JSON.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"github.com/fluxcd/pkg/envsubst"
	"sigs.k8s.io/yaml"
)

type question struct {
	Text   string            `json:"text"`
	Object json.RawMessage   `json:"object"`
	Vars   map[string]string `json:"vars"`
	// Strict fails by a variable that is not among the values.
	Strict bool `json:"strict"`
}

type answer struct {
	// Text is what a text comes to, or an object's YAML before anything is filled in.
	Text   string          `json:"text"`
	Object json.RawMessage `json:"object,omitempty"`
	Error  string          `json:"error,omitempty"`
	// Bytes tells that Text is no UTF-8.
	Bytes bool `json:"bytes,omitempty"`
}

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			var asked question
			if err := json.Unmarshal(line, &asked); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			if err := encoder.Encode(asked.answer()); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
		if err != nil {
			return
		}
	}
}

func (asked question) answer() (result answer) {
	defer func() {
		if failure := recover(); failure != nil {
			result.Error = fmt.Sprint("panic: ", failure)
		}
	}()
	text := asked.Text
	if asked.Object != nil {
		written, err := yaml.JSONToYAML(asked.Object)
		if err != nil {
			return answer{Error: "JSONToYAML: " + err.Error()}
		}
		text = string(written)
		result.Text = text
	}
	filled, err := envsubst.Eval(text, func(name string) (string, bool) {
		value, found := asked.Vars[name]
		return value, found || !asked.Strict
	})
	if err != nil {
		result.Error = err.Error()
		return result
	}
	if asked.Object == nil {
		result.Text = filled
		encoded, _ := json.Marshal(filled)
		var again string
		result.Bytes = json.Unmarshal(encoded, &again) != nil || again != filled
		return result
	}
	read, err := yaml.YAMLToJSON([]byte(filled))
	if err != nil {
		result.Error = "YAMLToJSON: " + err.Error()
		return result
	}
	// The object is a map (kyaml, `RNode.UnmarshalJSON`).
	var object map[string]any
	if err := json.Unmarshal(read, &object); err != nil {
		result.Error = "UnmarshalJSON: " + err.Error()
		return result
	}
	result.Object = read
	return result
}
