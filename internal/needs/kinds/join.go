package kinds

import (
	"errors"
	"fmt"
	"slices"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
)

// Defined are the needs that the manifest of contenders defines.
type Defined struct {
	File    string            // for messages
	Service string            // name of the contenders, without variants
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

// Join returns the needs of a run: those of its profile in a file, which all contenders share, and
// those of the manifests of its contenders, which each service has for itself. Manifests include
// those without needs.
func Join(profile []bench.NeedSpec, file string, manifests []Defined) (joined []bench.NeedSpec, err error) {
	joined = slices.Clone(profile)
	for _, m := range manifests {
		for _, n := range m.Needs {
			if slices.ContainsFunc(profile, func(p bench.NeedSpec) bool { return p.Name == n.Name }) {
				return nil, fmt.Errorf("need %s is in both %s and %s; keep it in the profile for all contenders, or in each manifest for its own",
					n.Name, safe.Line(file, shownBytes), safe.Line(m.File, shownBytes))
			}
			if n.Manifest = true; len(manifests) > 1 {
				n.For, n.Service = m.For, m.Service
			}
			joined = append(joined, n)
		}
	}
	return joined, errors.Join(checkAfter(joined), checkHosts(joined), checkKept(joined))
}

// shownBytes is how much of a value a message shows.
const shownBytes = 200

// checkAfter returns an error about a need that comes after one that only other services have.
func checkAfter(all []bench.NeedSpec) error {
	for _, n := range all {
		for _, name := range TraitsOf(n).After {
			is := func(m bench.NeedSpec) bool { return m.Name == name }
			has := func(m bench.NeedSpec) bool { return is(m) && (m.Service == "" || m.Service == n.Service) }
			if slices.ContainsFunc(all, is) && !slices.ContainsFunc(all, has) { // needs.Order reports one that none has
				return fmt.Errorf("need %s comes after %s, which only another service has; write both in the same file", n.Label(), name)
			}
		}
	}
	return nil
}

// checkHosts returns an error about a host name that two needs share.
func checkHosts(all []bench.NeedSpec) error {
	if n, other, host := shareHost(all); host != "" {
		return fmt.Errorf("needs %s and %s both have the host name %s; remove it from one of them", other.Name, n.Name, safe.Line(host, shownBytes))
	}
	return nil
}

// checkKept returns an error about a need of one service that runs through the trials of another
// one, whose need has the same name: it would lead to one or the other.
func checkKept(all []bench.NeedSpec) error {
	for _, n := range all {
		for _, other := range all {
			if n.Service != other.Service && n.Name == other.Name && n.From.Traits().Container && !TraitsOf(n).Restarts {
				return fmt.Errorf("need %s has `keep: true`, and %s the same name: only one of them can run at a time; remove `keep`, or rename one",
					n.Label(), other.Label())
			}
		}
	}
	return nil
}

// shareHost returns the first two needs of one contender with one name in the network of the run,
// where it would lead to one or the other; "" if there are none.
func shareHost(all []bench.NeedSpec) (n, other bench.NeedSpec, host string) {
	for i, n := range all {
		for _, other := range all[:i] {
			if n.Service != "" && other.Service != "" && n.Service != other.Service {
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
