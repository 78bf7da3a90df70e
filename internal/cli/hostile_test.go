package cli

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/safe"
)

// hostile is appended to texts from outside: an escape sequence, other control characters of both
// sets, bidirectional and invisible marks, and line ends before a forged line.
const hostile = "\x1b[31m\x1b]0;x\x07\x7f\u009b1m\u0085\u202e\u2066\u200e\u061c\u2028\u00ad\nFORGED 1\r\nFORGED 2\rFORGED 3"

// poison appends hostile to each text in v except names of files and histograms.
func poison(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() && v.CanSet() && v.Len() > 0 {
			v.SetString(v.String() + hostile)
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() && v.Kind() == reflect.Pointer {
			poison(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			poison(v.Index(i))
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(k))
			poison(value)
			v.SetMapIndex(k, value)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; v.Type().Field(i).IsExported() && name != "File" && name != "HDR" {
				poison(v.Field(i))
			}
		}
	}
}

// hostileResults returns a results folder of two contenders with all texts poisoned.
func hostileResults(t *testing.T) string {
	t.Helper()
	run, trials, err := results.Read(filepath.Join("..", "..", "testdata", "results", "burst"))
	testenv.OK(t, err)
	run.Trials, trials, run.Profile.Contenders = run.Trials[:2], trials[:2], run.Profile.Contenders[:2]
	run.Command = []string{"locbench", "run"}
	run.Warnings = append(run.Warnings, bench.Warning{Text: "a warning"})
	trials[0].Warnings = append(trials[0].Warnings, bench.Warning{Text: "a warning"})
	trials[0].Checks = append(trials[0].Checks, bench.CheckResult{Group: "g", Name: "n", Status: bench.CheckFailed, Detail: "d"})
	trials[1].State, trials[1].Failure, run.Trials[1].State = bench.TrialFailed, "it failed", bench.TrialFailed
	trials[1].LastLog = []bench.LogLine{{Text: "a line"}}
	trials[0].Steps[0].Load.Kept = []bench.KeptRequest{{Request: "get"}, {Error: bench.ErrOther}}
	trials[0].FirstRequests = &bench.FirstRequests{Started: time.Unix(1, 0), First: bench.RequestPhases{Err: "an error"}}
	poison(reflect.ValueOf(&run).Elem())
	for i := range trials {
		poison(reflect.ValueOf(&trials[i]).Elem())
	}
	dir := filepath.Join(t.TempDir(), "results")
	testenv.OK(t, os.Mkdir(dir, 0o755))
	for i, trial := range trials {
		testenv.OK(t, results.WriteJSON(filepath.Join(dir, run.Trials[i].File), trial))
	}
	testenv.OK(t, results.WriteJSON(filepath.Join(dir, results.RunFile), run))
	return dir
}

// yamlText returns s as an escaped YAML string.
func yamlText(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < 0x20 || r > 0x7e {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}

// clean fails if a text has characters of hostile, or, with forged, one of its lines.
func clean(t *testing.T, where, text string, forged bool) {
	t.Helper()
	for _, r := range text {
		if r != '\n' && r != '\t' && r != '\r' && r != safe.ZeroWidth && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			t.Errorf("%s: %U is not escaped", where, r)
			return
		}
	}
	if i := strings.Index(text, "\r"); i >= 0 && !strings.HasPrefix(text[i:], "\r\n") {
		t.Errorf("%s: a lone carriage return is not escaped", where)
	}
	for line := range strings.SplitSeq(text, "\n") {
		// An indented line belongs to the line before it: an error of several lines.
		if forged && strings.HasPrefix(line, "FORGED") {
			t.Errorf("%s: a line is forged: %q", where, line)
		}
	}
}

