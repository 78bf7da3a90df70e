package record

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

const ms = time.Millisecond

// shown returns what is not zero in v.
func shown(v any) string {
	if l, ok := v.(bench.Latencies); ok {
		return fmt.Sprint(l.Count, " from ", l.Min.Round(ms), " to ", l.Max.Round(ms))
	}
	var b strings.Builder
	switch of := reflect.ValueOf(v); of.Kind() {
	case reflect.Struct:
		for field, value := range of.Fields() {
			switch of := value.Interface().(type) {
			case bench.Counts, bench.Outcomes:
				fmt.Fprint(&b, shown(of))
				continue
			}
			if !value.IsZero() && field.Name != "Started" {
				fmt.Fprint(&b, field.Name, ": ", shown(value.Interface()), "\n")
			}
		}
	case reflect.Slice:
		for i := range of.Len() {
			fmt.Fprint(&b, "\n  ", strings.TrimSpace(strings.ReplaceAll(shown(of.Index(i).Interface()), "\n", "; ")))
		}
	default:
		return fmt.Sprint(v)
	}
	return b.String()
}

// A stepTest is a step in virtual time, with loops that do what those of the engines do.
type stepTest struct {
	step  bench.Step
	names []string // of the requests
	// response returns how long the nth response to connection i takes, and what it is
	response func(i, n int) (time.Duration, Exchange)
	stop     time.Duration // 0: the step is not interrupted
}

const timeout = time.Second

// run returns the load, and when the windows were delivered.
func (s stepTest) run(rec *Recorder) string {
	drained, started := make(chan struct{}), time.Now()
	var delivered []time.Duration
	counters := make([]*Counters, cmp.Or(s.step.Connections, 1))
	for i := range counters {
		counters[i] = rec.NewCounters()
	}
	rec.Begin(2)
	var measuring, connections sync.WaitGroup
	measuring.Go(func() {
		if !rec.Whole && !rec.AwaitSteady(timeout, drained) {
			return
		}
		windows := make(chan struct{})
		go func() {
			defer close(windows)
			rec.CloseWindows(400*ms, drained, func(bench.Window) { delivered = append(delivered, time.Since(started)) }, nil)
		}()
		rec.AwaitEnd(drained)
		<-windows
	})
	if s.stop > 0 {
		time.AfterFunc(s.stop, rec.Stop)
	}
	for i, c := range counters {
		connections.Go(func() {
			if rec.Open {
				s.open(rec, c)
			} else {
				s.connection(rec, c, i)
			}
		})
	}
	connections.Wait()
	close(drained)
	measuring.Wait()
	rec.Finish()
	rec.Idled(rec.Elapsed / 4)
	rec.Idled(rec.Elapsed / 2)
	return fmt.Sprint("Delivered: ", delivered, "\nService: ", rec.ServiceTime, ", in the interval: ",
		rec.IntervalTime, "\n", shown(rec.Load()))
}

// connection is connection i of a closed loop.
func (s stepTest) connection(rec *Recorder, c *Counters, i int) {
	select {
	case <-rec.BeginningKnown(i):
	case <-rec.Halted():
		return
	}
	time.Sleep(time.Duration(rec.Beginning(i) - rec.Now()))
	c.Lock()
	c.InFlight(&rec.Interval, rec.Now(), 0)
	c.Unlock()
	for n := 0; !rec.SendingEnded(rec.Now()) && (!rec.Bounded() || rec.MaySend()); n++ {
		took, x := s.response(i, n)
		s.exchange(rec, c, took, x)
		if n == 0 && rec.BeginsEarly(i) {
			rec.Answered(rec.Now(), took, timeout)
		}
	}
}

// exchange records an exchange 1 ms after its end.
func (s stepTest) exchange(rec *Recorder, c *Counters, took time.Duration, x Exchange) {
	x.Start = rec.Now()
	time.Sleep(took)
	x.End = rec.Now()
	time.Sleep(ms)
	x.Read = rec.Now()
	c.Lock()
	defer c.Unlock()
	if !rec.Open {
		c.Sent++
	}
	c.InFlight(&rec.Interval, x.Read, 1)
	if s.stop > 0 && rec.Stopped() {
		c.CutOff(&rec.Interval, x.Start, x.Read)
		return
	}
	c.InFlight(&rec.Interval, x.Start, 9) // a clock that went back
	if x.Kind != "" && !c.NeedsExample(x.Request, x.Kind) {
		x.Example = ""
	}
	c.Record(&rec.Interval, x)
}

