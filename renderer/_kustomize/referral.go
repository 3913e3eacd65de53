package nameref

import (
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/errors"
	"sigs.k8s.io/kustomize/kyaml/resid"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// Index finds what a reference may mean by the name that it says, while no resource changes its ids: without, each
// field that holds a name is compared with every resource there is.
type Index struct {
	resources []*resource.Resource
	current   []resid.ResId
	// original has the namespaces that they had first.
	original []string
	// named has, by each name that resources had before, which those are, in their order.
	named map[string][]int
	// began has them by the namespaces that they had first, in their order.
	began map[string][]int
}

// NewIndex reads the ids of resources; the second are their original ones.
func NewIndex(resources []*resource.Resource, original []resid.ResId) *Index {
	x := &Index{
		resources: resources,
		current:   make([]resid.ResId, len(resources)),
		original:  make([]string, len(resources)),
		named:     map[string][]int{},
		began:     map[string][]int{},
	}
	for index, res := range resources {
		x.current[index] = res.CurId()
		x.original[index] = original[index].EffectiveNamespace()
		x.began[x.original[index]] = append(x.began[x.original[index]], index)
		for _, id := range res.PrevIds() {
			if all := x.named[id.Name]; len(all) == 0 || all[len(all)-1] != index {
				x.named[id.Name] = append(all, index)
			}
		}
	}
	return x
}

// Candidates are the resources that one could refer to.
type Candidates struct {
	index *Index
	reach func(*resource.Resource, resid.ResId) bool
}

// From gives the candidates of a referrer.
func (x *Index) From(referrer *resource.Resource) (*Candidates, error) {
	reach, err := resmap.Reach(referrer)
	return &Candidates{x, reach}, err
}

func (c *Candidates) has(index int) bool {
	return c.reach(c.index.resources[index], c.index.current[index])
}

// called gives those that had a name before, as far as they fit.
func (c *Candidates) called(name string, fits func(index int) bool) (result []*resource.Resource) {
	for _, index := range c.index.named[name] {
		if c.has(index) && fits(index) {
			result = append(result, c.index.resources[index])
		}
	}
	return result
}

// all gives the candidates that may have had a name; of others selectReferral takes no notice.
func (f Filter) all(name string) []*resource.Resource {
	if f.Candidates == nil {
		return f.ReferralCandidates.Resources()
	}
	return f.Candidates.called(name, func(int) bool { return true })
}

// in does the same as filterMapCandidatesByNamespace.
func (f Filter) in(name string, node *yaml.RNode) ([]*resource.Resource, error) {
	if f.Candidates == nil {
		return f.filterMapCandidatesByNamespace(node)
	}
	namespaceNode, err := node.Pipe(yaml.FieldMatcher{Name: "namespace"})
	if err != nil {
		return nil, errors.WrapPrefixf(err, "trying to match 'namespace' field")
	}
	if namespaceNode == nil {
		return f.all(name), nil
	}
	namespace := namespaceNode.YNode().Value
	if namespace == resid.TotallyNotANamespace {
		return nil, nil
	}
	x := f.Candidates.index
	for _, index := range x.began[namespace] {
		if f.Candidates.has(index) {
			return f.Candidates.called(name, func(index int) bool { return x.original[index] == namespace }), nil
		}
	}
	return f.Candidates.called(name, func(index int) bool {
		return x.current[index].EffectiveNamespace() == namespace
	}), nil
}
