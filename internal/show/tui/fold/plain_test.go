package fold

import (
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
	for want, change := range map[string]func(){
		"; not interleaved: 5 contenders have no memory limit": func() {},
		"results in out": func() { run.Plain.Reason = bench.PlainChosen },
	} {
		old := run.Plain.Reason
		change()
		_, text := new(State).sentence(bench.Record{Event: bench.RunStarted{Run: run, Dir: "out"}})
		run.Plain.Reason = old
		testenv.Check(t, strings.HasSuffix(text, want), "%q does not end with %q", text, want)
	}
}
