package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// compare applies a calibrated noise floor to results of the same load next to it, and to no
// others.
func TestCompare_Floor(t *testing.T) {
	base := resultsFolder(t, 6, 1.5, map[string]int64{"a": 10_000})
	slower := resultsFolder(t, 6, 1.5, map[string]int64{"a": 9_000})
	says(t, 0, "worse: −10.0%…No noise floor is known", "compare", base, slower)
	calibration := resultsFolder(t, 12, 1.5, map[string]int64{"a": 10_000})
	says(t, 0, "'locbench compare' applies this", "calibrate", "--from", calibration)
	// A floor of 1% does not hide a difference of 10%.
	says(t, 0, "worse: −10.0%…Noise floor: throughput 1.0% (a vs itself, 6 rounds per side", "compare", base, slower)
	// A newer floor of 20% hides it.
	f, err := app.ReadFloor(filepath.Join(calibration, app.FloorFile))
	testenv.OK(t, err)
	newer := filepath.Join(filepath.Dir(calibration), "newer")
	testenv.OK(t, os.Mkdir(newer, 0o755))
	f.Made, f.Measures[0].Floor = f.Made.Add(time.Hour), .2
	testenv.OK(t, app.WriteFloor(newer, f))
	says(t, 0, "below the noise floor (20%)", "compare", base, filepath.Join(slower, "run.json"))
	says(t, 0, "worse: −10.0%", "compare", base, slower, "--floor", "none")
	// Results with other limits, or of another machine, are not of the same load.
	two := resultsFolder(t, 6, 2, map[string]int64{"a": 10_000})
	half := resultsFolder(t, 6, 2, map[string]int64{"a": 5_000})
	says(t, 0, "worse…No noise floor", "compare", two, half)
	if elsewhere := (bench.Run{Machine: bench.Machine{CPUs: 4}}); f.Fits(elsewhere) {
		t.Error("a floor of another machine fits")
	}
}

// An invalid file is ignored.
func TestCompare_HostileFloor(t *testing.T) {
	base := resultsFolder(t, 6, 1.5, map[string]int64{"a": 10_000})
	file := filepath.Join(base, app.FloorFile)
	for _, content := range []string{"", "[]", `{"schema":3}`, `{"measures":[{"floor":1e999}]}`, strings.Repeat("[", 1<<16),
		`{"schema":3,"measures":null,"machine":7}`} {
		testenv.OK(t, os.WriteFile(file, []byte(content), 0o600))
		says(t, 0, "No noise floor", "compare", base, base)
	}
	// A floor that fits, with hostile texts and numbers.
	run, _ := readResults(t, base)
	hostile := compare.Floor{Schema: compare.FloorSchema, Contender: "a\x1b[31m", ProfileHash: compare.ProfileHash(run.Profile),
		Machine: run.Machine, Measures: []compare.MeasureFloor{{Measure: "throughput", Floor: -1}, {Measure: "x\x1b]0;owned\x07", Floor: 3}}}
	testenv.OK(t, app.WriteFloor(base, hostile))
	lacks(t, "compare", says(t, 0, "Noise floor: ", "compare", base, base), "\x1b", "\x07")
	testenv.OK(t, os.Remove(file))
	testenv.OK(t, os.Mkdir(file, 0o755))
	if _, err := app.ReadFloor(file); err == nil {
		t.Error("a folder is read as a floor")
	}
}