// open is an open loop at 10 requests a second. In its lead-in all is on time. Then the lag grows
// by 0.5 ms from one request to the next; each fifth request is dropped.
func (s stepTest) open(rec *Recorder, c *Counters) {
	measured := 0
	var sending sync.WaitGroup
	for n := 0; ; n++ {
		at := int64(n) * int64(100*ms)
		if rec.SendingEnded(at) {
			break
		}
		time.Sleep(time.Duration(at - rec.Now()))
		if rec.Stopped() {
			break
		}
		p, lag := rec.Phase(at), time.Duration(0)
		if p == Measured {
			measured++
			lag = time.Duration(measured) * ms / 2
		}
		c.Lock()
		c.Schedule(p, 1, 10)
		if n%5 == 0 {
			c.Drop(p, 1, n%2 == 0)
		} else {
			c.SendScheduled(p, lag, n%2 == 0)
		}
		c.MaxOpenConnections = max(c.MaxOpenConnections, 3-n)
		c.Unlock()
		if n%5 == 0 {
			continue
		}
		sending.Go(func() {
			took, x := s.response(0, n)
			x.Lag = lag
			s.exchange(rec, c, took, x)
			if rec.AwaitsResponses() {
				rec.Answered(rec.Now(), took, timeout)
			}
		})
	}
	c.Lock()
	if !rec.Whole {
		c.Backlog = 2
	}
	c.Unlock()
	sending.Wait()
	rec.Stop()
}

// mixed are successes, failures and rejections of two requests, which connection 0 sends in a
// session.
func mixed(i, n int) (time.Duration, Exchange) {
	x := Exchange{Request: n % 2, Status: 200, Bytes: 7, Checked: n%3 == 0, Paced: n > 0, Overran: n > 2}
	if i == 0 {
		x.Session, x.First, x.Last = 1, n%2 == 0, n%2 == 1
	}
	switch {
	case n%9 == 4:
		x.Kind, x.Status, x.Example = bench.ErrTimeout, 0, fmt.Sprint("no response to ", n)
	case n%9 == 6:
		x.Kind, x.Status, x.Example, x.Unread = "5xx", 503, fmt.Sprint("response ", n), bench.UnreadBroken
	case n%9 >= 7:
		x.Status, x.Rejected = 429, true
	case n%9 == 2:
		x.Unread, x.Example = bench.UnreadLong, "too long"
	}
	return time.Duration(37+4*i) * ms, x
}

func slow(int, int) (time.Duration, Exchange) { return 130 * ms, Exchange{Status: 200, Bytes: 1} }

// The results of whole steps.
func TestStep(t *testing.T) {
	const second = time.Second
	one, two := []string{"one"}, []string{"one", "two"}
	for name, s := range map[string]stepTest{
		"closed":      {bench.Step{Connections: 3, Duration: second}, two, mixed, 0},
		"ramp":        {bench.Step{Connections: 4, RampFrom: 2, Duration: second}, two, mixed, 0},
		"bounded":     {bench.Step{Connections: 2, Duration: time.Hour, MaxRequests: 30}, two, mixed, 0},
		"limited":     {bench.Step{Connections: 2, Duration: second, MaxRequests: 1000}, two, mixed, 0},
		"open":        {bench.Step{Rate: 10, Duration: second}, two, slow, 0},
		"arrivals":    {bench.Step{Arrivals: &bench.Arrivals{}, Duration: second}, one, slow, 0},
		"interrupted": {bench.Step{Connections: 2, Duration: second}, two, mixed, 700 * ms},
		"no interval": {bench.Step{Connections: 2, Duration: second}, two, mixed, 418 * ms}, // within its announcement
		"lead-in":     {bench.Step{Connections: 2, Duration: second}, one, mixed, 30 * ms},
		"unserved": {bench.Step{Connections: 3, Duration: second}, one, func(i, n int) (time.Duration, Exchange) {
			if i == 2 {
				return 3 * time.Second, Exchange{}
			}
			x := Exchange{Status: 200, Checked: true, Unread: bench.UnreadLong, Example: "long"}
			if i == 1 {
				x.Kind, x.Example = bench.ErrReset, "reset"
			}
			return 270*ms + time.Duration(i), x
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rec := New(s.step, s.names, "session")
				testenv.Golden(t, "testdata/"+strings.ReplaceAll(name, " ", "-")+".txt", s.run(rec))
			})
		})
	}
}

// An interleaved step is the sum of its slices.
func TestInterleaved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all *Interleaved
		var unclosed []time.Duration
		for n := range 3 {
			s := stepTest{bench.Step{Connections: 2, Duration: time.Duration(n+1) * 100 * ms}, []string{"one", "two"},
				mixed, 0}
			rec := New(s.step, s.names, "session")
			s.run(rec)
			if rec.Saturation = float64(n) / 2; all == nil {
				all = NewInterleaved(rec)
			}
			rec.Unserved = 3 - n
			all.AddSlice(rec)
			if unclosed = append(unclosed, all.Unclosed()); n != 1 {
				all.CloseWindow()
			}
		}
		empty := Totals{Ended: newTally(false)}
		if empty.Add(&empty); empty.Saturation != 0 {
			t.Errorf("saturation %g of two empty slices", empty.Saturation)
		}
		testenv.Check(t, all.Load().Started.Equal(all.Started) && time.Since(all.Started) >= 600*ms,
			"started %s", all.Started)
		testenv.Golden(t, "testdata/interleaved.txt", fmt.Sprint("Unclosed: ", unclosed, "\n", shown(all.Load())))
	})
}

