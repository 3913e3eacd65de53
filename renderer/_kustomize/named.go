package resmap

import (
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/resid"
)

// named finds resources by the ids that they have and had, while patches change them one after the other: kustomize
// reads all resources for each patch that names its own.
type named struct {
	// on tells that it is known when anything but such a patch changes a resource.
	on bool
	// asked is how often it was asked since.
	asked int
	// found has the resources by their ids; nil until it is worth it.
	found map[key][]*resource.Resource
	// ids has their ids by the resources.
	ids map[*resource.Resource][]key
}

// Patching lets a list find resources for patches by their ids until the end, which the result tells. Until then
// Patched or Forget is told each change.
func Patching(list ResMap) (end func()) {
	m, ok := list.(*resWrangler)
	if !ok || m.named.on {
		return func() {}
	}
	m.named = named{on: true}
	return func() { m.named = named{} }
}

// Forget tells that any resource may have become another.
func Forget(list ResMap) {
	if m, ok := list.(*resWrangler); ok {
		m.named = named{on: m.named.on}
	}
}

// Patched tells that a resource was changed, and no other one.
func Patched(list ResMap, res *resource.Resource) {
	m, ok := list.(*resWrangler)
	if !ok || m.named.found == nil {
		return
	}
	for _, id := range m.named.ids[res] {
		all := m.named.found[id]
		left := make([]*resource.Resource, 0, len(all))
		for _, other := range all {
			if other != res {
				left = append(left, other)
			}
		}
		m.named.found[id] = left
	}
	delete(m.named.ids, res)
	m.named.note(res)
}

// ById gives the one resource that has or had an id, as GetById does.
func ById(list ResMap, id resid.ResId) (*resource.Resource, error) {
	m, ok := list.(*resWrangler)
	if !ok || !m.named.on {
		return list.GetById(id)
	}
	m.named.asked++
	if m.named.asked == 1 {
		return list.GetById(id)
	}
	if m.named.found == nil {
		m.named.found = make(map[key][]*resource.Resource, len(m.rList))
		m.named.ids = make(map[*resource.Resource][]key, len(m.rList))
		for _, res := range m.rList {
			m.named.note(res)
		}
	}
	if found := m.named.found[keyOf(id)]; len(found) == 1 {
		return found[0], nil
	}
	return list.GetById(id)
}

func (n *named) note(res *resource.Resource) {
	if res.RNode.IsNilOrEmpty() {
		return
	}
	var ids []key
	for _, id := range append(res.PrevIds(), res.CurId()) {
		key := keyOf(id)
		if all := n.found[key]; len(all) == 0 || all[len(all)-1] != res {
			n.found[key] = append(all, res)
			ids = append(ids, key)
		}
	}
	n.ids[res] = ids
}
