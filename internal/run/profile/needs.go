package profile

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/needs/kinds"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

const mostNeeds = 20

// needName is the form of the name of a need, which is a host name too.
var needName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,62}$`)

const needNameHint = "write up to 63 lower-case letters, digits, `-` and `_`: it is the host name of the need"

// needList are the needs of a file, by their names.
type needList []bench.NeedSpec

// UnmarshalStrict reads a map of needs, each in the form of its kind.
func (all *needList) UnmarshalStrict(v strictyaml.Value) {
	if v.Kind() != strictyaml.Map {
		v.Wrong(fmt.Sprintf("write a map, such as `needs: {%s: {}}`", kinds.All[0].Name))
		return
	}
	for _, f := range v.Fields() {
		k, ok := kinds.For(f.Key)
		if !ok || k.Any && strictyaml.Nearest(f.Key, kinds.Names()) != "" && !ofAny(f.Value) {
			v.Unknown(f, kinds.Names())
			continue
		}
		if !needName.MatchString(f.Key) {
			v.MistakeAt(f, fmt.Sprintf("%q cannot be the name of a need", f.Key), needNameHint)
			continue
		}
		if k.Any && f.Value.Kind() == strictyaml.Map && !ofAny(f.Value) {
			v.MistakeAt(f, fmt.Sprintf("`needs.%s` has none of `image`, `dockerfile`, `external`", f.Key),
				"write one of them; needs with their own keys: "+strings.Join(kinds.Names(), ", "))
			continue
		}
		n := k.Read(f.Value)
		n.Name, n.Kind = f.Key, k.Name
		if k.Complete != nil {
			k.Complete(&n)
		}
		*all = append(*all, n)
	}
}

// ofAny reports whether a need has a key of those of any name, or one that is probably meant to be.
func ofAny(v strictyaml.Value) bool {
	return slices.ContainsFunc(v.Fields(), func(f strictyaml.Field) bool {
		return strictyaml.Nearest(f.Key, []string{"image", "dockerfile", "external"}) != ""
	})
}

// MarshalYAML writes what UnmarshalStrict reads.
func (all needList) MarshalYAML() (any, error) {
	var out strictyaml.Entries
	for _, n := range all {
		if k, ok := kinds.Of(n.Kind); ok {
			out = append(out, strictyaml.Entry{Key: n.Name, Value: k.Write(n)})
		}
	}
	return out, nil
}

// DescribeStrict describes what UnmarshalStrict reads.
func (needList) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	properties := strictyaml.Schema{}
	out := strictyaml.Schema{
		"type": "object", "additionalProperties": false, "properties": properties, "maxProperties": mostNeeds,
		"propertyNames": strictyaml.Schema{"pattern": needName.String()}.Hint(needNameHint),
	}
	for _, k := range kinds.All {
		of := k.Schema(s)
		of["description"] = k.About
		if k.Any {
			out["additionalProperties"] = of
		} else {
			properties[k.Name] = of
		}
	}
	return out
}

// needsOf reports the mistakes of needs.
func (r *rules) needsOf(p *bench.Profile) {
	r.when(len(p.Needs) > mostNeeds, "needs", fmt.Sprintf("%d needs", len(p.Needs)), fmt.Sprintf("write at most %d", mostNeeds))
	if name := kinds.Restarting(p.Needs); name != "" && p.Interleave > 0 {
		r.when(true, "interleave", fmt.Sprintf("`%s` starts again for each trial, so contenders cannot be interleaved", name),
			"write `interleave: off`, or remove it")
	}
	before := len(*r)
	r.orderOf(p.Needs)
	r.needs(before, "needs")
	for _, n := range p.Needs {
		r.when(!needName.MatchString(n.Name), "needs."+n.Name, fmt.Sprintf("%q cannot be the name of a need", n.Name), needNameHint)
		k, ok := kinds.Of(n.Kind)
		if !ok || k.Wrong == nil {
			continue
		}
		for _, m := range k.Wrong(n) {
			path := "needs." + n.Name + "." + m.Path
			if m.What == "" {
				r.wrong(path, m.Value, m.Hint)
			} else {
				r.when(true, path, m.What, m.Hint)
			}
		}
	}
}

// orderOf reports needs that come after unknown ones, or after themselves.
func (r *rules) orderOf(all []bench.NeedSpec) {
	at := func(name string) int {
		return slices.IndexFunc(all, func(n bench.NeedSpec) bool { return n.Name == name })
	}
	names := each(all, func(n bench.NeedSpec) string { return n.Name })
	for i, n := range all {
		for j, name := range kinds.After(n) {
			path := fmt.Sprintf("needs.%s.after[%d]", n.Name, j)
			switch k := at(name); {
			case k < 0:
				others := slices.Delete(slices.Clone(names), i, i+1)
				r.wrong(path, name, cmp.Or(strictyaml.Suggest(name, "name another need, one of", others), "remove it"))
			case k == i:
				r.when(true, path, fmt.Sprintf("`%s` comes after itself", n.Name), "remove it")
			case k < i && follows(all, k, i):
				r.when(true, path, fmt.Sprintf("`%s` and `%s` come after each other", n.Name, name), "remove one of the two")
			}
		}
	}
}

// follows reports whether a need comes after another one, or after one that does.
func follows(all []bench.NeedSpec, need, other int) bool {
	seen := make([]bool, len(all))
	var look func(i int) bool
	look = func(i int) bool {
		if i == other || seen[i] {
			return i == other
		}
		seen[i] = true
		return slices.ContainsFunc(kinds.After(all[i]), func(name string) bool {
			next := slices.IndexFunc(all, func(n bench.NeedSpec) bool { return n.Name == name })
			return next >= 0 && look(next)
		})
	}
	return look(need)
}

// missing returns the errors about external needs without a URL.
func missing(p bench.Profile) (all []error) {
	for _, n := range p.Needs {
		if k, ok := kinds.Of(n.Kind); ok && n.From.Traits().ByURL && n.URL == "" {
			all = append(all, needs.MissingError{Text: k.Missing})
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

// needOptions returns the options of all kinds of needs.
func needOptions() (all []Option) {
	for _, k := range kinds.All {
		for _, o := range k.Options {
			all = append(all, needOption(k, o))
		}
	}
	return all
}

// needOption returns an option of the need of one kind. It adds the need to a profile that has
// none.
func needOption(k needs.Kind, of needs.Option) Option {
	o := Option{
		Name: of.Name, Section: InData, Key: "needs." + k.Name + "." + of.Key, Type: of.Type, Usage: of.Usage, Default: of.Default,
		Values: of.Values, With: of.With, Folder: of.Folder, Need: k.Name, Label: of.Label, Help: of.Help,
	}
	at := func(p *bench.Profile) int {
		return slices.IndexFunc(p.Needs, func(n bench.NeedSpec) bool { return n.Kind == k.Name })
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
			c.p.Needs = append(c.p.Needs, bench.NeedSpec{Name: k.Name, Kind: k.Name, From: bench.NeedNone})
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
