package fold

import (
	"fmt"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// TestDiarySaysWhyNotInterleaved: the header says that a run is not interleaved, the log says why.
func TestDiarySaysWhyNotInterleaved(t *testing.T) {
	run := bench.Run{
		Profile: bench.Profile{Name: "p", Contenders: make([]bench.Selection, 5)},
		Plain:   &bench.Plain{Reason: bench.PlainContenders, Text: "5 contenders have no memory limit"},
	}
	for reason, want := range map[bench.PlainReason]int{run.Plain.Reason: 1, bench.PlainChosen: 0} {
		var s State
		run.Plain.Reason = reason
		s.Apply(bench.Record{Event: bench.RunStarted{Run: run, Dir: "out"}})
		text := fmt.Sprint(s.Diary)
		testenv.Check(t, strings.Count(text, "order: not interleaved: 5 contenders have no memory limit") == want &&
			strings.Contains(text, "results: out"), "%v: %s", reason, text)
	}
}