// What a loop knows of the course of a step.
func TestTimeline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for took, starts := range map[time.Duration]string{
			10 * ms: "[0s 26.666666ms 43.333333ms]", 100 * ms: "[0s 183.333333ms 266.666666ms]",
		} {
			rec := New(bench.Step{Connections: 4, RampFrom: 3, Duration: time.Second}, nil)
			wakes := 0
			rec.OnWake(func() { wakes++ })
			state := func(want string) {
				t.Helper()
				var starts []time.Duration
				for i := range 4 {
					if at := rec.Beginning(i); at != Undecided {
						starts = append(starts, time.Duration(at))
					}
				}
				got := fmt.Sprint(starts, wakes, rec.StartTimesKnown(), rec.AwaitsResponses(),
					rec.Stopped())
				testenv.Check(t, got == want, "first response after %s: %s, want %s", took, got, want)
			}
			began := time.Now()
			rec.Begin(1)
			state("[0s] 0 false true false")
			testenv.Check(t, rec.Began() == began && rec.Length() == 0 && !rec.SendingEnded(1<<40),
				"the interval is known too early")
			time.Sleep(took)
			rec.Answered(rec.Now(), took, time.Second)
			state(starts + " 1 true true false")
			rec.Answered(rec.Now(), time.Hour, time.Second)
			rec.Answered(rec.Now(), time.Hour, time.Second)
			state(starts + " 1 true false false")
			testenv.Check(t, rec.AwaitSteady(time.Second, nil), "the interval has not begun")
			from := rec.From()
			testenv.Check(t, time.Duration(from) == took+announced && rec.LeadIn == took+announced && rec.Now() == from,
				"from %s at %s", time.Duration(from), time.Duration(rec.Now()))
			state(fmt.Sprint(strings.TrimSuffix(starts, "]"), " ", time.Duration(from)+500*ms, "] 2 true false false"))
			testenv.Equal(t, fmt.Sprint(rec.BeginsEarly(0), rec.BeginsEarly(2), rec.BeginsEarly(3)), "true true false")
			end := from + int64(time.Second)
			testenv.Check(t, rec.Began() == rec.Time(from) && rec.At(rec.Time(end)) == end && !rec.SendingEnded(end-1) && rec.SendingEnded(end),
				"began %s, ends %s", rec.Began(), rec.Time(end))
			first, second := errors.New("first"), errors.New("second")
			testenv.Check(t, rec.Err() == nil, "%v", rec.Err())
			time.Sleep(100 * ms)
			rec.Fail(first)
			rec.Fail(second)
			testenv.Check(t, rec.Err() == first && rec.SendingEnded(0) && rec.Stopped() && wakes == 3 && rec.Length() == 100*ms && !rec.MaySend(),
				"%v, stopped %t, %d wakes, %s", rec.Err(), rec.Stopped(), wakes, rec.Length())
		}
	})
}

// The interval does not begin if the load has ended.
func TestAwaitSteady_LoadEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		drained := make(chan struct{})
		close(drained)
		for name, ended := range map[string]<-chan struct{}{"stopped": nil, "drained": drained} {
			rec := New(bench.Step{Connections: 1, Duration: time.Second}, nil)
			rec.Begin(1)
			if name == "stopped" {
				rec.Stop()
				rec.Answered(0, 0, 0)
			}
			testenv.Check(t, !rec.AwaitSteady(time.Second, ended) && rec.From() == Undecided && rec.LeadIn == 0,
				"%s: begun", name)
		}
	})
}

// A wake-up that is under way when the load ends is waited for: the loop is closed next.
func TestAwaitSteady_WakeUpEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const timeout = 4 * time.Second
		rec := New(bench.Step{Connections: 2, Duration: time.Minute}, nil)
		waking, woken, drained, returned := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})
		rec.OnWake(func() { close(waking); <-woken })
		rec.Begin(1)
		go func() {
			defer close(returned)
			testenv.Check(t, !rec.AwaitSteady(timeout, drained), "the interval begins after the end of the load")
		}()
		<-waking // no response yet, so the other connections start
		close(drained)
		synctest.Wait()
		select {
		case <-returned:
			t.Error("returned during a wake-up")
		default:
		}
		close(woken)
		<-returned
		testenv.Check(t, rec.Now() == int64(timeout/spreadShare), "the other connections started at %d", rec.Now())
	})
}
