package app

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
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

// ran returns what the complete trials of a resumed run ran, for each contender that also has
// others. The rounds of a contender are of one version.
func ran(p Plan) map[bench.Selection]bench.Artifact {
	complete, left := map[string]bool{}, map[bench.Selection]bool{}
	for _, e := range p.Run.Trials {
		complete[e.Trial.String()] = e.State == bench.TrialComplete
		left[e.Trial.Selection()] = left[e.Trial.Selection()] || e.State != bench.TrialComplete
	}
	_, trials, _ := results.Read(p.Dir) // what cannot be read was reported by the plan
	all := map[bench.Selection]bench.Artifact{}
	for _, t := range trials {
		if sel := t.Trial.Selection(); complete[t.Trial.String()] && left[sel] {
			all[sel] = t.Artifact
		}
	}
	return all
}

// changedSources returns an error if the folder of a contender has changed since its complete
// trials.
func changedSources(p Plan, before map[bench.Selection]bench.Artifact) error {
	for _, sel := range p.Run.Profile.Contenders {
		was := before[sel].Sources
		if was == "" || p.Run.Profile.SettingsOf(sel).Image != "" { // the image decides, see sameImages
			continue
		}
		is, err := contender.SourceHash(p.Services[sel])
		if err != nil {
			is = safe.Line(err.Error(), 300)
		}
		if is != was {
			return console.Usagef("cannot resume: the folder of %s changed since its complete rounds in %s (sources %s, "+
				"now %s). Restore the folder, or start a new run", safe.Line(sel.String(), 120), p.Dir, safe.Line(was, 64), is)
		}
	}
	return nil
}

// sameImage returns an error if svc names an existing image that is not the one of the complete
// trials. A built image is known by its sources.
func sameImage(a bench.Artifact, svc bench.Service, p Plan, before map[bench.Selection]bench.Artifact) error {
	if a.ImageID == "" || svc.Docker == nil || svc.Docker.Image == "" {
		return nil
	}
	i := slices.IndexFunc(p.Run.Profile.Contenders, func(sel bench.Selection) bool {
		s := p.Services[sel]
		return s.Name == svc.Name && s.Variant == svc.Variant && before[sel].ImageID != ""
	})
	if i < 0 || before[p.Run.Profile.Contenders[i]].ImageID == a.ImageID {
		return nil
	}
	return console.Usagef("cannot resume: image %s changed since the complete rounds in %s (%s, now %s). "+
		"Restore the image, or start a new run", safe.Line(svc.Docker.Image, 120), p.Dir,
		shortID(before[p.Run.Profile.Contenders[i]].ImageID), shortID(a.ImageID))
}

// shortID returns an image's ID as the docker command prints it.
func shortID(id string) string {
	id = strings.TrimPrefix(id, "sha256:")
	return safe.Line(id[:min(len(id), 12)], 40)
}
