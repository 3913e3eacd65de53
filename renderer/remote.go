package main

import (
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
)

// offline is a network that has nothing.
type offline struct{}

func (offline) RoundTrip(wanted *http.Request) (*http.Response, error) {
	return nil, errors.New(remote(wanted.URL.String()))
}

func remote(place string) string {
	return fmt.Sprintf("needs the remote base `%s`, which is not in the repository", place)
}

// noGit is what kustomize says when it would clone a repository.
const noGit = "no 'git' program on path"

// accumulated finds what kustomize was about to read.
var accumulated = regexp.MustCompile(`accumulating resources from '([^']+)'`)

// wantedBase names the remote base that kustomize wanted to clone: what its report names last, or
// else what the kustomization that it read last has and the repository has not.
func wantedBase(text string, v *view) string {
	var last kustomization
	if count := len(v.kustomizations); count > 0 {
		last = v.kustomizations[count-1]
	}
	before, _, _ := strings.Cut(text, noGit)
	named := accumulated.FindAllStringSubmatch(before, -1)
	if len(named) > 0 {
		if place := named[len(named)-1][1]; !v.Exists(filepath.Join(last.at, place)) {
			return place
		}
	}
	var settings types.Kustomization
	if err := settings.Unmarshal(last.content); err == nil {
		for _, place := range append(settings.Components, settings.Resources...) {
			if !v.Exists(filepath.Join(last.at, place)) {
				return place
			}
		}
	}
	return "of another repository"
}

// explain turns kustomize's report into one that speaks of the repository.
func explain(err error, v *view) error {
	text := strings.ReplaceAll(err.Error(), mount+"/", "")
	text = strings.TrimSpace(strings.ReplaceAll(text, mount, "."))
	if v.unknown != "" {
		place := strings.TrimPrefix(v.unknown, mount+"/")
		return fmt.Errorf("needs `%s`, which is too large to be read: %s", place, text)
	}
	if strings.Contains(text, noGit) {
		return errors.New(remote(wantedBase(text, v)))
	}
	return errors.New(text)
}
