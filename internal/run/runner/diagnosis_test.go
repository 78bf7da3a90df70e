package runner

import (
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// TestSilentAtEnd: a contender is silent if it stopped responding, not if only some requests fail
// or none was sent.
func TestSilentAtEnd(t *testing.T) {
	timeouts := map[bench.ErrorKind]int64{bench.ErrTimeout: 2}
	responding, none := bench.Window{Succeeded: 600}, bench.Window{}
	for name, test := range map[string]struct {
		load bench.Load
		want bool
	}{
		"all is well":                    {bench.Load{Windows: []bench.Window{responding}, Backlog: 2, Drain: 2}, false},
		"no request was sent":            {bench.Load{Windows: []bench.Window{none}}, false},
		"some requests fail":             {bench.Load{Failed: timeouts, Windows: []bench.Window{responding}, Backlog: 2, Drain: 1}, false},
		"no success in the last second":  {bench.Load{Failed: timeouts, Windows: []bench.Window{responding, none}}, true},
		"stopped within the last second": {bench.Load{Failed: timeouts, Windows: []bench.Window{responding, responding}, Backlog: 2}, true},
	} {
		t.Run(name, func(t *testing.T) {
			testenv.Equal(t, silentAtEnd(test.load), test.want, "silent")
		})
	}
}

// TestStuckAtEnd: the requests of the load are sent again only if at least half of those in flight
// at the end of the last step, or all in its last second, had no response.
func TestStuckAtEnd(t *testing.T) {
	for name, test := range map[string]struct {
		timeouts, backlog, drain, last int64
		want                           bool
	}{
		"all":                         {16, 16, 0, 1, true},
		"half":                        {8, 16, 8, 1, true},
		"fewer than half":             {7, 16, 9, 1, false},
		"none in flight":              {5, 0, 0, 1, false},
		"none in flight at a timeout": {5, 0, 0, 0, true},
		"no response, but no timeout": {0, 16, 0, 0, false},
	} {
		l := bench.Load{
			Failed: map[bench.ErrorKind]int64{bench.ErrTimeout: test.timeouts}, Backlog: test.backlog, Drain: test.drain,
			Windows: []bench.Window{{Succeeded: test.last}},
		}
		testenv.Equal(t, stuckAtEnd(l), test.want, name)
	}
}

// TestWithoutResponse: a step without any response, of any status.
func TestWithoutResponse(t *testing.T) {
	for name, test := range map[string]struct {
		load bench.Load
		want bool
	}{
		"timeouts, refused and reset": {bench.Load{Failed: map[bench.ErrorKind]int64{bench.ErrTimeout: 1, bench.ErrRefused: 1, bench.ErrReset: 1}}, true},
		"another status":              {bench.Load{Failed: map[bench.ErrorKind]int64{bench.ErrTimeout: 9, "5xx": 1}}, false},
		"no other status":             {bench.Load{Failed: map[bench.ErrorKind]int64{bench.ErrTimeout: 9, "5xx": 0}}, true},
		"a success":                   {bench.Load{Failed: map[bench.ErrorKind]int64{bench.ErrTimeout: 9}, Succeeded: 1}, false},
		"a success in the lead-in":    {bench.Load{Failed: map[bench.ErrorKind]int64{bench.ErrTimeout: 9}, Lead: 1}, false},
	} {
		testenv.Equal(t, withoutResponse(test.load), test.want, name)
	}
}

// TestKilledProcesses: the first step after which the kernel counts a kill is named, with the kills
// of all.
func TestKilledProcesses(t *testing.T) {
	after := func(kills int64) bench.StepResult {
		return bench.StepResult{After: &bench.Usage{Memory: &bench.Memory{OOMKills: kills}}}
	}
	for want, steps := range map[string][]bench.StepResult{
		"": {after(0), {}, {After: &bench.Usage{}}},
		"lost 1 process, killed out of memory, first in step 2":   {after(0), after(1), after(1)},
		"lost 3 processes, killed out of memory, first in step 1": {after(1), {}, after(3)},
	} {
		l := &trialRun{steps: steps, inst: &fakeInstance{}}
		got := ""
		if err := l.killedProcesses(); err != nil {
			got = err.Error()
		}
		testenv.Equal(t, got, want)
	}
}
