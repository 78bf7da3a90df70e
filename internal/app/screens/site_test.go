package screens

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/show/tui/setup"
	"github.com/locbench/locbench/internal/testenv"
)

// A worktree next to its contender disturbs neither the list of contenders nor what they need.
func TestWorktreeInTheServicesFolder(t *testing.T) {
	const manifest = "name: orders\nlanguage: Go\nframework: none\nversion: '1'\ndocker: {image: 'orders:1'}\n"
	dir := testenv.Folder(t, map[string]string{"orders/service.yaml": manifest, "before/service.yaml": manifest,
		"before/.git": "gitdir: /src/orders/.git/worktrees/before\n"})
	all, _, err := Site{Services: []string{dir}}.Contenders(t.Context(), bench.RuntimeProcess, "/not/looked/at")
	at := slices.IndexFunc(all, func(s bench.Service) bool { return s.Name == "orders" })
	testenv.Check(t, err == nil && at >= 0 && filepath.Base(all[at].Dir) == "orders", "%v; %+v", err, all)
}

func TestProfilesAreFound(t *testing.T) {
	t.Chdir(t.TempDir())
	site, ctx := Site{}, t.Context()
	testenv.OK(t, os.WriteFile("my profile.yaml", []byte("requests: [{get: /}]\nsteps: [1]\n"), 0o644))
	testenv.OK(t, os.WriteFile("compose.yaml", []byte("services: {}\n"), 0o644))
	var names []string
	for _, found := range site.Profiles(ctx, "gone.yaml") {
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

func TestProbe(t *testing.T) {
	responses := map[string]string{"/": `{"version":{"number":"8.1.0"}}`, "/city/_count": `{"count":14945}`}
	es := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := responses[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = w.Write([]byte(text))
	}))
	defer es.Close()
	site := Site{}
	got := site.Probe(t.Context(), es.URL)
	if got.Err != nil || got.Version != "8.1.0" || got.Size != 14945 || !strings.Contains(got.Warning, "not Elasticsearch 7") {
		t.Errorf("%+v", got)
	}
	delete(responses, "/city/_count")
	got = site.Probe(t.Context(), es.URL)
	testenv.Check(t, got.Err == nil && got.Size == 0, "without data: %+v", got)
	address := strings.Replace(es.URL, "http://", "http://me:secret@", 1)
	es.Close()
	err := site.Probe(t.Context(), address).Err
	testenv.Check(t, err != nil && !strings.Contains(err.Error(), "secret"), "away: %v", err)
}

func TestMachine(t *testing.T) {
	t.Setenv("DOCKER_HOST", "unix://"+filepath.Join(t.TempDir(), "none.sock"))
	site := Site{}
	m := site.Machine(t.Context())
	if m.CPUs < 1 || m.Memory < 1 || len(m.Warnings) < 5 || m.Engine.Err == nil || m.Engine.Version != "" {
		t.Errorf("%+v", m)
	}
	if most, err := m.Room(1); most != 1 || err != nil {
		t.Errorf("%d, %v", most, err)
	}
	if most, err := m.Room(2_000_000); err == nil || most >= 2_000_000 {
		t.Errorf("two million connections: %d, %v", most, err)
	}
	_, states, err := site.Contenders(t.Context(), bench.RuntimeProcess, "")
	testenv.OK(t, err)
	testenv.Equal(t, states[bench.Selection{Contender: "go-nethttp", Variant: "builtin"}].Kind, setup.Ready, states)
}
