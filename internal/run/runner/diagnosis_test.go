package runner

import (
	"testing"

	"locbench/internal/bench"
)

// TestSilentAtEnd: what is asked about is a contender that has stopped answering, not one that only
// fails now and then or has nothing to do.
func TestSilentAtEnd(t *testing.T) {
	timeouts := map[bench.ErrorKind]int64{bench.ErrTimeout: 2}
	answered, none := bench.Window{Succeeded: 600}, bench.Window{}
	for name, test := range map[string]struct {
		load bench.Load
		want bool
	}{
		"all is well":                       {bench.Load{Windows: []bench.Window{answered}, Backlog: 2, Drain: 2}, false},
		"nothing was asked":                 {bench.Load{Windows: []bench.Window{none}}, false},
		"fails now and then":                {bench.Load{Failed: timeouts, Windows: []bench.Window{answered}, Backlog: 2, Drain: 1}, false},
		"no success in the last second":     {bench.Load{Failed: timeouts, Windows: []bench.Window{answered, none}}, true},
		"stopped within the last second":    {bench.Load{Failed: timeouts, Windows: []bench.Window{answered, answered}, Backlog: 2}, true},
		"a drain of the earlier definition": {bench.Load{Failed: timeouts, Windows: []bench.Window{answered, {Drain: true}}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := silentAtEnd(test.load); got != test.want {
				t.Errorf("silent: %v, want %v", got, test.want)
			}
		})
	}
}
