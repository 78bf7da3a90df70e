package event

import (
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEverySubscriberSeesEveryEventInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(time.Now)
		var fast, slow []int64
		s.Subscribe(func(r bench.Record) { fast = append(fast, r.Seq) })
		s.Subscribe(func(r bench.Record) { time.Sleep(time.Second); slow = append(slow, r.Seq) })
		for range 1000 {
			s.Publish(nil, bench.Notice{Text: "x"})
		}
		s.Close()
		s.Publish(nil, bench.Notice{Text: "after the end"})
		for name, got := range map[string][]int64{"fast": fast, "slow": slow} {
			testenv.Need(t, len(got) == 1000, "%s subscriber saw %d events, want 1000", name, len(got))
			for i, seq := range got {
				testenv.Need(t, seq == int64(i+1), "%s subscriber: event %d has number %d", name, i, seq)
			}
		}
	})
}

// TestPublishDoesNotWaitForASubscriber: synctest reaches the timeout only if all goroutines wait.
func TestPublishDoesNotWaitForASubscriber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(time.Now)
		release := make(chan struct{})
		var kept, notices int
		s.Subscribe(func(r bench.Record) {
			<-release
			kept++
			if _, ok := r.Event.(bench.Notice); ok {
				notices++
			}
		})
		published := make(chan struct{})
		go func() {
			defer close(published)
			for range 3 * queueLimit {
				s.Publish(nil, bench.Progress{})
			}
			s.Publish(nil, bench.Notice{Text: "matters"})
		}()
		select {
		case <-published:
		case <-time.After(30 * time.Second):
			t.Fatal("Publish waited for a subscriber that does not read")
		}
		close(release)
		s.Close()
		testenv.Equal(t, notices, 1, "the notice was dropped")
		if kept > 2*queueLimit+2 { // a batch that is being handled, and a full queue
			t.Errorf("backlog of %d events, bound is %d", kept, 2*queueLimit)
		}
	})
}

func TestContinue(t *testing.T) {
	s := New(time.Now)
	s.Continue(41)
	var seq int64
	s.Subscribe(func(r bench.Record) { seq = r.Seq })
	s.Publish(nil, bench.Notice{})
	s.Close()
	testenv.Equal(t, seq, 42, "number")
}

// Settle waits only for events that were published before.
func TestSettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(time.Now)
		s.Settle() // without subscribers
		handled, held := int64(0), make(chan struct{})
		s.Subscribe(func(r bench.Record) {
			if r.Seq > 2 {
				<-held
			}
			handled = r.Seq
		})
		s.Publish(nil, bench.TrialStarted{})
		s.Publish(nil, bench.TrialStarted{})
		s.Settle()
		testenv.Equal(t, handled, 2)
		s.Publish(nil, bench.TrialStarted{})
		settled := false
		go func() {
			s.Settle()
			settled = true
		}()
		synctest.Wait()
		testenv.Check(t, !settled, "settled before the event was handled")
		s.Publish(nil, bench.TrialStarted{})
		held <- struct{}{}
		synctest.Wait()
		testenv.Check(t, settled && handled == 3, "settled %v with %d events handled", settled, handled)
		close(held)
		s.Close()
		s.Settle()
	})
}

// Times with a monotonic reading keep their distance, other times are unchanged, and so is the
// original event.
func TestClock(t *testing.T) {
	base := time.Now()
	c := NewClock(base)
	later := base.Add(3 * time.Second)
	testenv.Check(t, c.At(later).Equal(later), "%v became %v", later, c.At(later))
	elsewhere := time.Date(2031, 1, 2, 3, 4, 5, 6, time.UTC)
	testenv.Check(t, c.At(elsewhere).Equal(elsewhere), "%v became %v", elsewhere, c.At(elsewhere))
	testenv.Check(t, c.At(time.Time{}).IsZero(), "the zero time is not zero any more")
	a, b := &bench.Usage{At: base}, &bench.Usage{At: base.Add(time.Second)}
	e := bench.StepEnded{Result: bench.StepResult{Before: a, After: b, Samples: []bench.Usage{*a}, HostAfter: &bench.HostReading{Needs: map[string]*bench.NeedUsage{"db": {At: base}}}}}
	wall := NewClock(base.Round(0)) // its times have no monotonic reading
	timed := bench.RequestsTimed{FirstRequests: bench.FirstRequests{Started: base}}
	at := wall.Event(timed).(bench.RequestsTimed).FirstRequests.Started
	testenv.Check(t, at == base.Round(0), "the first requests began at %v", at)
	got := c.Event(e).(bench.StepEnded).Result
	testenv.Check(t, got.Before != a && got.After.At.Sub(got.Before.At) == time.Second && got.HostAfter.Needs["db"] != e.Result.HostAfter.Needs["db"],
		"%+v", got)
}
