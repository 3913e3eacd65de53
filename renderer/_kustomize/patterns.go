package types

import "regexp"

// patterns compiles patterns as regexp does, and knows the last ones: a patch is for the same kinds in many folders.
type patterns struct{}

var compiled = map[string]*regexp.Regexp{}

// mostPatterns is how many are known, above which all are forgotten.
const mostPatterns = 256

// Compile gives a pattern as regexp.Compile does.
func (patterns) Compile(pattern string) (*regexp.Regexp, error) {
	if known := compiled[pattern]; known != nil {
		return known, nil
	}
	result, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	if len(compiled) >= mostPatterns {
		clear(compiled)
	}
	compiled[pattern] = result
	return result, nil
}
