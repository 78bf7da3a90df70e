package contender

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/host/cgroup"
	"github.com/locbench/locbench/internal/testenv"
)

// TestProcessState checks the state of a contender before and after its build, and after
// a change of its sources.
func TestProcessState(t *testing.T) {
	files := fstest.MapFS{"main.sh": {Data: []byte("echo\n")}, "Dockerfile": {Data: []byte("FROM scratch\n")}}
	svc := bench.Service{Name: "x", Files: files, Docker: &bench.DockerRecipe{Dockerfile: "Dockerfile"},
		Process: &bench.ProcessRecipe{Build: [][]string{{"true"}}, Command: []string{"{{.Dir}}/main.sh"}}}
	o := BuildOptions{Cache: t.TempDir(), Groups: cgroup.Tree{Root: t.TempDir()}, Self: os.Args[0]}
	want := func(built, before bool) {
		t.Helper()
		b, f, err := ProcessState(svc, o)
		if b != built || f != before || err != nil {
			t.Errorf("built %v, before %v, %v; want %v, %v", b, f, err, built, before)
		}
	}
	want(false, false)
	testenv.OK(t, testenv.Err(BuildProcess(t.Context(), svc, o)))
	want(true, false)
	first, err := ImageRef(svc, "amd64", o)
	if err != nil || !strings.HasPrefix(first, "locbench/x:") {
		t.Errorf("%q, %v", first, err)
	}
	files["main.sh"] = &fstest.MapFile{Data: []byte("echo changed\n")}
	want(false, true)
	if second, _ := ImageRef(svc, "amd64", o); second == first {
		t.Error("other sources, same image")
	}
	svc.Process.Build = [][]string{{"no-such-tool-anywhere", "x"}}
	if _, _, err := ProcessState(svc, o); err == nil || err.Error() != "no-such-tool-anywhere is not installed" {
		t.Errorf("%v", err)
	}
	svc.Process, svc.Docker = nil, nil
	if _, _, err := ProcessState(svc, o); err == nil {
		t.Error("no recipe, no error")
	}
	if _, err := ImageRef(svc, "amd64", o); err == nil {
		t.Error("no recipe, no error")
	}
	if left, _ := filepath.Glob(filepath.Join(o.Cache, "*no-such*")); len(left) > 0 {
		t.Errorf("looking has left %q", left)
	}
}

// TestProcessState_Variants has two variants that differ only in their start, and one with another
// build.
func TestProcessState_Variants(t *testing.T) {
	files := fstest.MapFS{"main.sh": {Data: []byte("echo\n")}}
	variant := func(name, build string) bench.Service {
		return bench.Service{Name: "x", Variant: name, Files: files, Env: map[string]string{"ENGINE": name},
			Process: &bench.ProcessRecipe{Build: [][]string{{"true", build}}, Command: []string{"{{.Dir}}/main.sh", name}}}
	}
	one, two, other := variant("one", "a"), variant("two", "a"), variant("other", "b")
	o := BuildOptions{Cache: t.TempDir(), Groups: cgroup.Tree{Root: t.TempDir()}, Self: os.Args[0]}
	built := func(svc bench.Service) bench.Artifact {
		t.Helper()
		a, err := BuildProcess(t.Context(), svc, o)
		testenv.OK(t, err)
		testenv.OK(t, RecordBuild(svc, bench.RuntimeProcess, a, o))
		return a
	}
	first := built(one)
	if second := built(two); !second.BuildCached || second.Dir != first.Dir || second.Command[1] != "two" {
		t.Errorf("the second variant was built again: %+v", second)
	}
	testenv.Equal(t, LastBuild(two, bench.RuntimeProcess, o), first.BuildTime, "of the second variant")
	testenv.Equal(t, LastBuild(other, bench.RuntimeProcess, o), 0, "of another build")
	if done, before, err := ProcessState(other, o); done || before || err != nil {
		t.Errorf("the build of others counts for one that was never built: %v, %v, %v", done, before, err)
	}
	if a := built(other); a.BuildCached || a.Dir == first.Dir {
		t.Errorf("other commands, the same build: %+v", a)
	}
	files["main.sh"] = &fstest.MapFile{Data: []byte("echo changed\n")}
	for _, svc := range []bench.Service{one, two, other} {
		if done, before, err := ProcessState(svc, o); done || !before || err != nil {
			t.Errorf("%s after a change: %v, %v, %v", svc.Variant, done, before, err)
		}
	}
}
