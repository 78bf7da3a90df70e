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

// Restarts reports whether a need starts again for each trial.
func Restarts(n bench.NeedSpec) bool {
	k, ok := Of(n.Kind)
	return ok && k.Restarts != nil && k.Restarts(n)
}

// Own returns whether each of several interleaved contenders has its own copy of a need, with the
// memory limit of each copy in bytes, 0 for none; or why they would share it, "" if that has no
// effect on them.
func Own(n bench.NeedSpec) (own bool, memory int64, shared string) {
	k, ok := Of(n.Kind)
	if !ok || k.Own == nil {
		return false, 0, ""
	}
	memory, shared = k.Own(n)
	return shared == "", memory, shared
}

// After returns the names of the needs that must be ready and seeded before another one is opened.
func After(n bench.NeedSpec) []string {
	k, ok := Of(n.Kind)
	if !ok || k.After == nil {
		return nil
	}
	return k.After(n)
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
