package accumulator

import (
	"strings"

	"sigs.k8s.io/kustomize/api/filters/nameref"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/resid"
	kyaml "sigs.k8s.io/kustomize/kyaml/utils"
)

// isStill tells whether no reference is a part of what makes ids: then they stay while references are mended.
func (t *nameReferenceTransformer) isStill() bool {
	for _, back := range t.backRefs {
		for _, referrer := range back.Referrers {
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
