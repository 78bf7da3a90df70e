package compare

import (
	"testing"

	"github.com/locbench/locbench/internal/bench"
)

// Runs that permit another share of unexpected bodies are compared, with a note.
func TestPermittedUnexpectedBodiesAreADifference(t *testing.T) {
	strict, lax := bench.Profile{CompareBodies: .01}, bench.Profile{CompareBodies: .01, MaxUnexpected: .01}
	all := unlike(runFacts(bench.Run{Profile: strict}), runFacts(bench.Run{Profile: lax}))
	want := map[Fact]Weight{"unexpected bodies permitted": Relevant, ProfileHashed: Informational}
	if len(all) != len(want) {
		t.Errorf("%+v", all)
	}
	for _, d := range all {
		if d.Weight != want[d.What] {
			t.Errorf("%+v", d)
		}
	}
	if all[0].Old != "0%" || all[0].New != "1%" {
		t.Errorf("%+v", all[0])
	}
	bounded := strict
	bounded.CompareBounded = true
	if all := unlike(runFacts(bench.Run{Profile: strict}), runFacts(bench.Run{Profile: bounded})); len(all) > 0 {
		t.Errorf("%+v", all)
	}
}
