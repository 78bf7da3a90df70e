package load

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// While a loop waits for responses, collections of garbage end and windows are delivered: a wait
// that the Go scheduler does not know of delays no other goroutine; not even without preemption by
// signals, as in the load's process.
func TestWaitingDelaysNoOther(t *testing.T) {
	t.Parallel()
	const without = "GODEBUG=asyncpreemptoff=1"
	if slices.Contains(os.Environ(), without) {
		waitingDelaysNoOther(t)
		return
	}
	t.Run("signals", waitingDelaysNoOther)
	t.Run("no signals", func(t *testing.T) {
		again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestWaitingDelaysNoOther$")
		again.Env = append(os.Environ(), without)
		text, err := again.CombinedOutput()
		testenv.Check(t, err == nil, "%v: %s", err, text)
	})
}

func waitingDelaysNoOther(t *testing.T) {
	eachLoop(t, func(t *testing.T, e Engine) {
		const collections, windows, most = 2, 5, time.Minute // while the third request waits
		seen, enough := 0, make(chan struct{})
		s := newServer(t, func(_ *server, n, _ int64) act {
			if n != 3 {
				return act{}
			}
			return act{until: enough, does: func() {
				for range collections {
					runtime.GC()
				}
			}}
		}).listen(t)
		p := timeout(counted(s.url, 1, 10), most)
		e.Window, e.patience = 20*ms, most
		l, err := e.Run(t.Context(), p, func(bench.Window) {
			if seen++; seen == windows {
				close(enough)
			}
		})
		if holds(t, l, s, "failed=0 ok=10"); err != nil {
			t.Error(err)
		}
	})
}
