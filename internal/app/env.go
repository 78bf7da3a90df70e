package app

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
)

// envUse is an environment variable that a run uses as ${NAME}, and where.
type envUse struct {
	name, where string
	manifest    bool // a manifest says so
}

// envUses returns the environment variables of a run's requests, contenders and needs, each once.
func envUses(run bench.Run, services map[bench.Selection]bench.Service) (uses []envUse) {
	add := func(where string, manifest bool, names []string) {
		for _, name := range names {
			if !slices.ContainsFunc(uses, func(u envUse) bool { return u.name == name }) {
				uses = append(uses, envUse{name, where, manifest})
			}
		}
	}
	for _, r := range run.Profile.Every() {
		add(fmt.Sprintf("request %q", r.Name), false, r.EnvNames())
	}
	for _, sel := range run.Profile.Contenders {
		env, header := services[sel].Env, services[sel].Ready.Header
		for _, key := range slices.Sorted(maps.Keys(header)) {
			add(fmt.Sprintf("ready.header of contender %s", sel), true, bench.EnvNames(header[key]))
		}
		for _, key := range slices.Sorted(maps.Keys(env)) {
			_, set := run.Profile.SettingsOf(sel).Env[key]
			add(fmt.Sprintf("%s of contender %s", key, sel), !set, bench.EnvNames(env[key]))
		}
	}
	for _, n := range run.Profile.Needs {
		add("need "+n.Label(), n.Manifest, n.EnvNames())
	}
	return uses
}

// missingEnv returns an error that lists the unset environment variables of a run, or nil.
func missingEnv(run bench.Run, services map[bench.Selection]bench.Service, getenv func(string) string) error {
	var missing []string
	for _, use := range envUses(run, services) {
		if getenv(use.name) == "" {
			missing = append(missing, fmt.Sprintf("%s (%s)", use.name, use.where))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return console.Usagef("environment variable unset or empty: %s", strings.Join(missing, ", "))
}

// ofManifests returns the variables of the environment that manifests take, in a line each: they are
// not in the profile that the user has read.
func ofManifests(p Plan) (lines []string) {
	for _, use := range envUses(p.Run, p.Services) {
		if use.manifest {
			lines = append(lines, fmt.Sprintf("variable %s of the environment, in %s (manifest)", safe.Line(use.name, 120), safe.Line(use.where, 200)))
		}
	}
	return lines
}

// ManifestVariables returns the names of the variables of the environment that a run of the profile
// in a file takes, because of manifests that can be found, too.
func ManifestVariables(p bench.Profile, file string) (names []string) {
	o := RunOptions{Profile: file}
	run := bench.Run{Profile: p}
	var err error
	if run.Services, err = serviceFolders(o, p); err != nil {
		return nil
	}
	services, err := servicesOf(&run, nil)
	if err != nil || joinNeeds(&run, file, services) != nil {
		return nil // a run reports it
	}
	for _, use := range envUses(run, services) {
		names = append(names, use.name)
	}
	return names
}
