//go:build !wasip1

package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// disk is a repository on the disk, for builds outside of the sandbox: what those take is the price
// of kustomize itself.
type disk string

// open gives the repository that the program's argument names, or the current folder.
func open() tree {
	top := "."
	if len(os.Args) > 1 {
		top = os.Args[1]
	}
	top, err := filepath.Abs(top)
	if err == nil {
		top, err = filepath.EvalSymlinks(top)
	}
	if err != nil {
		panic(err)
	}
	return disk(top)
}

func (d disk) place(path string) string {
	return string(d) + strings.TrimPrefix(path, mount)
}

func (d disk) look(path string) (kind, string) {
	if path != mount && !strings.HasPrefix(path, mount+"/") {
		return outside, ""
	}
	real, err := filepath.EvalSymlinks(d.place(path))
	if errors.Is(err, fs.ErrNotExist) {
		return missing, ""
	}
	if err != nil {
		return cyclic, ""
	}
	below, err := filepath.Rel(string(d), real)
	if err != nil || below == ".." || strings.HasPrefix(below, "../") {
		return outside, ""
	}
	found, err := os.Stat(real)
	switch {
	case err != nil:
		return missing, ""
	case found.IsDir():
		return folder, filepath.Join(mount, below)
	default:
		return file, filepath.Join(mount, below)
	}
}

func (d disk) read(path string) []byte {
	content, err := os.ReadFile(d.place(path))
	if err != nil {
		panic(err)
	}
	return content
}

func (d disk) list(path string) []byte {
	entries, err := os.ReadDir(d.place(path))
	if err != nil {
		panic(err)
	}
	var names []byte
	for _, entry := range entries {
		letter := byte('f')
		switch {
		case entry.IsDir():
			letter = 'd'
		case entry.Type()&fs.ModeSymlink != 0:
			letter = 'l'
		}
		names = append(append(append(names, letter), entry.Name()...), 0)
	}
	return names
}
