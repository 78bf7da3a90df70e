package app

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/console"
)

// envUse is an environment variable that a run uses as ${NAME}, and where.
type envUse struct{ name, where string }

// envUses returns the environment variables of a run's requests, contenders and needs, each once.
func envUses(run bench.Run, services map[bench.Selection]bench.Service) (uses []envUse) {
	add := func(where string, names []string) {
		for _, name := range names {
			if !slices.ContainsFunc(uses, func(u envUse) bool { return u.name == name }) {
				uses = append(uses, envUse{name, where})
			}
		}
	}
	for _, r := range run.Profile.Every() {
		add(fmt.Sprintf("request %q", r.Name), r.EnvNames())
	}
	for _, sel := range run.Profile.Contenders {
		env, header := services[sel].Env, services[sel].Ready.Header
		for _, key := range slices.Sorted(maps.Keys(header)) {
			add(fmt.Sprintf("ready.header of contender %s", sel), bench.EnvNames(header[key]))
		}
		for _, key := range slices.Sorted(maps.Keys(env)) {
			add(fmt.Sprintf("%s of contender %s", key, sel), bench.EnvNames(env[key]))
		}
	}
	for _, n := range run.Profile.Needs {
		add("need "+n.Label(), n.EnvNames())
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
