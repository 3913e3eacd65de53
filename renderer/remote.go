package main

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// offline is a network that has nothing.
type offline struct{}

func (offline) RoundTrip(wanted *http.Request) (*http.Response, error) {
	return nil, fmt.Errorf("%s", remote(wanted.URL.String()))
}

func remote(place string) string {
	return fmt.Sprintf("needs the remote base `%s`, which is not in the repository", place)
}

// fetched finds what kustomize wanted to clone in its report that there is no git.
var fetched = regexp.MustCompile(`(?s)accumulating resources from '([^']+)'.*no 'git' program on path`)

// explain turns kustomize's report into one that speaks of the repository.
func explain(err error, v *view) error {
	text := strings.ReplaceAll(err.Error(), mount+"/", "")
	text = strings.TrimSpace(strings.ReplaceAll(text, mount, "."))
	if v.unknown != "" {
		place := strings.TrimPrefix(v.unknown, mount+"/")
		return fmt.Errorf("needs `%s`, which is too large to be read: %s", place, text)
	}
	if strings.Contains(text, "no 'git' program on path") {
		place := "of another repository"
		if match := fetched.FindStringSubmatch(text); match != nil {
			return fmt.Errorf("%s", remote(match[1]))
		}
		return fmt.Errorf("needs a remote base %s, which is not in the repository: %s", place, text)
	}
	return fmt.Errorf("%s", text)
}
