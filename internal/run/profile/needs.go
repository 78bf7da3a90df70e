package profile

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/needs/kinds"
)

// needsOf reports the mistakes of needs.
func (r *rules) needsOf(p *bench.Profile) {
	r.mistakesOf(kinds.WrongOrder(p.Needs))
	r.mistakesOf(kinds.List(p.Needs).Wrong())
}

func (r *rules) mistakesOf(all []needs.Mistake) {
	for _, m := range all {
		if m.What == "" {
			r.wrong(m.Path, m.Value, m.Hint)
		} else {
			r.when(true, m.Path, m.What, m.Hint)
		}
	}
}

// WithManifests returns p, the profile in a file, with the needs of the manifests of its
// contenders. service returns the service of a contender that is known and that locbench starts.
func WithManifests(p bench.Profile, file string, service func(bench.Selection) (bench.Service, bool)) (bench.Profile, error) {
	here, _ := os.Getwd()
	manifests := kinds.Manifests(p.Contenders, service)
	for i, m := range manifests {
		if short, err := filepath.Rel(here, m.File); err == nil && len(short) < len(m.File) {
			manifests[i].File = filepath.ToSlash(short)
		}
	}
	all, err := kinds.Join(p.Needs, cmp.Or(file, "the profile"), manifests)
	if err != nil {
		return p, err
	}
	p.Needs = all
	return p, nil
}

// missing returns the errors about external needs without a URL.
func missing(p bench.Profile) (all []error) {
	for _, n := range p.Needs {
		if k, ok := kinds.Of(n.Kind); ok && n.From.Traits().ByURL && n.URL == "" {
			all = append(all, errors.New(k.Missing))
		}
	}
	return all
}

// Without returns p without services to find or start, but with the data of its needs.
func Without(p bench.Profile) bench.Profile {
	p.Needs = slices.Clone(p.Needs)
	for i := range p.Needs {
		p.Needs[i].From, p.Needs[i].URL = bench.NeedNone, ""
	}
	return p
}

// needOptions returns the options of needs.
func needOptions() (all []Option) {
	for _, o := range kinds.ByURL.Options {
		all = append(all, needOption(kinds.ByURL.Kind, o))
	}
	return all
}

// needOption returns an option of the need of a kind. It adds the need to a profile that has none.
func needOption(kind string, of needs.Option) Option {
	o := Option{
		Name: of.Name, Key: "needs." + kind + "." + of.Key, Type: of.Type, Usage: of.Usage, Default: of.Default,
		Values: of.Values, With: of.With, Folder: of.Folder, Need: kind, Label: of.Label, Help: of.Help,
	}
	at := func(p *bench.Profile) int {
		return slices.IndexFunc(p.Needs, func(n bench.NeedSpec) bool { return n.Kind == kind })
	}
	o.get = func(p *bench.Profile) string {
		if i := at(p); i >= 0 && of.Get != nil {
			return of.Get(p.Needs[i])
		}
		return ""
	}
	o.set = func(c *change, text string) error {
		if of.With != "" && !c.given.Given(of.With) {
			return c.refuse(text, fmt.Sprintf("it needs --%s", of.With))
		}
		c.p.Needs = slices.Clone(c.p.Needs)
		i := at(c.p)
		if i < 0 {
			i = len(c.p.Needs)
			c.p.Needs = append(c.p.Needs, bench.NeedSpec{Name: kind, Kind: kind, From: bench.NeedNone})
		}
		n := &c.p.Needs[i]
		before := kinds.Provided(c.p.Needs).Suites
		given := func(name string) (string, bool) { return c.given.Text(name), c.given.Given(name) }
		refuse := func(hint string) error { return c.refuse(text, hint) }
		if err := of.Set(needs.Edit{Need: n, Refuse: refuse, Given: given, Getenv: c.getenv}, text); err != nil {
			return err
		}
		after := kinds.Provided(c.p.Needs).Suites
		withoutSuites(c.p, slices.DeleteFunc(before, func(s string) bool { return slices.Contains(after, s) }))
		return nil
	}
	return o
}

// withoutSuites removes suites, whose data the needs have no more.
func withoutSuites(p *bench.Profile, gone []string) {
	p.Checks.Suites = slices.DeleteFunc(slices.Clone(p.Checks.Suites), func(s string) bool { return slices.Contains(gone, s) })
	if len(p.Checks.Suites) == 0 {
		p.Checks.Suites = nil
	}
}
