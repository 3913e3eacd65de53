package accumulator

import (
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/resid"
)

// Hold lets the resources' ids be known until the end, which the result tells: nothing may change one of them until
// then.
func (ra *ResAccumulator) Hold() (end func()) { return resmap.Hold(ra.resMap) }

// Intersection drops the resources which "other" does not have.
func (ra *ResAccumulator) Intersection(other resmap.ResMap) error {
	kept := map[resid.ResId]bool{}
	for _, id := range other.AllIds() {
		kept[id] = true
	}
	dropped := map[resid.ResId]bool{}
	for _, id := range ra.resMap.AllIds() {
		if !kept[id] {
			dropped[id] = true
		}
	}
	if len(dropped) == 0 || resmap.RemoveAll(ra.resMap, dropped) {
		return nil
	}
	return ra.intersection(other)
}
