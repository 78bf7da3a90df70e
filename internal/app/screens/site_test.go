package screens

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// A worktree next to its contender does not disturb the list of contenders.
func TestWorktreeInTheServicesFolder(t *testing.T) {
	const manifest = "name: orders\nlanguage: Go\nframework: none\nversion: '1'\ndocker: {image: 'orders:1'}\n"
	dir := testenv.Folder(t, map[string]string{"orders/service.yaml": manifest, "before/service.yaml": manifest,
		"before/.git": "gitdir: /src/orders/.git/worktrees/before\n"})
	all, err := Site{Services: []string{dir}}.Contenders("/not/looked/at")
	at := slices.IndexFunc(all, func(s bench.Service) bool { return s.Name == "orders" })
	testenv.Check(t, err == nil && at >= 0 && filepath.Base(all[at].Dir) == "orders", "%v; %+v", err, all)
}

func TestProfilesAreFound(t *testing.T) {
	t.Chdir(t.TempDir())
	testenv.OK(t, os.WriteFile("my profile.yaml", []byte("requests: [{get: /}]\nsteps: [1]\n"), 0o644))
	testenv.OK(t, os.WriteFile("compose.yaml", []byte("services: {}\n"), 0o644))
	var names []string
	for _, found := range (Site{}).Profiles("gone.yaml") {
		if found.Err != nil {
			found.Name += "!"
		}
		names = append(names, found.Name)
	}
	for _, want := range []string{"quick", "locations", "my profile.yaml", "gone.yaml!"} {
		testenv.Check(t, slices.Contains(names, want), "%q lacks %s", names, want)
	}
	testenv.Check(t, !slices.Contains(names, "compose.yaml"), "a YAML file that is not a profile is listed")
	left, _ := filepath.Glob(".locbench-*")
	testenv.Check(t, len(left) <= 0, "left behind: %q", left)
}
