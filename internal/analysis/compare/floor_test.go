package compare

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
)

// The noise floor grows with the noise.
func TestNoiseFloor(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	calm, err := noiseFloor(raw{Run: run(), Trials: trials(rng, "a", 12, usual())})
	if err != nil {
		t.Fatal(err)
	}
	if calm.Rounds != 6 || len(calm.Measures) != len(measure.Tested()) || calm.FalsePositives != 0 || calm.Largest() < .005 || calm.Largest() > .05 {
		t.Errorf("%+v", calm)
	}
	withVegeta := run()
	withVegeta.Engine = bench.EngineVegeta
	if !calm.Fits(run()) || calm.Fits(withVegeta) {
		t.Error("the floor is that of runs with the same engine")
	}
	if other, err := noiseFloor(raw{Run: withVegeta, Trials: trials(rng, "a", 12, usual())}); err != nil || !other.Fits(withVegeta) {
		t.Errorf("%v, %+v", err, other)
	}
	var noisy []bench.TrialResult
	for i := range 12 {
		f := usual()
		f.peak *= 1 + .1*rng.NormFloat64()
		noisy = append(noisy, trial("a", i+1, f))
	}
	loud, err := noiseFloor(raw{Run: run(), Trials: noisy})
	if err != nil || loud.Measures[0].Floor < 2*calm.Measures[0].Floor {
		t.Errorf("noise of 10%%: %+v, %v", loud.Measures[0], err)
	}
	var text bytes.Buffer
	if err := calm.Text(&text); err != nil || !strings.Contains(text.String(), "locbench compare --floor ") || !strings.Contains(text.String(), "throughput") {
		t.Errorf("%v\n%s", err, text.String())
	}
}

func TestNoiseFloorNeedsOneContender(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	few := trials(rng, "a", 12, usual())
	few[3].State = bench.TrialFailed
	if _, err := noiseFloor(raw{Run: run(), Trials: few}); err == nil || !strings.Contains(err.Error(), "a has 11 complete rounds, needs 12 (half per side)") {
		t.Errorf("%v", err)
	}
	two := append(trials(rng, "a", 12, usual()), trials(rng, "b", 12, usual())...)
	if _, err := noiseFloor(raw{Run: run(), Trials: two}); err == nil || !strings.Contains(err.Error(), "several contenders") {
		t.Errorf("%v", err)
	}
	if f, err := noiseFloor(raw{Run: run(), Trials: two, Contender: "b"}); err != nil || f.Contender != "b" {
		t.Errorf("%+v, %v", f, err)
	}
}
