package resmap

import (
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/resid"
)

// key is what ResId.Equals compares.
type key struct{ group, version, kind, name, namespace string }

func keyOf(id resid.ResId) key {
	return key{id.Group, id.Version, id.Kind, id.Name, id.EffectiveNamespace()}
}

// known has the ids of a list while nothing but the list itself changes: what is added is looked for in them,
// instead of in every resource before it. What they have is looked up again as kustomize does, so that one too many
// costs time and nothing else.
type known struct {
	// depth tells how many holds have no end yet.
	depth int
	// size is the length of the list whose ids these are.
	size int
	// current has the current ids, all the previous ones too; nil until they are asked for.
	current, all map[key]struct{}
}

// Hold lets a list keep its resources' ids until the end, which the result tells it. Until then nothing may change
// one of them.
func Hold(list ResMap) (end func()) {
	m, ok := list.(*resWrangler)
	if !ok {
		return func() {}
	}
	m.known.depth++
	return func() {
		if m.known.depth--; m.known.depth == 0 {
			m.known = known{}
		}
	}
}

// isNew tells whether surely no resource has this current id.
func (m *resWrangler) isNew(id resid.ResId) bool {
	return m.known.depth > 0 && !has(m.learn(&m.known.current, false), id)
}

// isUnheard tells whether surely no resource has or had this id.
func (m *resWrangler) isUnheard(id resid.ResId) bool {
	return m.known.depth > 0 && !has(m.learn(&m.known.all, true), id)
}

func has(ids map[key]struct{}, id resid.ResId) bool {
	_, found := ids[keyOf(id)]
	return found
}

// learn gives the ids, which are read where they are not known yet.
func (m *resWrangler) learn(ids *map[key]struct{}, previous bool) map[key]struct{} {
	if m.known.size != len(m.rList) {
		m.known = known{depth: m.known.depth, size: len(m.rList)}
	}
	if *ids == nil {
		*ids = make(map[key]struct{}, len(m.rList))
		for _, res := range m.rList {
			note(*ids, res, previous)
		}
	}
	return *ids
}

// added notes the last resource of the list, or one that replaced another.
func (m *resWrangler) added(res *resource.Resource, more int) {
	if m.known.depth == 0 || m.known.size+more != len(m.rList) {
		return
	}
	m.known.size += more
	if m.known.current != nil {
		note(m.known.current, res, false)
	}
	if m.known.all != nil {
		note(m.known.all, res, true)
	}
}

func note(ids map[key]struct{}, res *resource.Resource, previous bool) {
	ids[keyOf(res.CurId())] = struct{}{}
	if previous && !res.IsNilOrEmpty() {
		for _, id := range res.PrevIds() {
			ids[keyOf(id)] = struct{}{}
		}
	}
}

// Ids has the current ids of a list whose resources change one after the other.
type Ids struct {
	at    []key
	count map[key]int
}

// IdsOf reads the ids.
func IdsOf(resources []*resource.Resource) *Ids {
	ids := &Ids{make([]key, len(resources)), make(map[key]int, len(resources))}
	for index, res := range resources {
		ids.at[index] = keyOf(res.CurId())
		ids.count[ids.at[index]]++
	}
	return ids
}

// Becomes notes the id that a resource has now, and tells whether it is the only one with it.
func (ids *Ids) Becomes(index int, id resid.ResId) bool {
	ids.count[ids.at[index]]--
	ids.at[index] = keyOf(id)
	ids.count[ids.at[index]]++
	return ids.count[ids.at[index]] == 1
}

// RemoveAll removes what has one of these ids, as Remove does one after the other; false where it can't.
func RemoveAll(list ResMap, ids map[resid.ResId]bool) bool {
	m, ok := list.(*resWrangler)
	if !ok {
		return false
	}
	var left []*resource.Resource
	for _, res := range m.rList {
		if !ids[res.CurId()] {
			left = append(left, res)
		}
	}
	if len(left)+len(ids) != len(m.rList) {
		return false
	}
	m.rList = left
	return true
}

// Reach tells which resources could be referenced by one, as SubsetThatCouldBeReferencedByResource does.
func Reach(referrer *resource.Resource) (func(*resource.Resource, resid.ResId) bool, error) {
	from := referrer.CurId()
	if from.IsClusterScoped() {
		return func(*resource.Resource, resid.ResId) bool { return true }, nil
	}
	namespaces, err := getNamespacesForRoleBinding(referrer)
	if err != nil {
		return nil, err
	}
	return func(target *resource.Resource, id resid.ResId) bool {
		return id.IsClusterScoped() || id.IsNsEquals(from) || namespaces[target.GetNamespace()]
	}, nil
}
