package accumulator

import (
	"strings"

	"sigs.k8s.io/kustomize/api/filters/nameref"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/resid"
	kyaml "sigs.k8s.io/kustomize/kyaml/utils"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// isStill tells whether no reference is a part of what makes ids: then they stay while references are mended.
func (t *nameReferenceTransformer) isStill() bool {
	for _, back := range t.backRefs {
		for _, referrer := range back.Referrers {
			if isOfContent(referrer.Path) {
				continue
			}
			path := kyaml.PathSplitter(referrer.Path, "/")
			switch field := strings.TrimSuffix(path[0], "[]"); field {
			case "", "apiVersion", "kind":
				return false
			case "metadata":
				if len(path) < 3 || path[1] != "annotations" && path[1] != "labels" ||
					strings.HasPrefix(path[2], konfig.ConfigAnnoDomain) {
					return false
				}
			}
		}
	}
	return true
}

// isOfContent tells whether a path surely leads to neither the type nor the metadata, as nearly all do.
func isOfContent(path string) bool {
	return strings.HasPrefix(path, "spec/") && !strings.Contains(path, "\\")
}

// still mends the references as Transform does, where ids stay: one resource after the other, and what a name may
// mean is found by it. The order of the resources is of no consequence; in Transform it is that of a map.
func (t *nameReferenceTransformer) still(resources []*resource.Resource) error {
	ids := make([]resid.ResId, len(resources))
	for index, res := range resources {
		ids[index] = res.OrgId()
	}
	found := nameref.NewIndex(resources, ids)
	for index, res := range resources {
		var candidates *nameref.Candidates
		// The first filter tells whether the resource can be read at all.
		isRead := false
		for _, back := range t.backRefs {
			for _, referrer := range back.Referrers {
				if !ids[index].IsSelected(&referrer.Gvk) {
					continue
				}
				if candidates == nil {
					var err error
					if candidates, err = found.From(res); err != nil {
						return err
					}
				}
				if isRead && isMissing(res, referrer.Path) {
					continue
				}
				isRead = true
				if err := res.ApplyFilter(nameref.Filter{
					Referrer:          res,
					NameFieldToUpdate: referrer,
					ReferralTarget:    back.Gvk,
					Candidates:        candidates,
				}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// isMissing tells whether a path surely leads to no field, as most do: then a filter does nothing
// (filters/fieldspec/fieldspec.go, handleMap).
func isMissing(res *resource.Resource, path string) bool {
	node := res.YNode()
	for name, rest, more := "", path, true; more; {
		name, rest, more = strings.Cut(rest, "/")
		name = strings.TrimSuffix(name, "[]")
		if node.Kind != yaml.MappingNode || !isPlain(name) {
			return false
		}
		at := -1
		for index := 0; index+1 < len(node.Content); index += 2 {
			if node.Content[index].Value == name {
				if at >= 0 {
					return false
				}
				at = index + 1
			}
		}
		if at < 0 {
			return true
		}
		node = node.Content[at]
	}
	return false
}

// isPlain tells whether a name stands for itself in a path.
func isPlain(name string) bool {
	for _, letter := range []byte(name) {
		if (letter < 'a' || letter > 'z') && (letter < 'A' || letter > 'Z') {
			return false
		}
	}
	return name != ""
}
