package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// mount is where the repository stands. Nothing else exists, not even the folders above, so a
// path that leaves the repository finds nothing, and none comes back into it by chance.
const mount = "/.gitops-windows/top of the repository"

// kind is what stands at a path.
type kind byte

const (
	missing kind = iota
	file
	folder
	// large is a file whose content the snapshot lacks.
	large
	// outside is a link that leaves the repository, or a path above it.
	outside
	// cyclic is a link that leads to itself.
	cyclic
)

// tree gives access to the files of the repository; paths are absolute, below mount.
type tree interface {
	// look tells what stands at the path, links followed, and its path without links.
	look(path string) (kind, string)
	// read gives the content of a file.
	read(path string) []byte
	// list gives the names in a folder, each after 'f', 'd' or 'l' (a link) and before a NUL.
	list(path string) []byte
}

// view is the file system that kustomize sees: the tree, with some files replaced, and read-only.
type view struct {
	tree
	// replaced holds files that stand in place of the tree's, by path.
	replaced map[string][]byte
	// direct tells that kustomizations are read with links in what they name followed.
	direct bool
	// exact tells that the controller's kustomization stands there as it writes it, and loose that it does not.
	exact, loose bool
	// originsOnly tells that the kustomization asks for origins only because it was changed to.
	originsOnly bool
	// unknown is the first large file that was to be read.
	unknown string
	// redirected tells that a link was.
	redirected bool
	// kustomizations are those that were read, in that order.
	kustomizations []kustomization
	// hashed tells that a file was read that may ask for the hash of a whole object.
	hashed bool
	// top is the kustomization of the folder that is built, and readings how often it was read.
	top      string
	readings int
	// hasTwin tells that kustomize-controller and kustomize alone read top as the same.
	hasTwin bool
	log
	heap
}

var (
	_ filesys.FileSystem = (*view)(nil)

	errReadOnly = errors.New("the repository is read-only here")
	errOutside  = errors.New("leads out of the repository")
	errCyclic   = errors.New("too many levels of symbolic links")
	errLarge    = errors.New("is too large to be read")
	errMissing  = notFound{}
)

// notFound says that there is nothing in the words of Linux, which kustomize's reports hold.
type notFound struct{}

func (notFound) Error() string        { return "no such file or directory" }
func (notFound) Is(target error) bool { return target == fs.ErrNotExist }

// OriginsOnly tells that nobody asked for more than origins (_kustomize/mark.go).
func (v *view) OriginsOnly() bool { return v.originsOnly }

func (v *view) stat(name string) (kind, string) {
	clean := filepath.Clean(name)
	if _, ok := v.replaced[clean]; ok {
		return file, clean
	}
	return v.look(clean)
}

func failure(operation, name string, found kind) error {
	var reason error = errMissing
	switch found {
	case outside:
		reason = errOutside
	case cyclic:
		reason = errCyclic
	case large:
		reason = errLarge
	}
	return &fs.PathError{Op: operation, Path: name, Err: reason}
}

func (v *view) Exists(name string) bool {
	found, _ := v.stat(name)
	exists := found == file || found == folder || found == large
	v.note(askExists, name, func() string { return seenTruth(exists) })
	return exists
}

func (v *view) IsDir(name string) bool {
	found, _ := v.stat(name)
	v.note(askFolder, name, func() string { return seenTruth(found == folder) })
	return found == folder
}

func (v *view) ReadFile(name string) ([]byte, error) {
	content, err := v.asRead(name)
	v.note(askContent, name, func() string { return seenContent(content, err) })
	return content, err
}

// asRead gives a file's content as kustomize is to read it.
func (v *view) asRead(name string) ([]byte, error) {
	content, err := v.readFile(name)
	v.spend(len(content))
	if err == nil && slices.Contains(konfig.RecognizedKustomizationFileNames(), path.Base(name)) {
		v.kustomizations = append(v.kustomizations, kustomization{at: path.Dir(name), content: content})
		if v.direct {
			direct := withoutLinks(v, path.Dir(name), content)
			v.redirected = v.redirected || !bytes.Equal(direct, content)
			content = direct
		}
	}
	return content, err
}

func (v *view) readFile(name string) ([]byte, error) {
	clean := filepath.Clean(name)
	found, target := v.stat(clean)
	switch found {
	case file:
		content, ok := v.replaced[target]
		if !ok {
			content = v.read(target)
		}
		if target == v.top {
			v.readings++
		}
		v.hashed = v.hashed || mayHash(content)
		return content, nil
	case folder:
		return nil, &fs.PathError{Op: "read", Path: name, Err: errors.New("is a directory")}
	case large:
		if v.unknown == "" {
			v.unknown = target
		}
	}
	return nil, failure("open", name, found)
}

