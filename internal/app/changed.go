package app

import (
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
)

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
