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
	want := func(built bool) {
		t.Helper()
		testenv.Equal(t, testenv.Must(ProcessState(svc, o))(t), built)
	}
	want(false)
	testenv.OK(t, testenv.Err(BuildProcess(t.Context(), svc, o)))
	want(true)
	first, err := ImageRef(svc, "amd64", o)
	testenv.Check(t, err == nil && strings.HasPrefix(first, "locbench/x:"), "%q, %v", first, err)
	files["main.sh"] = &fstest.MapFile{Data: []byte("echo changed\n")}
	want(false)
	second, _ := ImageRef(svc, "amd64", o)
	testenv.Check(t, second != first, "other sources, same image")
	svc.Process.Build = [][]string{{"no-such-tool-anywhere", "x"}}
	testenv.Fails(t, testenv.Err(ProcessState(svc, o)), "no-such-tool-anywhere is not installed")
	svc.Process, svc.Docker = nil, nil
	testenv.Check(t, testenv.Err(ProcessState(svc, o)) != nil, "no recipe, no error")
	testenv.Check(t, testenv.Err(ImageRef(svc, "amd64", o)) != nil, "no recipe, no error")
	left, _ := filepath.Glob(filepath.Join(o.Cache, "*no-such*"))
	testenv.Check(t, len(left) <= 0, "looking has left %q", left)
}

// Two variants that differ only in their start share a build, one with another build has its own.
func TestBuildProcess_Variants(t *testing.T) {
	files := fstest.MapFS{"main.sh": {Data: []byte("echo\n")}}
	variant := func(name, build string) bench.Service {
		return bench.Service{Name: "x", Variant: name, Files: files, Env: map[string]string{"ENGINE": name},
			Process: &bench.ProcessRecipe{Build: [][]string{{"true", build}}, Command: []string{"{{.Dir}}/main.sh", name}}}
	}
	o := BuildOptions{Cache: t.TempDir(), Groups: cgroup.Tree{Root: t.TempDir()}, Self: os.Args[0]}
	built := func(svc bench.Service) bench.Artifact { return testenv.Must(BuildProcess(t.Context(), svc, o))(t) }
	first := built(variant("one", "a"))
	if second := built(variant("two", "a")); !second.BuildCached || second.Dir != first.Dir || second.Command[1] != "two" {
		t.Errorf("the second variant was built again: %+v", second)
	}
	a := built(variant("other", "b"))
	testenv.Check(t, !a.BuildCached && a.Dir != first.Dir, "other commands, the same build: %+v", a)
}
