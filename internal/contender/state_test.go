package contender

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"locbench/internal/bench"
)

// TestStatesAgreeWithBuilding looks at a contender before and after it was built, and after its sources have changed.
func TestStatesAgreeWithBuilding(t *testing.T) {
	files := fstest.MapFS{"main.sh": {Data: []byte("echo\n")}, "Dockerfile": {Data: []byte("FROM scratch\n")}}
	svc := bench.Service{Name: "x", Files: files, Docker: &bench.DockerRecipe{Dockerfile: "Dockerfile"},
		Process: &bench.ProcessRecipe{Build: [][]string{{"true"}}, Command: []string{"{{.Dir}}/main.sh"}}}
	o := BuildOptions{Cache: t.TempDir(), Self: os.Args[0]}
	want := func(built, before bool) {
		t.Helper()
		b, f, err := ProcessState(svc, o)
		if b != built || f != before || err != nil {
			t.Errorf("built %v, before %v, %v; want %v, %v", b, f, err, built, before)
		}
	}
	want(false, false)
	if _, err := BuildProcess(t.Context(), svc, o); err != nil {
		t.Fatal(err)
	}
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
	if _, _, err := ProcessState(svc, o); err == nil || err.Error() != "no-such-tool-anywhere is not installed here" {
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
