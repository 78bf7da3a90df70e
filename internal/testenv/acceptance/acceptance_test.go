//go:build unix

package main

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestTestsOf(t *testing.T) {
	root := t.TempDir()
	write(t, root+"/a/plain_test.go", "package a\nfunc TestPlain(t *testing.T) {}\n")
	write(t, root+"/a/helper_test.go", "//go:build acceptance\n\npackage a\nfunc TestMain(m *testing.M) {}\n")
	write(t, root+"/a/engine_test.go", "//go:build acceptance && engine\n\npackage a\nfunc TestOne(t *testing.T) {}\nfunc helper() {}\n")
	write(t, root+"/a/more_test.go", "//go:build acceptance && engine && unix\n\npackage a\nfunc TestTwo(t *testing.T) {}\n")
	write(t, root+"/a/more_windows_test.go", "//go:build acceptance && engine\n\npackage a\nfunc TestElsewhere(t *testing.T) {}\n")
	write(t, root+"/a/store_test.go", "//go:build acceptance && store\n\npackage a\nfunc TestThree(t *testing.T) {}\n")
	write(t, root+"/a/testdata/engine_test.go", "//go:build acceptance && engine\n\npackage a\nfunc TestData(t *testing.T) {}\n")

	got, err := testsOf(root, testenv.Parts)
	if err != nil {
		t.Fatal(err)
	}
	dir := "./" + filepath.ToSlash(root) + "/a"
	want := map[string][]packageTests{
		"engine": {{dir: dir, names: []string{"TestOne", "TestTwo"}}},
		"store":  {{dir: dir, names: []string{"TestThree"}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

func TestChosen(t *testing.T) {
	parts, err := chosen([]string{"timing", "engine"})
	if err != nil || len(parts) != 2 || parts[0].Name != "engine" {
		t.Errorf("parts %v, %v: want engine before timing", parts, err)
	}
	if all, err := chosen(nil); err != nil || len(all) != len(testenv.Parts) || all[len(all)-1].Name != "timing" {
		t.Errorf("all parts %v, %v: want timing last", all, err)
	}
	if _, err := chosen([]string{"engines"}); err == nil || !strings.Contains(err.Error(), `"engines" is not a part (use one of: static,`) {
		t.Errorf("error %v", err)
	}
}

// TestRunPart_Counts runs a part of commands, and counts what passed, failed and could not run,
// also in the output of `go test -json`.
func TestRunPart_Counts(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir(logs, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, "events", `{"Action":"output","Package":"github.com/locbench/locbench/a","Test":"TestSkipped","Output":"    x_test.go:3: no engine: none responds\n"}
{"Action":"skip","Package":"github.com/locbench/locbench/a","Test":"TestSkipped"}
{"Action":"pass","Package":"github.com/locbench/locbench/a","Test":"TestGood/sub"}
{"Action":"pass","Package":"github.com/locbench/locbench/a","Test":"TestGood"}
{"Action":"output","Package":"github.com/locbench/locbench/a","Test":"TestBad","Output":"    x_test.go:9: 3 sent, 2 answered\n"}
{"Action":"fail","Package":"github.com/locbench/locbench/a","Test":"TestBad"}
{"Action":"fail","Package":"github.com/locbench/locbench/a"}
{"Action":"fail","Package":"github.com/locbench/locbench/b"}
`)
	s := &suite{report: newReport()}
	got := s.runPart(context.Background(), testenv.Part{
		Name:    "some",
		Prepare: []testenv.Step{{Command: "echo log >&2; echo http://127.0.0.1:1", Env: "URL"}},
		Run: []testenv.Step{
			{Name: "with the URL", Command: `test "$URL" = http://127.0.0.1:1`},
			{Name: "not here", Command: "echo no database; exit 75"},
			{Name: "bad", Command: "exit 3"},
			{Name: "tests", Command: "cat events # -json"},
		},
		Cleanup: "touch cleaned",
	})
	want := partReport{
		Name: "some", Passed: 2, Failed: 3, Skipped: 2,
		Failures: []outcome{{"bad", "exit 3 ended with 3"}, {"a TestBad", "3 sent, 2 answered"}, {"b", ""}},
		Skips:    []outcome{{"not here", "no database"}, {"a TestSkipped", "no engine: none responds"}},
	}
	got.Seconds, got.Prepared = 0, 0
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if _, err := os.Stat("cleaned"); err != nil {
		t.Errorf("no cleanup: %v", err)
	}
	s.report.Parts = append(s.report.Parts, got)
	if code := s.report.finish(1); code != 1 {
		t.Errorf("exit code %d with failed tests", code)
	}
}

func TestRunPart_FailedPreparationFailsThePart(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir(logs, 0o755); err != nil {
		t.Fatal(err)
	}
	s := &suite{report: newReport()}
	got := s.runPart(context.Background(), testenv.Part{
		Name:    "some",
		Prepare: []testenv.Step{{Command: "echo no root; exit 1"}},
		Run:     []testenv.Step{{Name: "never", Command: "touch ran"}},
	})
	if got.Failed != 1 || got.Passed != 0 || !strings.Contains(got.Failures[0].Reason, "no root") {
		t.Errorf("got %+v", got)
	}
	if _, err := os.Stat("ran"); err == nil {
		t.Error("the part ran without its preparation")
	}
}
