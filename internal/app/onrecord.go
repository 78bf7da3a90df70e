package app

import (
	"fmt"

	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs/kinds"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
)

// onRecord returns what a resumed run starts from its record, in a line each: whose code runs,
// since the folder may come from another person.
func onRecord(run bench.Run, services bool) (lines []string) {
	if services {
		for _, dir := range run.Services {
			lines = append(lines, fmt.Sprintf("services %s (on record)", safe.Line(dir, 300)))
		}
	}
	for _, s := range run.Profile.Settings {
		name := safe.Line(s.String(), 120)
		if s.Dir != "" {
			lines = append(lines, fmt.Sprintf("folder   %s for %s (on record)", safe.Line(s.Dir, 300), name))
		}
		if s.Image != "" {
			lines = append(lines, fmt.Sprintf("image    %s for %s (on record)", safe.Line(s.Image, 300), name))
		}
	}
	return lines
}

// sentOnRecord returns what a resumed run sends by its record, and where to, in a line each.
func sentOnRecord(p Plan, given profile.Changes) (lines []string) {
	if !given.Given("target") {
		for _, t := range p.Run.Targets {
			lines = append(lines, fmt.Sprintf("target   %s for %s (on record)",
				safe.Line(secret.Address(t.URL), 300), safe.Line(t.Name, 120)))
		}
	}
	for _, n := range p.Run.Profile.Needs {
		if n.URL != "" && !given.Given(addressOption(n)) {
			lines = append(lines, fmt.Sprintf("need     %s for %s (on record)", safe.Line(secret.Address(n.URL), 300), safe.Line(n.Name, 120)))
		}
	}
	for _, n := range p.Run.Profile.Needs {
		if k, ok := kinds.Of(n.Kind); ok && k.Runs != nil && !n.From.Traits().None {
			for _, text := range k.Runs(n) {
				lines = append(lines, fmt.Sprintf("need     %s: %s (on record)", safe.Line(n.Label(), 120), safe.Line(text, 400)))
			}
		}
		for _, f := range filesOf(n) {
			lines = append(lines, fmt.Sprintf("need     %s: file %s (on record)", safe.Line(n.Label(), 120), safe.Line(f.Path, 300)))
		}
	}
	for _, use := range envUses(p.Run, p.Services) {
		lines = append(lines, fmt.Sprintf("variable %s of the environment, in %s (on record)",
			safe.Line(use.name, 120), safe.Line(use.where, 200)))
	}
	for _, f := range p.Run.Files {
		lines = append(lines, fmt.Sprintf("file     %s (on record)", safe.Line(f.File, 300)))
	}
	return lines
}

// lostOnRecord returns the trials in dir that a resumed run repeats because their files cannot be
// read, in a line each.
func lostOnRecord(dir string) (lines []string) {
	_, _, err := results.Read(dir)
	for _, d := range results.DamagedOf(err) {
		lines = append(lines, fmt.Sprintf("repeated %s", safe.Line(d.Error(), 400)))
	}
	return lines
}

// sameProfile returns an error unless the profile on record is the one that the run began with.
// Versions of locbench hash profiles differently.
func sameProfile(run bench.Run, dir string) error {
	if run.Software.Locbench != Version() || compare.ProfileHash(run.Profile) == run.Hash {
		return nil
	}
	return console.Usagef("cannot resume: the profile in %s is not the one that the run began with (profile_hash): "+
		"it was edited, or has a masked secret. Start a new run", safe.Line(dir, 300))
}
