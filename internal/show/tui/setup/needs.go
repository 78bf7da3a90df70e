package setup

import (
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs/kinds"
	"github.com/locbench/locbench/internal/run/profile"
)

// plainNeeds returns the needs of the plan that have no fields.
func plainNeeds(f *form) []bench.NeedSpec {
	return slices.DeleteFunc(slices.Clone(f.plan.Needs), func(n bench.NeedSpec) bool { return n.Kind == kinds.ByURL.Kind })
}

// needsHere names the needs that have no fields: "db, cache of orders".
func needsHere(f *form) string {
	var labels []string
	for _, n := range plainNeeds(f) {
		labels = append(labels, n.Label())
	}
	return strings.Join(labels, ", ")
}

// restored says which state the needs have in each trial.
func restored(f *form) string {
	all := plainNeeds(f)
	has := func(is func(bench.NeedSpec) bool) bool { return slices.ContainsFunc(all, is) }
	switch {
	case has(func(n bench.NeedSpec) bool { return n.Own }):
		return "a copy for each contender, restored before each trial"
	case has(func(n bench.NeedSpec) bool { return n.Restarts }):
		return "restored before each trial"
	}
	return "not restored"
}

// withoutNeeds plans without needs where one lacks its URL, which is reported at its field.
func withoutNeeds(base bench.Profile, given profile.Changes) (bench.Profile, error) {
	rest := profile.Changes{}
	for name, texts := range given {
		if profile.ByName(name).Need == "" {
			rest[name] = texts
		}
	}
	return profile.Change(profile.Without(base), rest, nil)
}
