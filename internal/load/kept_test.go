package load

import (
	"net/http"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

// Steps with more and then fewer connections open each connection once, closed loop and open. All are
// closed in the end, and then no more are kept.
func TestConnectionsAreKeptBetweenSteps(t *testing.T) {
	eachLoop(t, func(t *testing.T, e Engine) {
		s := newSite(t, nil)
		e.Keep = &Kept{}
		for _, of := range []struct {
			plan Plan
			want string
		}{
			{counted(s.URL, 2, 200), "connections=2"}, {counted(s.URL, 8, 200), "connections=8"}, {counted(s.URL, 3, 200), "connections=8"},
			{openCounted(s.URL, 500, 5, 20), "connections=8"}, {counted(s.URL, 8, 200), "connections=8"},
		} {
			holds(t, run(t, e, of.plan), s, "ok=sent warn.reopened=0 "+of.want)
		}
		e.Keep.Close()
		run(t, e, counted(s.URL, 4, 40))
		testenv.Until(t, time.Minute, "12 connections are closed", func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			n := 0
			for _, state := range s.conns {
				if state == http.StateClosed {
					n++
				}
			}
			return n == 12
		})
	})
}

// Connections that the contender closed meanwhile are opened again before the clock starts.
func TestKeptConnectionsThatWereClosed(t *testing.T) {
	eachLoop(t, func(t *testing.T, e Engine) {
		s := newServer(t, nil).listen(t)
		e.Keep = &Kept{}
		defer e.Keep.Close()
		run(t, e, counted(s.url, 1, 2))
		s.hangUp()
		holds(t, run(t, e, counted(s.url, 1, 5)), s, "ok=5 failed=0")
	})
}
