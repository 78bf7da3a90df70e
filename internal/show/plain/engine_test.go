package plain

import (
	"bytes"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// loadedBy makes the steps of all trials, in events and results, have these loops in turn.
func loadedBy(loops ...string) string {
	records, _, _ := recorded()
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
	return out.String()
}

// The load engine is named once, and again where it changes.
func TestLoadEngineIsNamed(t *testing.T) {
	for _, c := range []struct {
		name  string
		loops []string
		said  []string // by the lines about it, in order
	}{
		{"not known", []string{""}, nil},
		{"one", []string{"io_uring", "epoll"}, []string{"fast"}},
		{"several", []string{"epoll", "vegeta", "vegeta"}, []string{"fast", "vegeta"}},
		{"from outside", []string{"\x1b]0;x"}, nil},
	} {
		talk := loadedBy(c.loops...)
		var said []string
		for line := range strings.Lines(talk) {
			if engine, ok := strings.CutPrefix(line, "  engine   "); ok {
				said = append(said, strings.TrimSpace(engine))
			}
		}
		testenv.Check(t, strings.Join(said, " ") == strings.Join(c.said, " "), "%s: %q, want %q", c.name, said, c.said)
	}
}
