package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// An invalid manifest stops only runs of that contender.
func TestUnreadableManifestOfAnotherContender(t *testing.T) {
	broken := func(folders ...string) string {
		dir := t.TempDir()
		for _, f := range folders {
			testenv.OK(t, os.Mkdir(filepath.Join(dir, f), 0o755))
			testenv.OK(t, os.WriteFile(filepath.Join(dir, f, "service.yaml"), []byte("name: [\n"), 0o644))
		}
		return dir
	}
	selected := []bench.Selection{{Contender: "go-nethttp"}}

	run := bench.Run{Profile: bench.Profile{Contenders: selected}}
	for range 2 { // as when a run is resumed
		services, err := servicesOf(&run, []string{broken("mine", "theirs")})
		if err != nil || services[selected[0]].Name != "go-nethttp" {
			t.Fatalf("%v, %v", services, err)
		}
		if len(run.Warnings) < 2 || !strings.Contains(run.Warnings[0].Text, "mine/service.yaml") || !strings.Contains(run.Warnings[1].Text, "theirs/service.yaml") {
			t.Errorf("%q", run.Warnings)
		}
	}
	for name, tt := range map[string]struct {
		selected string
		folders  []string
	}{
		"the selected one":                {"mine", []string{"mine"}},
		"one that may have been meant":    {"min", []string{"mine"}},
		"one that replaces a bundled one": {"go-nethttp", []string{"go-nethttp"}},
	} {
		t.Run(name, func(t *testing.T) {
			run := bench.Run{Profile: bench.Profile{Contenders: []bench.Selection{{Contender: tt.selected}}}}
			if _, err := servicesOf(&run, []string{broken(tt.folders...)}); err == nil || !strings.Contains(err.Error(), tt.folders[0]+"/service.yaml") {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	if _, _, err := DiscoverFor([]string{filepath.Join(t.TempDir(), "none")}, selected); err == nil {
		t.Error("no error about a missing folder")
	}
}
