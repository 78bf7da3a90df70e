package setup

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/needs/kinds"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/secret"
)

// needForm is the form as the fields of one kind of need know it.
type needForm struct {
	*form
	kind string
}

// Need returns that of the profile.
func (f needForm) Need() bench.NeedSpec {
	if i := f.at(); i >= 0 {
		return f.base.Needs[i]
	}
	return bench.NeedSpec{From: bench.NeedNone}
}

// at returns the index of the need in the profile; below 0 if it has none.
func (f needForm) at() int {
	return slices.IndexFunc(f.base.Needs, func(n bench.NeedSpec) bool { return n.Kind == f.kind })
}

// Given returns the text of an option, if it was given.
func (f needForm) Given(option string) (string, bool) {
	return f.choice.Set.Text(option), f.choice.Set.Given(option)
}

// Option returns the text given, or the profile's value.
func (f needForm) Option(name string) string { return f.option(name) }

// Last returns the last text given.
func (f needForm) Last(option string) string {
	return cmp.Or(f.choice.Set.Text(option), f.last[option])
}

// Give sets an option of the command.
func (f needForm) Give(option, text string) { f.give(option, text) }

// Unset unsets options of the command.
func (f needForm) Unset(options ...string) { f.unset(options...) }

// Wrong reports whether the value of a field was refused.
func (f needForm) Wrong(field string) bool { return f.wrong[field] != "" }

// Probed returns what the need at a URL says of itself.
func (f needForm) Probed(url string) (needs.Probe, bool) {
	if p := f.facts.probed[place{f.kind, url}]; p != nil {
		return *p, true
	}
	return needs.Probe{}, false
}

// NoEngine says why there is no container engine.
func (f needForm) NoEngine() (why string, responds bool) {
	return f.noEngine(), f.facts.engineResponds()
}

// needFields returns the fields of all kinds of needs, which a profile without such a need hides.
func needFields() (all []Field) {
	for _, k := range kinds.All {
		in := func(f *form) needForm { return needForm{f, k.Name} }
		for _, of := range k.Setup.Fields {
			field := Field{
				Name: of.Name, Group: "where", Label: of.Label, Help: of.Help, Key: of.Options, Needed: of.Required,
				Secret: of.Name == k.AddressOption,
				Hidden: func(f *form) bool { return in(f).at() < 0 || of.Hidden != nil && of.Hidden(in(f)) },
			}
			if of.Get != nil {
				field.Get = func(f *form) string { return of.Get(in(f)) }
			}
			if of.Set != nil {
				field.Set = func(f *form, value string) { of.Set(in(f), value) }
			}
			if of.Note != nil {
				field.Note = func(f *form) string { return of.Note(in(f)) }
			}
			if of.Choices != nil {
				field.Choices = func(f *form) (all []choice) {
					for _, c := range of.Choices(in(f)) {
						all = append(all, choice{c.Value, c.Help})
					}
					return all
				}
			}
			all = append(all, field)
		}
	}
	return all
}

// plainNeeds returns the needs of the plan whose kinds have no fields.
func plainNeeds(f *form) (all []bench.NeedSpec) {
	for _, n := range f.plan.Needs {
		if k, ok := kinds.Of(n.Kind); ok && len(k.Setup.Fields) == 0 {
			all = append(all, n)
		}
	}
	return all
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

// ofNeeds collects the problems of the needs of the profile.
func (c *checker) ofNeeds() {
	for _, k := range kinds.All {
		f := needForm{c.form, k.Name}
		if f.at() < 0 || k.Setup.Problems == nil {
			continue
		}
		for _, p := range k.Setup.Problems(f) {
			var fixes []fix
			for _, x := range p.Fixes {
				one := fix{text: outside(x.Text), change: x.Change}
				if x.Copy != nil {
					one.msg = ui.CopyMsg{Text: commandLine(x.Copy[0], x.Copy[1:]), What: "command",
						Shown: commandLine(x.Copy[0], secret.Masker{}.Args(x.Copy[1:]))}
				}
				fixes = append(fixes, one)
			}
			c.all = append(c.all, problem{bad: p.Bad, input: p.Input, field: p.Field, text: text(errors.New(p.Text)), fixes: fixes})
		}
	}
}

// place is where a need of a kind may run.
type place struct{ kind, url string }

// askNeeds probes the external needs that were chosen, and likely ones.
func (s *Setup) askNeeds() tea.Cmd {
	var all []tea.Cmd
	for _, k := range kinds.All {
		f := needForm{&s.form, k.Name}
		if k.Setup.Likely != "" {
			all = append(all, s.askNeed(place{k.Name, k.Setup.Likely}))
		}
		if k.Setup.URL != nil && !f.Wrong(k.AddressOption) {
			all = append(all, s.askNeed(place{k.Name, k.Setup.URL(f)}))
		}
	}
	return tea.Batch(all...)
}

func (s *Setup) askNeed(at place) tea.Cmd {
	all := s.form.facts.probed
	if _, asked := all[at]; at.url == "" || asked {
		return nil
	}
	all[at] = nil
	return ask(func(ctx context.Context) action {
		p := s.options.Site.Probe(ctx, at.kind, at.url)
		return func() tea.Cmd {
			all[at] = &p
			return nil
		}
	})
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
