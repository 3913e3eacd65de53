package main

import (
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// note is one look at the files: what was asked, and all that was seen.
type note struct {
	ask  ask
	name string
	saw  string
}

// ask is what may be asked of a file system.
type ask byte

const (
	askExists ask = iota
	askFolder
	askReal
	askContent
)

// largest is how much content is kept to be compared with.
const largest = 256 << 10

// log has what was looked at for what is to be remembered (_kustomize/memo.go).
type log struct {
	notes []note
	// depth tells how many beginnings have no end yet.
	depth int
	// lists is how many folders were listed so far: what depends on that is not remembered.
	lists int
	// since has, by mark, the number of lists before.
	since map[int]int
}

// Begin begins to note.
func (v *view) Begin() int {
	if v.since == nil {
		v.since = map[int]int{}
	}
	mark := len(v.notes)
	v.since[mark] = v.lists
	v.depth++
	// No two have the same mark.
	v.notes = append(v.notes, note{})
	return mark
}

// Since gives what was looked at after a mark; nil where that can't be looked at again, or is too much.
func (v *view) Since(mark int) any {
	if v.since[mark] != v.lists {
		return nil
	}
	var size int
	var notes []note
	for _, one := range v.notes[mark:] {
		if one.name != "" {
			size += len(one.saw)
			notes = append(notes, one)
		}
	}
	if size > largest {
		return nil
	}
	return notes
}

// End ends what Begin began.
func (v *view) End() {
	if v.depth--; v.depth <= 0 {
		v.depth, v.notes, v.since = 0, nil, nil
	}
}

// Holds looks at all of it again, as the build would, and tells whether the same is seen.
func (v *view) Holds(seen any) bool {
	notes, ok := seen.([]note)
	before := *v
	for _, one := range notes {
		if ok = ok && v.again(one) == one.saw; !ok {
			// What a build reads decides how it is judged, so this was none of it.
			known := before.log
			known.notes = v.notes
			*v = before
			v.log = known
			return false
		}
	}
	return ok
}

func (v *view) again(one note) string {
	switch one.ask {
	case askExists:
		return seenTruth(v.Exists(one.name))
	case askFolder:
		return seenTruth(v.IsDir(one.name))
	case askReal:
		return seenReal(v.CleanedAbs(one.name))
	default:
		return seenContent(v.ReadFile(one.name))
	}
}

func (v *view) note(ask ask, name string, saw func() string) {
	if v.depth > 0 {
		v.notes = append(v.notes, note{ask, name, saw()})
	}
}

func seenTruth(truth bool) string {
	if truth {
		return "yes"
	}
	return "no"
}

func seenReal(folder filesys.ConfirmedDir, file string, err error) string {
	return strings.Join([]string{string(folder), file, seenError(err)}, "\x00")
}

func seenContent(content []byte, err error) string {
	return seenError(err) + "\x00" + string(content)
}

func seenError(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
