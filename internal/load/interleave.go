package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/load/record"
	"github.com/locbench/locbench/internal/load/workload"
)

const (
	// perSlice is how many iterations of a connection a slice has at least: with the two of the
	// lead-in and the half of the drain, a tenth of the step's time does not count at most.
	perSlice = 25
	// leastPatience is the shortest time after which a first iteration counts; see record.Slice.
	leastPatience = 2 * time.Second
	// leftOver is the share of a step that is too short for another slice.
	leftOver = .05
)

// slicing says how long the next slice of an interleaved step is.
type slicing struct {
	length    time.Duration
	iteration time.Duration // mean time of an iteration so far; 0: not known
}

// runInterleaved is Run with plan.Interleave. All times are of the slices alone, joined as if
// nothing had been in between, and a window has as many slices as make a second.
//
// A closed loop counts whole iterations; see record.Slice. An open loop has in each slice its own
// lead-in, interval and drain. Where its rate is not held in a slice, of whichever contender, its
// queue is the result: the slices of all are thrown away, and the step runs in one.
func (e Engine) runInterleaved(
	ctx context.Context, plan Plan, connections int, onWindow func(bench.Window),
) (bench.Load, error) {
	if plan.Interleave.Length() <= 0 || plan.Step.CheckInterleave() != nil {
		return bench.Load{}, errors.New("cannot be interleaved")
	}
	if e.Keep == nil {
		e.Keep = &Kept{}
		defer e.Keep.Close()
	}
	deliver := record.NewDelivery(onWindow)
	defer deliver.Finish()
	plan.Sampling = &workload.Sampling{Length: plan.Step.Duration}
	s := sliced{Engine: e, plan: plan, connections: connections, deliver: deliver}
	err := s.run(ctx)
	if open := plan.Step.Open(); open && err == nil && ctx.Err() == nil && plan.Interleave.Agree() {
		return s.inOne(ctx, onWindow)
	} else if open && s.all != nil {
		for _, w := range s.all.Windows {
			deliver.Add(w)
		}
	}
	if s.all == nil {
		return bench.Load{}, err
	}
	load, ended := finish(ctx, &s.all.Result, s.wall, s.cpu)
	return load, cmp.Or(ended, err)
}

// sliced is a step that runs in slices.
type sliced struct {
	Engine
	plan        Plan
	connections int
	deliver     *record.Delivery
	all         *record.Interleaved // nil before the first slice has ended
	wall, cpu   time.Duration
}

// run runs the slices, until the step is over or has to run in one.
func (s *sliced) run(ctx context.Context) error {
	others, open := s.plan.Interleave, s.plan.Step.Open()
	defer func() {
		if s.all != nil && s.all.Unclosed() > 0 {
			s.closeWindow()
		}
	}()
	for n, left := 0, s.plan.Step.Duration; n == 0 || left > s.leftOver(); n++ {
		if n > 0 {
			others.Next()
		}
		if open && others.Alternating() {
			return nil
		}
		slice, own := s.plan, s.Engine
		of := s.next(left)
		slice.Step.Duration = of.length
		slice.Sampling.Before = s.plan.Step.Duration - left
		slice.Seed += uint64(n) * 0x9e3779b97f4a7c15 // other ids than in the slice before
		own.Window = max(slice.Step.Duration, time.Nanosecond)
		m, err := own.measure(ctx, slice, of, s.connections, nil)
		if err != nil && s.all != nil && ctx.Err() != nil {
			return nil // the slice has not begun
		}
		if err != nil {
			return err
		}
		if s.all == nil {
			s.all = record.NewInterleaved(m.rec)
		}
		s.wall, s.cpu = s.wall+m.wall, s.cpu+m.cpu
		s.all.AddSlice(m.rec)
		if err := m.rec.Err(); err != nil {
			return err
		}
		left -= s.judge(m, of)
		if s.all.Unclosed() >= s.Window {
			s.closeWindow()
		}
	}
	return nil
}

// leftOver returns the rest of a step that is too short for another slice: one iteration of it is
// its lead-in.
func (s *sliced) leftOver() time.Duration {
	return max(time.Duration(leftOver*float64(s.plan.Step.Duration)), 2*s.all.Iteration())
}

// next returns the length of the next slice of a step with some time left.
func (s *sliced) next(left time.Duration) *slicing {
	others := s.plan.Interleave
	longest := s.fit(0)
	length := max(others.Length(), perSlice*longest)
	if !s.plan.Step.Open() && others.Alternating() || left-length < length/2 {
		length = left
	}
	own := time.Duration(0)
	if s.all != nil {
		own = s.all.Iteration()
	}
	return &slicing{length: length, iteration: cmp.Or(own, min(longest, length/perSlice))}
}

// fit is Interleaving.Fit. If the iterations of the slowest contender do not fit into a slice, the step is
// not interleaved.
func (s *sliced) fit(iteration time.Duration) time.Duration {
	longest := s.plan.Interleave.Fit(iteration)
	if perSlice*longest > s.plan.Step.Duration {
		s.plan.Interleave.Alternate(fmt.Sprintf("a response takes %s, and a slice has %d on each connection",
			units.Duration(longest), perSlice))
	}
	return longest
}

// judge looks at a slice that has ended, and returns how much of the step it was.
func (s *sliced) judge(m measured, of *slicing) time.Duration {
	others := s.plan.Interleave
	if !s.plan.Step.Open() {
		if over := m.took - of.length; over > s.patience() {
			others.Alternate("some responses took " + units.Duration(over) + " longer than a slice")
		} else {
			s.fit(s.all.Iteration())
		}
		return m.took
	}
	if load := m.rec.Load(); verdict.Held(load) {
		s.fit(load.Sending.Mean)
	} else { // its queue decides how long responses take
		others.Alternate("the rate was not held")
	}
	return of.length
}

func (s *sliced) patience() time.Duration { return max(leastPatience, s.plan.Step.Duration) }

// closeWindow ends a window of whole slices. Those of an open loop wait: it may run in one.
func (s *sliced) closeWindow() {
	if w := s.all.CloseWindow(); !s.plan.Step.Open() {
		s.deliver.Add(w)
	}
}

// inOne runs the whole step in one, after its slices, which do not count.
func (s *sliced) inOne(ctx context.Context, onWindow func(bench.Window)) (bench.Load, error) {
	s.plan.Interleave.Restart()
	plan := s.plan
	plan.Interleave, plan.Sampling = nil, nil
	m, err := s.measure(ctx, plan, nil, s.connections, onWindow)
	if err != nil {
		return bench.Load{}, err
	}
	load, err := finish(ctx, &m.rec.Result, m.wall, m.cpu)
	return load, cmp.Or(err, m.rec.Err())
}

// await waits until a slice may begin, and makes rec one of whole iterations if it is one of a
// closed loop.
func (of *slicing) await(ctx context.Context, plan Plan, rec *record.Recorder) {
	others := plan.Interleave
	if of == nil {
		return
	}
	begin, period := others.Align(time.Now())
	end, _ := others.Align(begin.Add(of.length))
	timer := time.NewTimer(time.Until(begin))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	if plan.Step.Open() {
		return
	}
	length := end.Sub(begin)
	rec.CountIterations(record.Slice{
		// Half of an iteration less: they end around the end of the slice.
		Until:    max(length-of.iteration/2, length/2),
		End:      length,
		Period:   period,
		Spread:   min(of.iteration, length/4),
		Patience: max(leastPatience, plan.Sampling.Length),
	})
}
