package summary

import (
	"slices"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/stats"
)

// Errors of a contender whose bodies are a sample are an estimate.
func TestErrorsAreAnEstimate(t *testing.T) {
	of := func(label string, compared int64) Contender {
		var c Contender
		c.Label, c.Errors = label, map[bench.ErrorKind]int64{bench.ErrWrong: 3}
		c.Steps = []stats.Step{{Succeeded: 997, Compared: compared, Failed: c.Errors}}
		return c
	}
	got := errorList(Facts{Contenders: []Contender{of("sample", 114), of("all", 1000)}})
	if want := []string{"sample ~2.63% (unexpected body 3)", "all 0.3% (unexpected body 3)"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
