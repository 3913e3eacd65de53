package yaml

// nonStrings tells of texts whether they are no strings in YAML 1.1: a parser is made for each that a patch sets, mostly
// of the same few.
var nonStrings = map[string]bool{}

// Above these nothing is remembered, and all is forgotten.
const (
	longestText = 64
	mostTexts   = 4096
)

// IsValueNonString tells whether a text is no string in YAML 1.1.
func IsValueNonString(value string) bool {
	if len(value) > longestText {
		return isValueNonString(value)
	}
	known, ok := nonStrings[value]
	if !ok {
		if len(nonStrings) >= mostTexts {
			clear(nonStrings)
		}
		known = isValueNonString(value)
		nonStrings[value] = known
	}
	return known
}
