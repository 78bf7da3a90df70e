package kinds

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/text/safe"
)

// Defined are the needs that one file defines: a profile, or the manifest of contenders.
type Defined struct {
	File    string            // for messages
	Service string            // name of the contenders, without variants; "": it is the profile
	For     []bench.Selection // the contenders
	Needs   []bench.NeedSpec
}

// Manifests returns what the manifests of contenders define. service returns the service of a
// contender; of one that locbench does not start, it is not known.
func Manifests(contenders []bench.Selection, service func(bench.Selection) (bench.Service, bool)) (all []Defined) {
	var dirs []string
	names := map[string]int{}
	for _, sel := range contenders {
		svc, ok := service(sel)
		if !ok {
			continue
		}
		if i := slices.Index(dirs, svc.Dir); i >= 0 {
			all[i].For = append(all[i].For, sel)
			continue
		}
		dirs = append(dirs, svc.Dir)
		names[sel.Contender]++
		all = append(all, Defined{svc.Manifest(), sel.Contender, []bench.Selection{sel}, svc.Needs})
	}
	for i, d := range all {
		if names[d.Service] > 1 { // its folders are those of several versions
			all[i].Service = d.For[0].String()
		}
	}
	return all
}

// definition is a need in its file.
type definition struct {
	Defined
	need bench.NeedSpec
}

// Join returns the needs of a run, of its profile and of the manifests of its contenders, which
// includes those without needs. Equal definitions of one name are one need. A name that each
// service has for itself has a need for each of them. The error names the files of definitions that
// differ.
func Join(profile Defined, manifests []Defined) (joined []bench.NeedSpec, err error) {
	var names []string
	defined := map[string][]definition{}
	for _, file := range append([]Defined{profile}, manifests...) {
		for _, n := range file.Needs {
			if defined[n.Name] == nil {
				names = append(names, n.Name)
			}
			defined[n.Name] = append(defined[n.Name], definition{file, n})
		}
	}
	for _, name := range names {
		all := defined[name]
		own, err := perService(all)
		if err != nil {
			return nil, err
		}
		if own {
			each, err := ownOf(all, manifests)
			if err != nil {
				return nil, err
			}
			joined = append(joined, each...)
			continue
		}
		for _, other := range all[1:] {
			if err := differ(all[0], other, "make them equal, or write `per_service: true` in both"); err != nil {
				return nil, err
			}
		}
		one := all[0].need
		one.Manifest = all[0].Service != ""
		if one.Manifest && len(all) < len(manifests) {
			for _, d := range all {
				one.For = append(one.For, d.For...)
			}
		}
		joined = append(joined, one)
	}
	return joined, errors.Join(checkAfter(joined), checkHosts(joined))
}

// perService reports whether each service has a need for itself, which all its definitions have to
// say.
func perService(all []definition) (bool, error) {
	first := TraitsOf(all[0].need).PerService
	for _, d := range all[1:] {
		if TraitsOf(d.need).PerService != first {
			with, without := all[0], d
			if !first {
				with, without = d, all[0]
			}
			return false, fmt.Errorf("need %s has `per_service: true` in %s, but not in %s; write it in both, or in none",
				all[0].need.Name, safe.Line(with.File, shownBytes), safe.Line(without.File, shownBytes))
		}
	}
	return first, nil
}

// ownOf returns a need for each service that has a definition of it, in its manifest or in the
// profile.
func ownOf(all []definition, manifests []Defined) (each []bench.NeedSpec, err error) {
	for _, m := range manifests {
		var mine []definition
		for _, d := range all {
			if d.Service == "" || d.File == m.File {
				mine = append(mine, d)
			}
		}
		if len(mine) == 0 {
			continue
		}
		for _, other := range mine[1:] {
			if err := differ(mine[0], other, "make them equal, or remove it from the profile"); err != nil {
				return nil, err
			}
		}
		one := mine[0].need
		for _, before := range each {
			if len(Differences(before, one)) == 0 {
				one.Of = before.Of // its files may be in another folder
				break
			}
		}
		one.For, one.Service, one.Manifest = m.For, m.Service, mine[0].Service != ""
		each = append(each, one)
	}
	return each, nil
}

