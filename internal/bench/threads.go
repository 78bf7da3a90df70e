package bench

import (
	"time"
)

// Switches counts the context switches of an instance's threads. A thread that has ended counts
// with its last reading.
type Switches struct {
	Source      string `json:"source"`      // "/proc/PID/status of all threads"
	Voluntary   int64  `json:"voluntary"`   // the thread waited for something
	Involuntary int64  `json:"involuntary"` // the kernel ran another thread, or the quota was used up
}

// ThreadTime is the CPU time of an instance's threads by what they do, as the runtime names them. A thread
// that has ended counts with its last reading. Where a runtime does such work on threads that serve, it
// counts as served.
type ThreadTime struct {
	Served    Duration `json:"served_ns"`
	Compiled  Duration `json:"compiled_ns,omitempty"`  // to machine code, while the service ran
	Collected Duration `json:"collected_ns,omitempty"` // garbage
	Runtime   Duration `json:"runtime_ns,omitempty"`   // one of these two, not known which
}

// ThreadTime returns what the CPU time of the contender in the step was spent on, and how much of it
// threads used that ended since their last reading.
func (s StepResult) ThreadTime() (of ThreadTime, ended Duration, ok bool) {
	b, a, ok := ends(s.Before, s.After, func(u *Usage) *ThreadTime { return u.ThreadTime })
	cpu, known := s.CPU()
	if !ok || !known {
		return ThreadTime{}, 0, false
	}
	sum := advanced(&ThreadTime{}, &b, &a)
	if i := s.Interleave; i != nil && i.AddedThreads != nil {
		sum = advanced(sum, &ThreadTime{}, i.AddedThreads)
	}
	of = *sum
	return of, max(0, cpu-of.Served-of.Compiled-of.Collected-of.Runtime), true
}

// Compiling returns the share of the contender's CPU time that threads of compilers took from a share of
// the step to its end: .5 is its second half, by the reading that is nearest. ok is false where the
// runtime has none, or they were not read.
func (s StepResult) Compiling(from float64) (share float64, ok bool) {
	b, a := s.Before, s.After
	if b == nil || a == nil {
		return 0, false
	}
	at := b.At.Add(time.Duration(from * float64(a.At.Sub(b.At))))
	for i, u := range s.Samples {
		if u.At.Sub(at).Abs() < b.At.Sub(at).Abs() {
			b = &s.Samples[i]
		}
	}
	if b.ThreadTime == nil || a.ThreadTime == nil || a.ThreadTime.Compiled == 0 || a.CPU <= b.CPU {
		return 0, false
	}
	return max(0, float64(a.ThreadTime.Compiled-b.ThreadTime.Compiled)/float64(a.CPU-b.CPU)), true
}

// Switches returns the context switches of the contender in the step.
func (s StepResult) Switches() (voluntary, involuntary int64, ok bool) {
	b, a, ok := ends(s.Before, s.After, func(u *Usage) *Switches { return u.Switches })
	voluntary, involuntary = a.Voluntary-b.Voluntary, a.Involuntary-b.Involuntary
	return voluntary, involuntary, ok && a.Source == b.Source && voluntary >= 0 && involuntary >= 0
}

// Threads returns how many threads the contender had after the warm-up: at the end of its last warm-up
// step, or of the first step; ok is false if it is not known.
func (t TrialResult) Threads() (n int, ok bool) {
	for _, s := range t.Steps {
		if ok && !s.Step.WarmUp {
			break
		}
		if s.After != nil && s.After.Threads != nil {
			n, ok = *s.After.Threads, true
		}
	}
	return n, ok
}

// KeepBusiest replaces the CPU times of all threads, of the contender and of needs, by those of the
// busiest ones between the two ends of the step.
func (s *StepResult) KeepBusiest() {
	if s.Before != nil && s.After != nil {
		s.BusiestThread = busiest(s.Before.ThreadCPU, s.After.ThreadCPU)
		s.Before.ThreadCPU, s.After.ThreadCPU = nil, nil
	}
	if s.HostBefore == nil || s.HostAfter == nil {
		return
	}
	for name, to := range s.HostAfter.Needs {
		if from := s.HostBefore.Needs[name]; from != nil {
			to.BusiestThread = busiest(from.ThreadCPU, to.ThreadCPU)
			from.ThreadCPU, to.ThreadCPU = nil, nil
		}
	}
}

// busiest returns the CPU time of the busiest thread between two readings; nil: not known.
func busiest(from, to map[int]time.Duration) *Duration {
	if len(from) == 0 {
		return nil
	}
	var busiest *Duration
	for id, cpu := range to {
		if used := cpu - from[id]; used >= 0 && (busiest == nil || used > *busiest) {
			busiest = &used
		}
	}
	return busiest
}

// BusyThread returns the share of the step in which its busiest thread ran, from 0 to 1.
func (s StepResult) BusyThread() (share float64, ok bool) {
	if s.BusiestThread == nil || s.Before == nil || s.After == nil {
		return 0, false
	}
	between := s.After.At.Sub(s.Before.At)
	return min(1, float64(*s.BusiestThread)/float64(max(between, 1))), between > 0
}
