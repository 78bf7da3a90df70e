package plain

import (
	"fmt"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/stats"
)

func TestComparedBodiesAndEstimates(t *testing.T) {
	wrong := map[bench.ErrorKind]int64{bench.ErrWrong: 3}
	for name, test := range map[string]struct {
		step       stats.Step
		cell, note string
	}{
		"none compared": {stats.Step{Succeeded: 900}, "0", ""},
		"all right":     {stats.Step{Succeeded: 9000, Compared: 1204}, "0", "a: compared 1,204 bodies with the expected ones"},
		"some not":      {stats.Step{Compared: 12, Unread: 1204}, "0", "a: compared 12 bodies with the expected ones; 1,204 were not looked at"},
		"none":          {stats.Step{Unread: 3}, "0", "a: compared 0 bodies with the expected ones; 3 were not looked at"},
		"a sample": {stats.Step{Succeeded: 9997, Compared: 114, Failed: wrong}, "3 (~2.6%)",
			"a: compared 114 bodies with the expected ones; error rates with ~ are estimates from these, weighted by requests"},
		"all compared": {stats.Step{Succeeded: 111, Compared: 114, Failed: wrong}, "3 (2.6%)", "a: compared 114 bodies with the expected ones"},
	} {
		s := test.step
		if got := errorCell(s.FailedTotal(), s.ErrorRate(), s.ErrorRateIsEstimate()); got != test.cell {
			t.Errorf("%s: cell %q, want %q", name, got, test.cell)
		}
		var lines []string
		compared(func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) },
			stats.Contender{Label: "a", Steps: []stats.Step{s}})
		if got := strings.Join(lines, "\n"); got != test.note {
			t.Errorf("%s: note %q, want %q", name, got, test.note)
		}
	}
}
