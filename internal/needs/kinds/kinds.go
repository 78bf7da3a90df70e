// Package kinds has all kinds of needs.
package kinds

import (
	"slices"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/needs/container"
	"github.com/locbench/locbench/internal/needs/elasticsearch"
)

// All has all kinds. A new one is a package, and a line here.
var All = []needs.Kind{
	elasticsearch.Kind,
	container.Kind,
}

// Of returns a kind by its name.
func Of(name string) (k needs.Kind, ok bool) {
	i := slices.IndexFunc(All, func(k needs.Kind) bool { return k.Name == name })
	if i < 0 {
		return k, false
	}
	return All[i], true
}

// For returns the kind of a need by its name: its own kind, or the one of any other name.
func For(need string) (k needs.Kind, ok bool) {
	if k, ok = Of(need); ok {
		return k, true
	}
	i := slices.IndexFunc(All, func(k needs.Kind) bool { return k.Any })
	if i < 0 {
		return k, false
	}
	return All[i], true
}

// Names returns the names that have their own kinds.
func Names() (all []string) {
	for _, k := range All {
		if !k.Any {
			all = append(all, k.Name)
		}
	}
	return all
}

// TraitsOf returns what a run knows of a need before it finds it.
func TraitsOf(n bench.NeedSpec) needs.Traits {
	k, ok := Of(n.Kind)
	if !ok || k.Traits == nil {
		return needs.Traits{}
	}
	return k.Traits(n)
}

// Provided returns what requests and checks get from all needs of a profile.
func Provided(all []bench.NeedSpec) (p needs.Provided) {
	for _, n := range all {
		if k, ok := Of(n.Kind); ok && k.Provides != nil {
			one := k.Provides(n)
			p.Data = p.Data || one.Data
			p.Languages, p.Suites = append(p.Languages, one.Languages...), append(p.Suites, one.Suites...)
		}
	}
	return p
}
