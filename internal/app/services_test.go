package app

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/testenv"
)

// The key services of a profile is all that a user names: its folder is relative to the profile's
// file, --services replaces it, and the run records it.
func TestServicesOfProfile(t *testing.T) {
	dir := t.TempDir()
	for file, version := range map[string]string{"team/svc/orders": "1", "other/orders": "2"} {
		folder := filepath.Join(dir, file)
		testenv.OK(t, os.MkdirAll(folder, 0o755))
		text := "name: orders\nlanguage: Go\nframework: none\nversion: '" + version + "'\ndocker: {image: 'orders:1'}\n"
		testenv.OK(t, os.WriteFile(filepath.Join(folder, "service.yaml"), []byte(text), 0o600))
	}
	file := filepath.Join(dir, "team", "p.yaml")
	plan := func(services string, options ...string) (Plan, error) {
		text := services + "contenders: [orders]\nrequests: [{path: /}]\nsteps: [1]\n"
		testenv.OK(t, os.WriteFile(file, []byte(text), 0o600))
		return NewPlan(RunOptions{Profile: file, ProfileNamed: true, Services: options})
	}
	orders := bench.Selection{Contender: "orders"}
	t.Chdir(t.TempDir()) // not the profile's folder
	for _, tt := range []struct {
		key     string
		options []string
		version string
		folder  string
	}{
		{"services: svc\n", nil, "1", "team/svc"},
		{"services: ../other\n", nil, "2", "other"},
		{"services: svc/orders\n", nil, "1", "team/svc/orders"},
		{"services: svc\n", []string{filepath.Join(dir, "other")}, "2", "other"},
	} {
		p, err := plan(tt.key, tt.options...)
		if err != nil {
			t.Errorf("%s%v: %v", tt.key, tt.options, err)
			continue
		}
		want := []string{filepath.Join(dir, tt.folder)}
		if p.Services[orders].Version != tt.version || !reflect.DeepEqual(p.Run.Services, want) {
			t.Errorf("%s%v: version %s from %v, want %s from %v", tt.key, tt.options, p.Services[orders].Version, p.Run.Services, tt.version, want)
		}
		folder := t.TempDir()
		p.Run.State = bench.RunInterrupted
		testenv.OK(t, results.WriteJSON(filepath.Join(folder, results.RunFile), p.Run))
		resumed, err := NewPlan(RunOptions{Resume: folder, Getenv: os.Getenv})
		if err != nil || resumed.Services[orders].Version != tt.version {
			t.Errorf("%s%v, resumed: %v, version %s", tt.key, tt.options, err, resumed.Services[orders].Version)
		}
	}
	for _, tt := range []struct{ key, want string }{
		{"", "`services: DIR` in the profile, or --services DIR"},
		{"services: nowhere\n", "nowhere"},
		{"services: ''\n", "write the path of a folder"},
	} {
		if _, err := plan(tt.key); err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "rs-warp") {
			t.Errorf("%q: %v, want %s", tt.key, err, tt.want)
		}
	}
}
