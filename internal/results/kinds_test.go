package results

import (
	"testing"

	"locbench/internal/bench"
)

// The published results are of before findings had kinds.
func TestPublishedWarningsHaveKinds(t *testing.T) {
	kinds := map[bench.WarningKind]int{}
	for _, name := range []string{"burst", "cold-warm", "delay-matrix", "locations"} {
		_, trials, err := Read("../../testdata/results/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, trial := range trials {
			for _, s := range trial.Steps {
				for _, f := range s.Doubts() {
					kinds[f.Kind]++
				}
			}
		}
	}
	for _, s := range sentences {
		if kinds[s.kind] == 0 {
			t.Errorf("no %q", s.kind)
		}
	}
	// "the throughput had not settled within 15s", twice: nothing asks for it.
	if n := kinds[bench.WarnOther]; n != 2 {
		t.Errorf("%d findings without a kind", n)
	}
}
