package compare

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/table"
)

// FloorSchema is the version of the file format of Floor.
const FloorSchema = 1

// Floor is the noise floor of a machine, from an A/A test: the alternating rounds of one contender,
// compared with each other.
type Floor struct {
	Schema      int            `json:"schema"`
	Contender   string         `json:"contender"`
	Rounds      int            `json:"rounds"`           // per side
	Made        time.Time      `json:"made"`             // start of the run
	Machine     bench.Machine  `json:"machine"`          // machine that was measured
	Profile     string         `json:"profile"`          // name of the profile
	ProfileHash string         `json:"profile_hash"`     // see ProfileHash
	Engine      bench.Engine   `json:"engine,omitempty"` // load engine that was chosen; "": auto
	Measures    []MeasureFloor `json:"measures"`
	// number of measures with a significant difference, all of them false positives
	FalsePositives int `json:"false_positives"`
}

// MeasureFloor is the noise of one measure.
type MeasureFloor struct {
	Measure measure.ID   `json:"measure"`
	Ratio   *stats.Ratio `json:"ratio,omitempty"` // second side to first, ideally 1; nil: not measured
	// distance from 1 to the farther end of the CI, as a change: .04 is 4%
	Floor   float64       `json:"floor,omitempty"`
	Verdict stats.Verdict `json:"verdict"`
}

// falsePositive reports whether the sides differ, although nothing changed.
func (m MeasureFloor) falsePositive() bool {
	return m.Verdict == stats.Better || m.Verdict == stats.Worse
}

// Largest returns the largest noise floor of all measures.
func (f Floor) Largest() (largest float64) {
	for _, m := range f.Measures {
		largest = max(largest, m.Floor)
	}
	return largest
}

// Of returns the noise floor of one measure; 0 if it is not known, or f is nil.
func (f *Floor) Of(m measure.ID) float64 {
	if f != nil {
		for _, known := range f.Measures {
			if known.Measure == m && known.Floor > 0 && !math.IsInf(known.Floor, 0) {
				return known.Floor
			}
		}
	}
	return 0
}

// Fits reports whether f was measured on the machine of a run with the same load and engine.
func (f Floor) Fits(r bench.Run) bool {
	a, b := f.Machine, r.Machine
	return f.Schema == FloorSchema && f.ProfileHash == ProfileHash(r.Profile) && f.Engine == r.Engine &&
		a.CPUModel == b.CPUModel && a.CPUs == b.CPUs && a.MemoryBytes == b.MemoryBytes && a.OS == b.OS && a.Arch == b.Arch
}

// farEnd returns the distance from 1 to the farther end of the CI, as a change: .04 is 4%.
func farEnd(r stats.Ratio) float64 {
	return math.Expm1(max(math.Abs(math.Log(r.Low)), math.Abs(math.Log(r.High))))
}

// NoiseFloor compares the alternating rounds of one contender with each other. Every difference is
// noise, so smaller differences between contenders are not significant.
func NoiseFloor(s Set) (Floor, error) {
	all, err := s.contenders()
	if err != nil {
		return Floor{}, err
	}
	if len(all) != 1 {
		return Floor{}, errors.New("several contenders in these results: name one")
	}
	label, run, n := all[0].Label, s.Run.Run, 0
	var halves [2][]bench.TrialResult
	for _, trial := range all[0].Results {
		if trial.State == bench.TrialComplete {
			halves[n%2] = append(halves[n%2], trial)
			n++
		}
	}
	if need := 2 * stats.MinInterval; n < need {
		return Floor{}, fmt.Errorf("%s has %d complete rounds, needs %d (half per side)", label, n, need)
	}
	f := Floor{
		Schema: FloorSchema, Contender: label, Rounds: n / 2, Made: run.Started, Machine: run.Machine,
		Profile: run.Profile.Name, ProfileHash: ProfileHash(run.Profile), Engine: run.Engine,
	}
	before, after := analysis.Of(run, halves[0]), analysis.Of(run, halves[1])
	for _, row := range Pair(before.Contenders[0], after.Contenders[0], nil, Options{}).Rows {
		if measure.Get(row.Measure).Comparison.Apart {
			continue
		}
		m := MeasureFloor{Measure: row.Measure, Ratio: row.Ratio, Verdict: row.Verdict}
		if row.Ratio != nil {
			m.Floor = farEnd(*row.Ratio)
		}
		if m.falsePositive() {
			f.FalsePositives++
		}
		f.Measures = append(f.Measures, m)
	}
	return f, nil
}

// Words returns the noise floor of each measure and its source: "throughput 2.1%, p99 8.0%
// (go-nethttp vs itself, 6 rounds per side, 2026-11-21 08:00)".
func (f Floor) Words() string {
	var parts []string
	for _, m := range f.Measures {
		if m.Floor > 0 {
			parts = append(parts, fmt.Sprintf("%s %.1f%%", safe.Line(string(m.Measure), 40), 100*m.Floor))
		}
	}
	return fmt.Sprintf("%s (%s vs itself, %s per side, %s)", strings.Join(parts, ", "),
		safe.Line(f.Contender, 100), units.Plural(f.Rounds, "round"), f.Made.Format("2006-01-02 15:04"))
}

// Text writes the noise floor as text.
func (f Floor) Text(w io.Writer) error {
	t := table.Table{Columns: []table.Column{{Title: "measure", Left: true}, {Title: "2nd vs 1st"}, {Title: "floor", Left: true}}}
	for _, m := range f.Measures {
		row := []string{string(m.Measure), "not measured", ""}
		if m.Ratio != nil {
			row[1], row[2] = m.Ratio.Words(), fmt.Sprintf("%.1f%%", 100*m.Floor)
		}
		if m.falsePositive() {
			row[2] += ", false positive"
		}
		t.Add(row...)
	}
	text := fmt.Sprintf("%s vs itself, %d rounds per side, alternating\n%s"+
		"With %d rounds of this load, this machine cannot show smaller changes. 'locbench compare' applies this\n"+
		"floor to results next to it (same machine and load); elsewhere use: locbench compare --floor %.1f%%\n",
		safe.Line(f.Contender, 200), f.Rounds, t.Text(0), f.Rounds, math.Ceil(1000*f.Largest())/10)
	if f.FalsePositives > 0 {
		text += fmt.Sprintf("%d of %d measures differ although nothing changed: this machine is too noisy. "+
			"Stop other work and calibrate again.\n", f.FalsePositives, len(f.Measures))
	}
	_, err := io.WriteString(w, text)
	return err
}
