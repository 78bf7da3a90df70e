package plain

import (
	"bytes"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// loadedBy makes the steps of all trials, in events and results, have these loops in turn.
func loadedBy(loops ...string) (talk, table string, err error) {
	records, run, trials := recorded()
	n := 0
	var out bytes.Buffer
	p := New(Options{Talk: &out})
	for _, r := range records {
		if e, ok := r.Event.(bench.StepEnded); ok {
			e.Result.Load.Loop = loops[n%len(loops)]
			r.Event = e
			n++
		}
		p.Handle(r)
	}
	n = 0
	for _, trial := range trials {
		for i := range trial.Steps {
			trial.Steps[i].Load.Loop = loops[n%len(loops)]
			n++
		}
	}
	var b bytes.Buffer
	err = Table(&b, analysis.Of(run, trials), nil, 0, false)
	return out.String(), b.String(), err
}

// The load engine is named once, and again where it changes; the table names it once, or by step.
func TestLoadEngineIsNamed(t *testing.T) {
	for _, c := range []struct {
		name  string
		loops []string
		said  []string // by the lines about it, in order
		table string
	}{
		{"not known", []string{""}, nil, ""},
		{"one", []string{"io_uring", "epoll"}, []string{"fast"}, "\nLoad engine: fast.\n"},
		{"several", []string{"epoll", "vegeta", "vegeta"}, []string{"fast", "vegeta"},
			"\nLoad engine: kt-ktor: vegeta; rs-actix:lto: fast; vegeta at 64 connections.\n"},
		{"from outside", []string{"\x1b]0;x"}, nil, ""},
	} {
		talk, table, err := loadedBy(c.loops...)
		testenv.OK(t, err)
		var said []string
		for line := range strings.Lines(talk) {
			if engine, ok := strings.CutPrefix(line, "  engine   "); ok {
				said = append(said, strings.TrimSpace(engine))
			}
		}
		if strings.Join(said, " ") != strings.Join(c.said, " ") {
			t.Errorf("%s: %q, want %q", c.name, said, c.said)
		}
		if !strings.Contains(table, c.table) || c.table == "" && strings.Contains(table, "Load engine") {
			t.Errorf("%s: %q is not in\n%s", c.name, c.table, table)
		}
	}
}
