// Command renderer is the kustomize inside gitops-windows.
//
// It is compiled for wasip1 and run by gitops-windows in a sandbox that has no files, network,
// clock or processes. It reads one request a line from standard input, asks the host for the
// repository's files (host_wasip1.go), and writes one answer a line to standard output, in the order
// of the requests. An answer is written as soon as it is known, so that the host can tell which
// request a crash belongs to.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
)

// request asks for one build.
type request struct {
	// Index is given back with the answer.
	Index int `json:"index"`
	// Path is the folder to build, relative to the top of the repository; "" is the top.
	Path string `json:"path"`
	// Origins tells whether the answer names where each object came from.
	Origins bool `json:"origins"`
	// Flux is the spec of the Flux Kustomization that builds the folder; nil builds it as
	// `kustomize build` does.
	Flux *fluxSpec `json:"flux"`
}

// answer gives the objects of one build, or why there are none.
type answer struct {
	Index   int               `json:"index"`
	Objects []json.RawMessage `json:"objects"`
	// Origins has one element an object, or is absent.
	Origins []*origin `json:"origins,omitempty"`
	// Twin tells that kustomize alone and kustomize-controller, for a Flux Kustomization without any
	// field, both come to this answer.
	Twin  bool   `json:"twin,omitempty"`
	Error string `json:"error,omitempty"`
}

// stackLimit ends a runaway recursion before it has taken all of the memory.
const stackLimit = 64 << 20

func main() {
	debug.SetMaxStack(stackLimit)
	http.DefaultTransport = offline{}
	if err := serve(os.Stdin, os.Stdout, open()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// many is how many requests make it likely that there will be more.
const many = 8

// ballast is memory that nobody uses, and that costs nothing but addresses. The collector lets memory grow by
// a share of what there is, which is little: with this there is more, and it runs a fifth as often.
var ballast []byte

// serve answers requests until there are no more.
func serve(in io.Reader, out io.Writer, files tree) error {
	lines := bufio.NewReader(in)
	for count := 1; ; count++ {
		if count == many {
			ballast = make([]byte, 24<<20)
		}
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		var wanted request
		if err := json.Unmarshal(line, &wanted); err != nil {
			return fmt.Errorf("request: %w", err)
		}
		text, err := json.Marshal(respond(files, wanted))
		if err != nil {
			return fmt.Errorf("answer: %w", err)
		}
		if _, err := out.Write(append(text, '\n')); err != nil {
			return err
		}
		// Let the collector go on: a build gives it no other turn, and pays for each pointer that it writes meanwhile.
		runtime.Gosched()
	}
}

// respond builds one folder and turns a failure into an answer.
func respond(files tree, wanted request) (result answer) {
	result, err := render(files, wanted)
	if err != nil {
		result = answer{Error: err.Error()}
	}
	result.Index = wanted.Index
	return result
}