// TestHostileInput runs every command that reads texts from outside.
func TestHostileInput(t *testing.T) {
	h := yamlText("x" + hostile)
	dir := hostileResults(t)
	again := hostileResults(t)
	manifest := "title: %[1]s\nlanguage: %[1]s\nframework: %[1]s\nversion: %[1]s\nunverified: %[1]s\nenv: {TEXT: %[1]s}\n" +
		"docker: {image: x}\nprocess: {command: [%[1]s]}\nvariants: [{name: a, title: %[1]s}]\n"
	services := folderOf(t, map[string]string{"good/service.yaml": fmt.Sprintf(manifest, h)})
	profile := fileOf(t, "good.yaml", fmt.Sprintf("title: %[1]s\ndescription: %[1]s\nrequests: [{name: %[1]s, path: /, header: {X-A: %[1]s}}]\nsteps: [{connections: 1, duration: 1s}]\n", h))
	broken := fileOf(t, "broken.yaml", fmt.Sprintf("%[1]s: 1\nrounds: %[1]s\nneeds: %[1]s\nsteps: [%[1]s]\n", h))
	suite := fileOf(t, "suite.yaml", fmt.Sprintf("suite: %[1]s\ngroups: {g: [{name: %[1]s, request: GET /, expect: {status: 200}}]}\n", h))
	out := t.TempDir()
	for _, args := range [][]string{
		{"--help"}, {hostile}, {"--" + hostile},
		{"services", "list", "--services", services}, {"services", "show", "good", "--services", services},
		{"services", "validate", services}, {"services", "show", hostile}, {"services", "validate", hostile},
		{"__complete", "services", "show", "--services", services, ""},
		{"profiles", "list"}, {"profiles", "show", profile}, {"profiles", "validate", profile}, {"profiles", "validate", broken},
		{"profiles", "show", hostile}, {"run", "--headless", "--profile", broken}, {"run", "--headless", "--profile", hostile},
		{"run", "--headless", hostile}, {"run", "--headless", "--target", hostile}, {"run", "--headless", "--elastic", hostile},
		{"run", "--resume", hostile}, {"run", "--resume", dir}, {"check", "http://127.0.0.1:1", "--suite", suite},
		{"check", hostile}, {"check", "http://127.0.0.1:1", "--suite", broken}, {"seed", "--elastic", hostile},
		{"report", dir}, {"report", dir, "--format", "md"}, {"report", dir, "--format", "csv"}, {"report", dir, "--format", "json"},
		{"report", dir, "--format", hostile}, {"report", hostile}, {"report", dir, "--format", "md", "-o", filepath.Join(out, "summary.md")},
		{"compare", dir, again}, {"compare", dir, again, "--json"}, {"compare", dir}, {"compare", hostile, hostile}, {"compare", dir, hostile, hostile},
		{"history", dir, again}, {"history", dir, again, "--format", "csv"}, {"history", dir, again, "--format", "md"},
		{"history", hostile}, {"history", dir, "--measure", hostile}, {"history", dir, "--format", hostile},
		{"export", dir, "--format", "csv"}, {"export", dir, "--format", "json"},
		{"export", dir, "--format", "prometheus"}, {"export", dir, "--format", "hgrm", "-o", out}, {"export", dir, "--format", "hlog", "-o", out},
		{"export", dir, "--format", "vegeta-json", "-o", out}, {"export", dir, "--format", "vegeta-csv", "-o", out},
		{"export", dir, "--format", "csv", "-o", filepath.Join(out, "file.csv")}, {"export", dir, "--format", hostile},
	} {
		code, stdout, stderr := shell(nil).runs(t, args...)
		name := strings.ReplaceAll(strings.Join(args, " "), hostile, "HOSTILE")
		csv := strings.Contains(name, "csv") // a cell may have several lines
		clean(t, name+" to standard output", stdout, !csv)
		clean(t, name+" to standard error", stderr, true)
		t.Log(code, name, len(stdout), stderr)
	}
	for _, tree := range []string{out, dir} {
		testenv.OK(t, filepath.WalkDir(tree, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			if filepath.Base(path) == results.ReportFile {
				data = pageText(data)
			}
			clean(t, path, string(data), false)
			return err
		}))
	}
}

// pageText returns a page without the library for charts, whose code has such characters.
func pageText(page []byte) []byte {
	var kept [][]byte
	for _, part := range bytes.SplitAfter(page, []byte("</script>")) {
		if len(part) < 100<<10 {
			kept = append(kept, part)
		}
	}
	return bytes.Join(kept, nil)
}
