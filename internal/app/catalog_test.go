package app

import (
	"path/filepath"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// An invalid manifest stops only runs of that contender.
func TestUnreadableManifestOfAnotherContender(t *testing.T) {
	const broken = "name: [\n"
	selected := []bench.Selection{{Contender: "go-nethttp"}}
	run := bench.Run{Profile: bench.Profile{Contenders: selected}}
	others := testenv.Folder(t, map[string]string{"mine/service.yaml": broken, "theirs/service.yaml": broken})
	for range 2 { // as when a run is resumed
		services, err := servicesOf(&run, []string{others})
		testenv.OK(t, err)
		testenv.Equal(t, services[selected[0]].Name, "go-nethttp")
		testenv.Need(t, len(run.Warnings) >= 2, "%q", run.Warnings)
		testenv.Contains(t, run.Warnings[0].Text, "mine/service.yaml")
		testenv.Contains(t, run.Warnings[1].Text, "theirs/service.yaml")
	}
	for selected, folder := range map[string]string{
		"mine":       "mine",       // the selected one
		"min":        "mine",       // one that may have been meant
		"go-nethttp": "go-nethttp", // one that replaces a bundled one
	} {
		run := bench.Run{Profile: bench.Profile{Contenders: []bench.Selection{{Contender: selected}}}}
		services := testenv.Folder(t, map[string]string{folder + "/service.yaml": broken})
		testenv.Fails(t, testenv.Err(servicesOf(&run, []string{services})), folder+"/service.yaml")
	}
	_, _, err := DiscoverFor([]string{filepath.Join(t.TempDir(), "none")}, selected)
	testenv.Fails(t, err)
}
