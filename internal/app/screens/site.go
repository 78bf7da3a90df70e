package screens

import (
	"os"
	"path/filepath"

	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/show/tui/setup"
	"github.com/locbench/locbench/profiles"
)

// Site reads profiles and contenders for the setup screen.
type Site struct {
	Services []string // folders with more contenders
}

// maxFound is the most profiles that the setup screen lists from the working folder.
const maxFound = 50

// Profiles returns the bundled profiles, those in the working folder, and the one named also. Other
// YAML files are skipped, unless also names one.
func (s Site) Profiles(also string) []setup.Profile {
	var out []setup.Profile
	seen := map[string]bool{}
	add := func(name string, must bool) {
		if seen[name] {
			return
		}
		p, err := profile.Load(name, profiles.FS)
		if err == nil || must {
			seen[name] = true
			out = append(out, setup.Profile{Name: name, Profile: p, Err: err})
		}
	}
	list, _ := profile.List(profiles.FS)
	for _, p := range list {
		add(p.Name, true)
	}
	entries, _ := os.ReadDir(".")
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); len(out) < maxFound && e.Type().IsRegular() && (ext == ".yaml" || ext == ".yml") {
			add(e.Name(), false)
		}
	}
	add(also, true)
	return out
}

// Contenders returns those of the given folders of services, or else of the profile's.
func (s Site) Contenders(services string) ([]bench.Service, error) {
	folders := s.Services
	if len(folders) == 0 && services != "" {
		folders = []string{services}
	}
	return app.Discover(folders)
}
