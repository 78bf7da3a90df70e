package runner

import (
	"testing"

	"locbench/internal/bench"
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
		"all is well":                       {bench.Load{Windows: []bench.Window{responding}, Backlog: 2, Drain: 2}, false},
		"no request was sent":               {bench.Load{Windows: []bench.Window{none}}, false},
		"some requests fail":                {bench.Load{Failed: timeouts, Windows: []bench.Window{responding}, Backlog: 2, Drain: 1}, false},
		"no success in the last second":     {bench.Load{Failed: timeouts, Windows: []bench.Window{responding, none}}, true},
		"stopped within the last second":    {bench.Load{Failed: timeouts, Windows: []bench.Window{responding, responding}, Backlog: 2}, true},
		"a drain of the earlier definition": {bench.Load{Failed: timeouts, Windows: []bench.Window{responding, {Drain: true}}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := silentAtEnd(test.load); got != test.want {
				t.Errorf("silent: %v, want %v", got, test.want)
			}
		})
	}
}
