package app

import (
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/needs/kinds"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/text/console"
)

// addressOption returns the name of the option with the URL of a need.
func addressOption(n bench.NeedSpec) string {
	if n.Kind == kinds.ByURL.Kind {
		return kinds.ByURL.AddressOption
	}
	return ""
}

// urlsOf returns the URLs of the needs of a profile, by their names.
func urlsOf(p bench.Profile) map[string]string {
	all := map[string]string{}
	for _, n := range p.Needs {
		all[n.Name] = n.URL
	}
	return all
}

// usersUnsaved returns the names of the needs whose users come from the environment.
func usersUnsaved(p bench.Profile, given profile.Changes) (all []string) {
	for _, n := range p.Needs {
		address := given.Text(addressOption(n))
		if len(bench.EnvNames(address)) > 0 && strings.Contains(address, "@") {
			all = append(all, n.Name)
		}
	}
	return all
}

// resumedNeeds gives the needs of a run on record the URLs of the command line.
func resumedNeeds(run *bench.Run, o RunOptions) (err error) {
	k := kinds.ByURL
	i := slices.IndexFunc(run.Profile.Needs, func(n bench.NeedSpec) bool { return n.Kind == k.Kind && n.From.Traits().ByURL })
	given := o.Changes.Text(k.AddressOption)
	switch {
	case given != "" && i < 0:
		return console.Usagef("this run has no external need %s: omit --%s", k.Kind, k.AddressOption)
	case given != "":
		run.Profile.Needs[i].URL, err = needs.URL(k.AddressOption, given, o.Getenv)
	case i >= 0 && slices.Contains(run.UserUnsaved, run.Profile.Needs[i].Name):
		n := run.Profile.Needs[i]
		return console.Usagef("the user of %s came from the environment and was not saved; pass it again: --%s '%s'",
			n.Name, k.AddressOption, strings.Replace(n.URL, "://", "://${USER_NAME}:${PASSWORD}@", 1))
	}
	return err
}

// joinNeeds adds the needs of the manifests of contenders to those of the profile, which has the
// name file. It warns of needs of one name that are not written alike.
func joinNeeds(run *bench.Run, file string, services map[bench.Selection]bench.Service) (err error) {
	run.Profile, err = profile.WithManifests(run.Profile, file, func(sel bench.Selection) (bench.Service, bool) {
		return services[sel], services[sel].URL == ""
	})
	if err != nil {
		return console.WithCode(console.ExitUsage, err)
	}
	all := run.Profile.Needs
	for i, n := range all {
		first := slices.IndexFunc(all, func(other bench.NeedSpec) bool { return other.Name == n.Name })
		if first < i && all[first].Of.String() != n.Of.String() {
			run.Warnings.Add(verdict.OwnNeeds(all[first], n))
		}
	}
	return nil
}

// withNeeds returns a profile with the needs of manifests, where they can be found.
func withNeeds(p bench.Profile, o RunOptions) (bench.Profile, error) {
	run := bench.Run{Profile: p}
	var err error
	if run.Services, err = serviceFolders(o, p); err != nil {
		return p, nil //nolint:nilerr // a run reports it
	}
	services, err := servicesOf(&run, o.Services)
	if err != nil {
		return p, nil //nolint:nilerr // a run reports it
	}
	err = joinNeeds(&run, o.Profile, services)
	return run.Profile, err
}