func (v *view) CleanedAbs(name string) (filesys.ConfirmedDir, string, error) {
	folder, file, err := v.real(name)
	v.note(askReal, name, func() string { return seenReal(folder, file, err) })
	return folder, file, err
}

func (v *view) real(name string) (filesys.ConfirmedDir, string, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(mount, name)
	}
	switch found, target := v.stat(name); found {
	case folder:
		return filesys.ConfirmedDir(target), "", nil
	case file, large:
		return filesys.ConfirmedDir(path.Dir(target)), path.Base(target), nil
	default:
		return "", "", fmt.Errorf("evalsymlink failure on '%s' : %w", name, failure("lstat", name, found))
	}
}

// entries gives what is in a folder, sorted, links not followed.
func (v *view) entries(name string) ([]info, error) {
	v.lists++
	found, target := v.stat(name)
	if found != folder {
		return nil, failure("open", name, found)
	}
	var result []info
	for _, item := range bytes.Split(v.list(target), []byte{0}) {
		if len(item) < 2 {
			continue
		}
		result = append(result, info{name: string(item[1:]), letter: item[0]})
	}
	sort.Slice(result, func(i, j int) bool { return result[i].name < result[j].name })
	return result, nil
}

func (v *view) ReadDir(name string) ([]string, error) {
	entries, err := v.entries(name)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(entries))
	for _, entry := range entries {
		names = append(names, entry.name)
	}
	return names, nil
}

func (v *view) Walk(name string, visit filepath.WalkFunc) error {
	v.lists++
	found, _ := v.stat(name)
	var err error
	switch found {
	case folder:
		err = v.walk(name, info{name: path.Base(name), letter: 'd'}, visit)
	case file, large:
		err = visit(name, info{name: path.Base(name), letter: 'f'}, nil)
	default:
		err = visit(name, nil, failure("lstat", name, found))
	}
	if errors.Is(err, filepath.SkipDir) || errors.Is(err, filepath.SkipAll) {
		return nil
	}
	return err
}

func (v *view) walk(name string, at info, visit filepath.WalkFunc) error {
	if !at.IsDir() {
		return visit(name, at, nil)
	}
	entries, listing := v.entries(name)
	if err := visit(name, at, listing); err != nil || listing != nil {
		return err
	}
	for _, entry := range entries {
		err := v.walk(filepath.Join(name, entry.name), entry, visit)
		if errors.Is(err, filepath.SkipDir) {
			if entry.IsDir() {
				continue
			}
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Glob follows filepath.Glob, and like kustomize's own leaves out hidden files unless the pattern
// names one.
func (v *view) Glob(pattern string) ([]string, error) {
	if _, err := filepath.Match(pattern, ""); err != nil {
		return nil, err
	}
	matches := v.glob(filepath.Clean(pattern))
	if filesys.IsHiddenFilePath(pattern) {
		return matches, nil
	}
	return filesys.RemoveHiddenFiles(matches), nil
}

func (v *view) glob(pattern string) []string {
	if !strings.ContainsAny(pattern, `*?[\`) {
		if v.Exists(pattern) {
			return []string{pattern}
		}
		return nil
	}
	parent, last := filepath.Split(pattern)
	parent = filepath.Clean(parent)
	if parent == pattern {
		return nil
	}
	var matches []string
	for _, at := range v.glob(parent) {
		entries, err := v.entries(at)
		if err != nil {
			continue
		}
		for _, entry := range entries {
			if matched, _ := filepath.Match(last, entry.name); matched {
				matches = append(matches, filepath.Join(at, entry.name))
			}
		}
	}
	return matches
}

func (v *view) Open(name string) (filesys.File, error) {
	content, err := v.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return &opened{Reader: bytes.NewReader(content), info: info{name: path.Base(name), letter: 'f', size: int64(len(content))}}, nil
}

func (v *view) Create(string) (filesys.File, error) { return nil, errReadOnly }
func (v *view) Mkdir(string) error                  { return errReadOnly }
func (v *view) MkdirAll(string) error               { return errReadOnly }
func (v *view) RemoveAll(string) error              { return errReadOnly }
func (v *view) WriteFile(string, []byte) error      { return errReadOnly }

// opened is a file that is open for reading.
type opened struct {
	*bytes.Reader
	info info
}

func (*opened) Write([]byte) (int, error)    { return 0, errReadOnly }
func (*opened) Close() error                 { return nil }
func (o *opened) Stat() (os.FileInfo, error) { return o.info, nil }

// info is what is known of an entry without following links.
type info struct {
	name   string
	letter byte
	size   int64
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.letter == 'd' }
func (i info) Sys() any           { return nil }
func (i info) Mode() fs.FileMode {
	switch i.letter {
	case 'd':
		return fs.ModeDir | 0o755
	case 'l':
		return fs.ModeSymlink | 0o777
	}
	return 0o644
}
