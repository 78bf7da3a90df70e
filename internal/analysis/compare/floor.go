package compare

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
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
	return f.Schema == FloorSchema && f.ProfileHash == ProfileHash(r.Profile) && f.Engine == r.Engine && a.CPUModel == b.CPUModel &&
		a.CPUs == b.CPUs &&
		a.MemoryBytes == b.MemoryBytes && a.OS == b.OS && a.Arch == b.Arch
}

// farEnd returns the distance from 1 to the farther end of the CI, as a change: .04 is 4%.
func farEnd(r stats.Ratio) float64 {
	return math.Expm1(max(math.Abs(math.Log(r.Low)), math.Abs(math.Log(r.High))))
}

// NoiseFloor compares the alternating rounds of one contender with each other. Every difference is
// noise, so smaller differences between contenders are not significant.
func NoiseFloor(s Set) (Floor, error) {
	all, err := contenders(s)
	if err != nil {
		return Floor{}, err
	}
	if len(all) != 1 {
		return Floor{}, errors.New("several contenders in these results: name one")
	}
	label := all[0].Label
	run := s.Run.Run
	var halves [2][]bench.TrialResult
	n := 0
	for _, trial := range all[0].Results {
		if trial.State == bench.TrialComplete {
			halves[n%2] = append(halves[n%2], trial)
			n++
		}
	}
	if n < 2*stats.MinInterval {
		return Floor{}, fmt.Errorf("%s has %d complete rounds, needs %d (half per side)", label, n,
			2*stats.MinInterval)
	}
	f := Floor{
		Schema: FloorSchema, Contender: label, Rounds: n / 2, Made: run.Started, Machine: run.Machine,
		Profile: run.Profile.Name, ProfileHash: ProfileHash(run.Profile), Engine: run.Engine,
	}
	result, err := Compare(Set{Run: analysis.Of(run, halves[0])}, Set{Run: analysis.Of(run, halves[1])}, Options{})
	if err != nil {
		return Floor{}, err
	}
	for _, row := range result.Contenders[0].Rows {
		if measure.Get(row.Measure).Comparison.Apart {
			continue
		}
		m := MeasureFloor{Measure: row.Measure, Ratio: row.Ratio, Verdict: row.Verdict}
		if row.Ratio != nil {
			m.Floor = farEnd(*row.Ratio)
		}
		if row.Verdict == stats.Better || row.Verdict == stats.Worse {
			f.FalsePositives++
		}
		f.Measures = append(f.Measures, m)
	}
	return f, nil
}
