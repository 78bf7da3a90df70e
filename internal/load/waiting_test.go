package load

import (
	"net/http"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// While a loop waits for responses, collections of garbage end and windows are delivered: a wait
// that the Go scheduler does not know of delays no other goroutine. With preemption by signals
// switched off (GODEBUG=asyncpreemptoff=1) this test hangs.
func TestWaitingDelaysNoOther(t *testing.T) {
	t.Parallel()
	eachLoop(t, func(t *testing.T, e Engine) {
		const collections, windows, most = 20, 5, time.Minute // while the third request waits
		var asked, seen atomic.Int64
		waits, enough, collected := make(chan struct{}), make(chan struct{}), make(chan struct{})
		server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
			if asked.Add(1) == 3 {
				close(waits)
				<-enough
				<-collected
			}
			return hello(w, r)
		})
		go func() {
			defer close(collected)
			<-waits
			for range collections {
				runtime.GC()
			}
		}()
		p := counted(server.URL, 1, 10)
		p.Timeout = most
		e.Window, e.patience = 20*time.Millisecond, most
		l, err := e.Run(t.Context(), p, func(bench.Window) {
			if seen.Add(1) == windows {
				close(enough)
			}
		})
		if err != nil || l.FailedTotal() > 0 {
			t.Errorf("%v, failed %v", err, l.Failed)
		}
	})
}
