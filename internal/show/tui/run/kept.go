package run

import (
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/show/tui/fold"
)

// kept is what was made of a run, until a step, a trial or a check changes it: to merge latencies
// takes a moment.
type kept[T any] struct {
	at   progress
	made bool
	it   T
}

func (k *kept[T]) of(s *fold.State, made func(*fold.State) T) T {
	if at := progressOf(s); !k.made || k.at != at {
		*k = kept[T]{at, true, made(s)}
	}
	return k.it
}

// progress is what the results so far depend on, as counts: while it stays the same they do too.
type progress struct {
	of                                            *fold.State
	trials, steps, checks, failed, starts, states int
	ended                                         bool
}

func progressOf(s *fold.State) progress {
	p := progress{of: s, ended: s.Ended != nil}
	for _, t := range s.Trials {
		_, failed, _ := t.Checks()
		p.steps += len(t.Result.Steps)
		p.checks += min(1, len(t.Result.Checks))
		p.failed += failed
		p.states += len(t.Result.State)
		if t.Result.StartUp != nil {
			p.starts++
		}
		if t.Result.State == bench.TrialComplete {
			p.trials++
		}
	}
	return p
}
