package apart

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/host/thread"
	"github.com/locbench/locbench/internal/load"
	"github.com/locbench/locbench/internal/values"
)

// most is how many bytes this process takes before garbage is collected while a step is measured.
const most = 256 << 20

// server is the load's process.
type server struct {
	*peer

	mu     sync.Mutex
	runs   map[uint64]*running
	kept   map[string]*load.Kept // by trial
	meter  *thread.StallMeter
	opened load.Plan // whose files are in its Data
}

// running is a run in progress.
type running struct {
	ctx  context.Context
	stop context.CancelFunc
}

// running returns a run. A notice may come before its order is read.
func (s *server) running(number uint64) *running {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.runs[number] == nil {
		r := &running{}
		r.ctx, r.stop = context.WithCancel(context.Background())
		s.runs[number] = r
	}
	return s.runs[number]
}

// Serve is the load's process, until in ends.
func Serve(in io.Reader, out io.Writer) error {
	s := &server{
		peer: newPeer(out), runs: map[uint64]*running{}, kept: map[string]*load.Kept{},
	}
	s.handle = s.respond
	_ = os.WriteFile("/proc/self/comm", []byte("locbench"), 0) // in place of the link by which it was started; only for people
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(most)
	runtime.GOMAXPROCS(thread.LoadThreads() + thread.StallThreads() + 1)
	return s.read(in)
}

func (s *server) respond(call string, data []byte) (any, error) {
	switch call {
	case callHello:
		return hello{version}, nil
	case callRun:
		return given(data, s.run)
	case callRest:
		return given(data, s.rest)
	case callStalls:
		return given(data, s.stalls)
	case noticeStop:
		return given(data, func(a about) (any, error) {
			s.running(a.Run).stop()
			return nil, nil
		})
	}
	return nil, fmt.Errorf("no call %q in version %d", call, version)
}

// given calls do with data.
func given[T any](data []byte, do func(T) (any, error)) (any, error) {
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, err
	}
	return do(v)
}

// run runs a step.
func (s *server) run(o order) (any, error) {
	r := s.running(o.Run)
	defer r.stop()
	s.mu.Lock()
	if s.kept[o.Trial] == nil {
		s.kept[o.Trial] = &load.Kept{}
	}
	engine := load.Engine{Name: o.Engine, Keep: s.kept[o.Trial]}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.runs, o.Run)
	}()
	plan, err := s.plan(o)
	if err != nil {
		return nil, err
	}
	result, err := engine.Run(r.ctx, plan, func(w bench.Window) { s.tell(noticeWindow, about{Run: o.Run, Window: w}) })
	out := outcome{Load: result, State: plan.Life}
	if err != nil {
		out.Error = err.Error()
	}
	return out, nil
}

// plan returns the plan of an order whose hooks call the parent.
func (s *server) plan(o order) (load.Plan, error) {
	p := o.Plan
	s.mu.Lock()
	defer s.mu.Unlock()
	if !reflect.DeepEqual(p.Variables, s.opened.Variables) || !reflect.DeepEqual(p.Requests, s.opened.Requests) {
		data, err := values.OpenData(p.Variables, p.Requests)
		if err != nil {
			return p, err
		}
		s.opened = load.Plan{Variables: p.Variables, Requests: p.Requests, Data: data}
	}
	p.Data = s.opened.Data
	if p.Life == nil {
		p.Life = &load.TrialState{}
	}
	p.OnStart = func() { _ = s.call(callStart, about{Run: o.Run}, nil) } // it fails when this process ends
	p.OnEnd = func() { _ = s.call(callEnd, about{Run: o.Run}, nil) }
	if o.Parts {
		p.OnPart = func(w bench.Window) { s.tell(noticePart, about{Run: o.Run, Window: w}) }
	}
	if o.Interleaved {
		p.Interleave = interleaving{s.peer, o.Run}
	}
	return p, nil
}

func (s *server) rest(o order) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if kept := s.kept[o.Trial]; kept != nil {
		kept.Close()
		delete(s.kept, o.Trial)
	}
	return nil, nil
}

func (s *server) stalls(struct{}) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.meter == nil {
		s.meter = thread.WatchStalls(thread.LookEvery)
	}
	return s.meter.Take(), nil
}

// interleaving is the parent's place of a step among those of others.
type interleaving struct {
	*peer
	run uint64
}

func (i interleaving) do(t turn) turn {
	t.Run = i.run
	_ = i.call(callInterleave, t, &t) // it fails when this process ends
	return t
}

func (i interleaving) Length() time.Duration { return i.do(turn{Method: "length"}).Length }
func (i interleaving) Alternate(why string)  { i.do(turn{Method: "alternate", Text: why}) }
func (i interleaving) Alternating() bool     { return i.do(turn{Method: "alternating"}).Yes }
func (i interleaving) Next()                 { i.do(turn{Method: "next"}) }
func (i interleaving) Agree() bool           { return i.do(turn{Method: "agree"}).Yes }
func (i interleaving) Restart()              { i.do(turn{Method: "restart"}) }
func (i interleaving) Align(at time.Time) (time.Time, time.Duration) {
	t := i.do(turn{Method: "align", At: at})
	return t.At, t.Length
}
func (i interleaving) Fit(iteration time.Duration) time.Duration {
	return i.do(turn{Method: "fit", Length: iteration}).Length
}

// take is the other side of interleaving.
func take(turns bench.Interleaving, t turn) turn {
	switch t.Method {
	case "length":
		t.Length = turns.Length()
	case "align":
		t.At, t.Length = turns.Align(t.At)
	case "alternate":
		turns.Alternate(t.Text)
	case "alternating":
		t.Yes = turns.Alternating()
	case "next":
		turns.Next()
	case "agree":
		t.Yes = turns.Agree()
	case "restart":
		turns.Restart()
	case "fit":
		t.Length = turns.Fit(t.Length)
	}
	return t
}
