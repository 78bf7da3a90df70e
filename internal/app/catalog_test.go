package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locbench/internal/bench"
)

// A manifest that is of no use stops those who want its contender, and nobody else.
func TestUnreadableContenderOfOthers(t *testing.T) {
	broken := func(folders ...string) string {
		dir := t.TempDir()
		for _, f := range folders {
			if err := os.Mkdir(filepath.Join(dir, f), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, f, "service.yaml"), []byte("name: [\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	wanted := []bench.Selection{{Contender: "go-nethttp"}}

	run := bench.Run{Profile: bench.Profile{Contenders: wanted}}
	for range 2 { // as when a run is resumed
		services, err := servicesOf(&run, []string{broken("mine", "theirs")})
		if err != nil || services[wanted[0]].Name != "go-nethttp" {
			t.Fatalf("%v, %v", services, err)
		}
		if len(run.Warnings) < 2 || !strings.Contains(run.Warnings[0].Text, "mine/service.yaml") || !strings.Contains(run.Warnings[1].Text, "theirs/service.yaml") {
			t.Errorf("%q", run.Warnings)
		}
	}
	for name, tt := range map[string]struct {
		wanted  string
		folders []string
	}{
		"the one that is wanted":          {"mine", []string{"mine"}},
		"one that may have been meant":    {"min", []string{"mine"}},
		"one that would replace a wanted": {"go-nethttp", []string{"go-nethttp"}},
	} {
		t.Run(name, func(t *testing.T) {
			run := bench.Run{Profile: bench.Profile{Contenders: []bench.Selection{{Contender: tt.wanted}}}}
			if _, err := servicesOf(&run, []string{broken(tt.folders...)}); err == nil || !strings.Contains(err.Error(), tt.folders[0]+"/service.yaml") {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	if _, _, err := DiscoverFor([]string{filepath.Join(t.TempDir(), "none")}, wanted); err == nil {
		t.Error("a folder that is not there was no matter")
	}
}
