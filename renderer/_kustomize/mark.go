package target

import (
	"sigs.k8s.io/kustomize/api/internal/builtins"
	"sigs.k8s.io/kustomize/api/internal/utils"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// Marked is a file system in which a kustomization may ask for origins that its author did not ask for.
type Marked interface {
	// OriginsOnly tells that origins are wanted, and not what transformed the objects since.
	OriginsOnly() bool
}

// originsOnly tells that of the build at hand. Then kustomize's second annotation, which it writes with the first, reads
// and writes again for each transformer, and drops at the end, is left out: it takes half of the time.
var originsOnly bool

// mark begins a build of these files.
func mark(read filesys.FileSystem) {
	marked, ok := read.(Marked)
	originsOnly = ok && marked.OriginsOnly()
}

// isPatch tells whether a transformer tells itself what it changes (resmap.Patched, resmap.Forget).
func isPatch(t *resmap.TransformerWithProperties) bool {
	_, ok := t.Transformer.(*builtins.PatchTransformerPlugin)
	return ok
}

// addOrigins does what AddTransformerAnnotation does of origins, once for all transformers of one field.
func (o *multiTransformer) addOrigins(m resmap.ResMap, index int) error {
	origin := o.transformers[index].Origin
	if !originsOnly {
		return m.AddTransformerAnnotation(origin)
	}
	if next := index + 1; next < len(o.transformers) && o.transformers[next].Origin == origin {
		return nil
	}
	for _, res := range m.Resources() {
		if _, ok := res.GetAnnotations(utils.OriginAnnotationKey)[utils.OriginAnnotationKey]; ok {
			continue
		}
		if err := res.SetOrigin(origin); err != nil {
			return err
		}
	}
	return nil
}
