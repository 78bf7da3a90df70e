package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// Page and Markdown name the load engine once, or that of each contender and step; the command that
// runs the benchmark again selects the same one.
func TestLoadEngineIsNamed(t *testing.T) {
	run, trials := small()
	for i := range trials {
		for k := range trials[i].Steps {
			trials[i].Steps[k].Load.Loop = bench.LoopEpoll
		}
	}
	check := func(want string) {
		t.Helper()
		page := strings.ReplaceAll(string(render(t, run, trials)), nbsp, " ")
		testenv.Contains(t, page, "<dt>Load engine</dt><dd>"+want+"</dd>")
		var b bytes.Buffer
		testenv.OK(t, Markdown(&b, analysis.Of(run, trials), Options{}))
		testenv.Contains(t, b.String(), "- Load engine: "+want+"\n")
	}
	check("fast")
	one := trials[0].Trial.Label()
	for i := range trials {
		if trials[i].Trial.Label() == one {
			for k := range trials[i].Steps {
				trials[i].Steps[k].Load.Loop = bench.LoopVegeta
			}
		}
	}
	check(bench.EngineWords(trials))
	testenv.Contains(t, bench.EngineWords(trials), one+": vegeta")
	for engine, want := range map[bench.Engine]string{"": "", "vegeta": " --engine vegeta", "fast": " --engine fast", "epoll": ""} {
		run.Engine = engine
		if r := newReproduction(run); !strings.HasSuffix(r.Again, want) || want == "" && strings.Contains(r.Again, "--engine") {
			t.Errorf("%q: %s", engine, r.Again)
		}
	}
	run.Engine, run.Profile.Steps[0].Engine = "", bench.EngineFast
	r := newReproduction(run)
	testenv.Check(t, r.Again == "" && r.Profile == "", "a profile cannot say which engine loads a step: %+v", r)
}
