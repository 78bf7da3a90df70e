package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

func said(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	code := Main(context.Background(), Env{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }})
	if code != console.ExitOK {
		t.Errorf("%v: exit code %d\n%s", args, code, errs.String())
	}
	return out.String()
}

// compare applies a calibrated noise floor to results of the same load next to it, and to no
// others.
func TestCompareFindsTheFloor(t *testing.T) {
	base := resultsFolder(t, 6, 1.5, map[string]int64{"a": 10_000})
	slower := resultsFolder(t, 6, 1.5, map[string]int64{"a": 9_000})
	if text := said(t, "compare", base, slower); !strings.Contains(text, "worse: −10.0%") || !strings.Contains(text, "No noise floor is known") {
		t.Errorf("before:\n%s", text)
	}
	calibration := resultsFolder(t, 12, 1.5, map[string]int64{"a": 10_000})
	if text := said(t, "calibrate", "--from", calibration); !strings.Contains(text, "'locbench compare' applies this") {
		t.Errorf("calibrate:\n%s", text)
	}
	// A floor of 1% does not hide a difference of 10%.
	text := said(t, "compare", base, slower)
	if !strings.Contains(text, "worse: −10.0%") || !strings.Contains(text, "Noise floor: throughput 1.0% (a vs itself, 6 rounds per side") {
		t.Errorf("with a floor of 1%%:\n%s", text)
	}
	// A newer floor of 20% hides it.
	f, err := app.ReadFloor(filepath.Join(calibration, app.FloorFile))
	testenv.OK(t, err)
	newer := filepath.Join(filepath.Dir(calibration), "newer")
	testenv.OK(t, os.Mkdir(newer, 0o755))
	f.Made, f.Measures[0].Floor = f.Made.Add(time.Hour), .2
	testenv.OK(t, app.WriteFloor(newer, f))
	if text := said(t, "compare", base, filepath.Join(slower, "run.json")); !strings.Contains(text, "below the noise floor (20%)") {
		t.Errorf("with a floor of 20%%:\n%s", text)
	}
	if text := said(t, "compare", base, slower, "--floor", "none"); !strings.Contains(text, "worse: −10.0%") {
		t.Errorf("without one:\n%s", text)
	}
	// Results with other limits, or of another machine, are not of the same load.
	two := resultsFolder(t, 6, 2, map[string]int64{"a": 10_000})
	half := resultsFolder(t, 6, 2, map[string]int64{"a": 5_000})
	if text := said(t, "compare", two, half); !strings.Contains(text, "worse") || !strings.Contains(text, "No noise floor") {
		t.Errorf("other limits:\n%s", text)
	}
	if elsewhere := (bench.Run{Machine: bench.Machine{CPUs: 4}}); f.Fits(elsewhere) {
		t.Error("a floor of another machine fits")
	}
}

// An invalid file is ignored.
func TestHostileFloors(t *testing.T) {
	base := resultsFolder(t, 6, 1.5, map[string]int64{"a": 10_000})
	for _, content := range []string{"", "[]", `{"schema":3}`, `{"measures":[{"floor":1e999}]}`, strings.Repeat("[", 1<<16), `{"schema":3,"measures":null,"machine":7}`} {
		testenv.OK(t, os.WriteFile(filepath.Join(base, app.FloorFile), []byte(content), 0o600))
		if text := said(t, "compare", base, base); !strings.Contains(text, "No noise floor") {
			t.Errorf("%.20q:\n%s", content, text)
		}
	}
	// A floor that fits, with hostile texts and numbers.
	hostile := compare.Floor{Schema: compare.FloorSchema, Contender: "a\x1b[31m", Measures: []compare.MeasureFloor{{Measure: "throughput", Floor: -1}, {Measure: "x\x1b]0;owned\x07", Floor: 3}}}
	hostile.ProfileHash = compare.ProfileHash(bench.Profile{Limits: bench.Limits{CPUs: 1.5}})
	testenv.OK(t, app.WriteFloor(base, hostile))
	if text := said(t, "compare", base, base); strings.ContainsAny(text, "\x1b\x07") || !strings.Contains(text, "Noise floor: ") {
		t.Errorf("%q", text)
	}
	testenv.OK(t, os.Remove(filepath.Join(base, app.FloorFile)))
	testenv.OK(t, os.Mkdir(filepath.Join(base, app.FloorFile), 0o755))
	if _, err := app.ReadFloor(filepath.Join(base, app.FloorFile)); err == nil {
		t.Error("a folder is read as a floor")
	}
}
