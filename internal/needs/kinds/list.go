package kinds

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

const mostNeeds = 20

// needName is the form of the name of a need, which is a host name too.
var needName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,62}$`)

const needNameHint = "write up to 63 lower-case letters, digits, `-` and `_`: it is the host name of the need"

// List are the needs of a profile or a manifest, by their names.
type List []bench.NeedSpec

// UnmarshalStrict reads a map of needs, each in the form of its kind.
func (all *List) UnmarshalStrict(v strictyaml.Value) {
	if v.Kind() != strictyaml.Map {
		v.Wrong(fmt.Sprintf("write a map, such as `needs: {%s: {}}`", All[0].Name))
		return
	}
	for _, f := range v.Fields() {
		k, own := For(f.Key)
		if !own && strictyaml.Nearest(f.Key, Names()) != "" && !ofAny(f.Value) {
			v.Unknown(f, Names())
			continue
		}
		if !needName.MatchString(f.Key) {
			v.MistakeAt(f, fmt.Sprintf("%q cannot be the name of a need", f.Key), needNameHint)
			continue
		}
		if !own && f.Value.Kind() == strictyaml.Map && !ofAny(f.Value) {
			v.MistakeAt(f, fmt.Sprintf("`needs.%s` has none of `image`, `dockerfile`, `external`", f.Key),
				"write one of them; needs with their own keys: "+strings.Join(Names(), ", "))
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

// ManifestList are the needs of a manifest: a need whose data requests draw from is its profile's.
type ManifestList List

// UnmarshalStrict reads what List reads, but no need with its own kind.
func (all *ManifestList) UnmarshalStrict(v strictyaml.Value) {
	(*List)(all).UnmarshalStrict(v)
	for _, f := range v.Fields() {
		if slices.Contains(Names(), f.Key) {
			v.MistakeAt(f, fmt.Sprintf("`needs.%s` belongs to a profile: requests draw from its data", f.Key), "write it there")
		}
	}
}

// Wrong returns the mistakes of needs, each by itself.
func (all List) Wrong() (wrong []needs.Mistake) {
	names := map[string]bool{}
	for _, n := range all {
		names[n.Name] = true
	}
	if len(names) > mostNeeds {
		wrong = append(wrong, needs.Mistake{Path: "needs", What: fmt.Sprintf("%d needs", len(names)), Hint: fmt.Sprintf("write at most %d", mostNeeds)})
	}
	if n, other, host := shareHost(all); host != "" {
		wrong = append(wrong, needs.Mistake{Path: "needs." + n.Name,
			What: fmt.Sprintf("`%s` and `%s` both have the host name %.100q", other.Name, n.Name, host), Hint: "remove it from one of them"})
	}
	for _, n := range all {
		at := "needs." + n.Name
		if !needName.MatchString(n.Name) {
			wrong = append(wrong, needs.Mistake{Path: at, What: fmt.Sprintf("%q cannot be the name of a need", n.Name), Hint: needNameHint})
		}
		k, ok := Of(n.Kind)
		if !ok || k.Wrong == nil {
			continue
		}
		for _, m := range k.Wrong(n) {
			m.Path = at + "." + m.Path
			wrong = append(wrong, m)
		}
	}
	return wrong
}

// WrongOrder returns the mistakes of needs that come after unknown ones, or after themselves.
func WrongOrder(all []bench.NeedSpec) (wrong []needs.Mistake) {
	at := func(name string) int {
		return slices.IndexFunc(all, func(n bench.NeedSpec) bool { return n.Name == name })
	}
	names := make([]string, len(all))
	for i, n := range all {
		names[i] = n.Name
	}
	for i, n := range all {
		for j, name := range TraitsOf(n).After {
			m := needs.Mistake{Path: fmt.Sprintf("needs.%s.after[%d]", n.Name, j)}
			switch k := at(name); {
			case k < 0:
				others := slices.Delete(slices.Clone(names), i, i+1)
				m.Value, m.Hint = name, cmp.Or(strictyaml.Suggest(name, "name another need, one of", others), "remove it")
			case k == i:
				m.What, m.Hint = fmt.Sprintf("`%s` comes after itself", n.Name), "remove it"
			case k < i && follows(all, k, i):
				m.What, m.Hint = fmt.Sprintf("`%s` and `%s` come after each other", n.Name, name), "remove one of the two"
			default:
				continue
			}
			wrong = append(wrong, m)
		}
	}
	return wrong
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
		return slices.ContainsFunc(TraitsOf(all[i]).After, func(name string) bool {
			next := slices.IndexFunc(all, func(n bench.NeedSpec) bool { return n.Name == name })
			return next >= 0 && look(next)
		})
	}
	return look(need)
}