// Differences returns how two needs of one name differ.
func Differences(a, b bench.NeedSpec) []needs.Difference {
	k, ok := Of(a.Kind)
	switch {
	case a.Kind != b.Kind:
		return []needs.Difference{{Key: "kind", A: a.Kind, B: b.Kind}}
	case a.From == b.From && a.URL == b.URL && a.Of.String() == b.Of.String():
		return nil
	case !ok || k.Differences == nil:
		return []needs.Difference{{Key: "its keys", A: "some", B: "others"}}
	}
	return k.Differences(a, b)
}

// DifferentKeys lists the keys by which two needs of one name differ; "" for none.
func DifferentKeys(a, b bench.NeedSpec) string {
	var keys []string
	for _, d := range Differences(a, b) {
		keys = append(keys, d.Key)
	}
	return safe.Line(strings.Join(keys, ", "), shownBytes)
}

// How much a message shows.
const (
	shownBytes       = 200 // of a value
	shownDifferences = 20
)

// differ returns an error that shows how two definitions of a need differ, with the remedy; nil if
// they do not.
func differ(a, b definition, remedy string) error {
	all := Differences(a.need, b.need)
	if len(all) == 0 {
		return nil
	}
	var lines strings.Builder
	for i, d := range all {
		if i == shownDifferences {
			fmt.Fprintf(&lines, "\n  and %d more", len(all)-i)
			break
		}
		fmt.Fprintf(&lines, "\n  %s: %s; %s", safe.Line(d.Key, shownBytes), shown(d.A), shown(d.B))
	}
	return fmt.Errorf("need %s of %s and that of %s differ:%s\n%s", a.need.Name, safe.Line(a.File, shownBytes),
		safe.Line(b.File, shownBytes), lines.String(), remedy)
}

func shown(value string) string {
	if value == "" {
		return "none"
	}
	return safe.Line(value, shownBytes)
}

// checkAfter returns an error about a need that comes after one that its contenders may not have.
func checkAfter(all []bench.NeedSpec) error {
	for _, n := range all {
		for _, name := range TraitsOf(n).After {
			var before []bench.NeedSpec
			for _, m := range all {
				if m.Name == name {
					before = append(before, m)
				}
			}
			switch {
			case len(before) == 0: // needs.Order reports it
			case before[0].Service != "" && n.Service == "":
				return fmt.Errorf("need %[1]s comes after %[2]s, which each service has for itself; write `per_service: true` for %[1]s too",
					n.Name, name)
			case !slices.ContainsFunc(before, func(m bench.NeedSpec) bool { return covers(m, n) }):
				return fmt.Errorf("need %s comes after %s, which not all of its contenders have; write both in the same file",
					n.Label(), name)
			}
		}
	}
	return nil
}

// covers reports whether all contenders that get a need get another one, too.
func covers(other, need bench.NeedSpec) bool {
	if len(need.For) == 0 {
		return len(other.For) == 0
	}
	return !slices.ContainsFunc(need.For, func(sel bench.Selection) bool { return !other.Gets(sel) })
}

// checkHosts returns an error about a host name that two needs share.
func checkHosts(all []bench.NeedSpec) error {
	if n, other, host := shareHost(all); host != "" {
		return fmt.Errorf("needs %s and %s both have the host name %s; remove it from one of them", other.Name, n.Name, safe.Line(host, shownBytes))
	}
	return nil
}

// shareHost returns the first two needs of one contender with one name in the network of the run,
// where it would lead to one or the other; "" if there are none.
func shareHost(all []bench.NeedSpec) (n, other bench.NeedSpec, host string) {
	for i, n := range all {
		for _, other := range all[:i] {
			if len(n.For) > 0 && len(other.For) > 0 && !slices.ContainsFunc(n.For, other.Gets) {
				continue
			}
			others := hostsOf(other)
			for _, host := range hostsOf(n) {
				if slices.Contains(others, host) {
					return n, other, host
				}
			}
		}
	}
	return n, other, ""
}

// hostsOf returns the names of a need in the network of the run.
func hostsOf(n bench.NeedSpec) []string {
	names := append([]string{n.Name}, TraitsOf(n).Hosts...)
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}
