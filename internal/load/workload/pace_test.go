package workload

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// The pace counts from the start of an iteration to that of the next one. A late one begins at once,
// and the next counts from there. Think time is added to the wait.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, err := NewMix(Spec{
			BaseURL: "http://a", Step: bench.Step{Connections: 1, Duration: time.Second},
			Requests: []bench.Request{{Name: "a", Weight: 1, Path: "/", Pace: time.Second, Think: bench.Think{Min: time.Millisecond, Max: time.Millisecond}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		var u User
		begin := time.Now()
		for i, step := range []struct {
			takes, starts time.Duration
			overran       bool
		}{
			{100 * time.Millisecond, 0, false},
			{100 * time.Millisecond, time.Second, false},
			{2500 * time.Millisecond, 2 * time.Second, false},
			{time.Second - 2*time.Millisecond, 4501 * time.Millisecond, true},
			{0, 5501 * time.Millisecond, false},
		} {
			if err := m.Begin(&u); err != nil {
				t.Fatal(err)
			}
			time.Sleep(u.Think())
			if got := time.Since(begin) - time.Millisecond; got != step.starts || u.pace.overran != step.overran || u.pace.kept != (i > 0) {
				t.Errorf("iteration %d starts after %s, want %s; %+v", i, got, step.starts, u.pace)
			}
			time.Sleep(step.takes)
			m.Write(&u, nil)
			u.Done(false)
		}
	})
}
