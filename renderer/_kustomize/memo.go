package target

import (
	"strings"

	"sigs.k8s.io/kustomize/api/ifc"
	"sigs.k8s.io/kustomize/api/internal/accumulator"
	"sigs.k8s.io/kustomize/kyaml/errors"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/openapi"
	"sigs.k8s.io/kustomize/kyaml/openapi/kubernetesapi"
)

// Watched is a file system that notes what is looked at through it.
type Watched interface {
	filesys.FileSystem
	// Begin begins to note.
	Begin() (mark int)
	// Since gives what was looked at since, and what was seen; nil where that is too much to be kept.
	Since(mark int) (seen any)
	// End ends what Begin began.
	End()
	// Holds looks again, and tells whether the same is seen.
	Holds(seen any) bool
}

// files is what the build at hand reads; nil where nobody notes that.
var files Watched

// Watch begins a build of these files.
func Watch(read filesys.FileSystem) {
	files, _ = read.(Watched)
	path = nil
	mark(read)
}

// accumulated is what a folder came to that another one lists.
type accumulated struct {
	seen any
	// roots are the folders that were entered below it.
	roots []string
	ra    *accumulator.ResAccumulator
}

// folders has what folders came to: those that were entered at least twice, as bases of many overlays are.
var (
	folders = map[string]accumulated{}
	entered = map[string]bool{}
	// path has the folders on the way to the one that is read.
	path []*reading
)

// Above these numbers all is forgotten.
const (
	mostFolders = 256
	mostEntered = 16384
)

// reading is a folder while it is read.
type reading struct {
	key string
	// from is the folder that lists it.
	from  string
	mark  int
	roots []string
	// known tells that what it comes to depends on nothing but the key and what is looked at.
	known bool
}

// enter begins with a folder.
func (kt *KustTarget) enter(ldr ifc.Loader, isComponent bool) *reading {
	root := ldr.Root()
	r := &reading{from: kt.ldr.Root(), roots: []string{root}}
	if files == nil {
		return r
	}
	r.known = !isComponent && ldr.Repo() == "" && openapi.GetSchemaVersion() == kubernetesapi.DefaultOpenAPI
	origin := "none"
	if kt.origin != nil {
		text, err := kt.origin.String()
		origin, r.known = text, r.known && err == nil
	}
	if originsOnly {
		origin += " only"
	}
	r.key = strings.Join(append([]string{root, origin}, kt.kustomization.BuildMetadata...), "\x00")
	path = append(path, r)
	r.mark = files.Begin()
	return r
}

// again adds to ra what the folder came to before, where it would come to the same now; false where that is not known.
func (r *reading) again(ra *accumulator.ResAccumulator) (bool, error) {
	if files == nil || !r.known {
		return false, nil
	}
	found, ok := folders[r.key]
	if !ok || isCycle(found.roots) || !files.Holds(found.seen) {
		return false, nil
	}
	r.roots = append(r.roots, found.roots...)
	if err := ra.MergeAccumulator(found.ra.Copy()); err != nil {
		return true, errors.WrapPrefixf(err, "recursed merging from path '%s'", r.roots[0])
	}
	return true, nil
}

// isCycle tells whether one of these folders holds one of those on the way to it (FileLoader, errIfArgEqualOrHigher).
func isCycle(roots []string) bool {
	for _, root := range roots {
		for _, above := range path {
			if isWithin(above.from, root) {
				return true
			}
		}
	}
	return false
}

func isWithin(folder, root string) bool {
	return folder == root || strings.HasPrefix(folder, strings.TrimSuffix(root, "/")+"/")
}

// keep remembers what the folder came to.
func (r *reading) keep(kt *KustTarget, ra *accumulator.ResAccumulator) {
	if files == nil {
		return
	}
	if len(kt.kustomization.OpenAPI) > 0 {
		for _, one := range path {
			one.known = false
		}
	}
	if !r.known || len(ra.Vars()) > 0 || openapi.GetSchemaVersion() != kubernetesapi.DefaultOpenAPI {
		return
	}
	if !entered[r.key] {
		if len(entered) >= mostEntered {
			clear(entered)
		}
		entered[r.key] = true
		return
	}
	seen := files.Since(r.mark)
	if seen == nil {
		return
	}
	if len(folders) >= mostFolders {
		clear(folders)
	}
	folders[r.key] = accumulated{seen: seen, roots: r.roots, ra: ra.Copy()}
}

// leave ends with a folder.
func (r *reading) leave() {
	if files == nil {
		return
	}
	files.End()
	path = path[:len(path)-1]
	if len(path) > 0 {
		above := path[len(path)-1]
		above.roots = append(above.roots, r.roots...)
	}
}
