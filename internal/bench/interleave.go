package bench

import "time"

// Interleaving is the place of a step among those of other contenders. Its load is sent in slices;
// the others are loaded between them, and nothing of this step is in flight then.
type Interleaving interface {
	// Length returns the least length of the slice that begins now.
	Length() time.Duration
	// Align returns the first moment, not before at, at which a slice may begin or end: where a
	// period of the contender's CPU quota begins, and how long such a period is; 0: not known.
	Align(at time.Time) (begin time.Time, period time.Duration)
	// Fit notes the mean time of an iteration of this contender, 0 if it is not known, and returns
	// the longest one of all contenders in this step.
	Fit(iteration time.Duration) time.Duration
	// Alternate makes the step one that is not interleaved, for all contenders: what is left of it
	// is one slice. why is part of a sentence.
	Alternate(why string)
	// Alternating reports whether Alternate was called, for any of the contenders.
	Alternating() bool
	// Next lets the other contenders have their slices, and returns when this one is to be
	// loaded again, or the run ends.
	Next()
	// Agree waits until all contenders have had their slices of the step, and reports whether it is
	// Alternating.
	Agree() bool
	// Restart forgets what was read in the slices so far.
	Restart()
}

// Interleave says that a step was interleaved with those of other contenders. All results are of
// the contender's slices, joined as if there were no time between them.
type Interleave struct {
	Length time.Duration `json:"length_ns"` // least length of a slice
	Count  int           `json:"count"`     // number of slices of this contender
	// when the interleaved contenders started; the same for all of them, and for no others
	Since time.Time `json:"since"`
	With  []string  `json:"with"` // labels of the others that ran in its first slice
	// why the step was not interleaved after all: the contenders had it one after the other; "": it was
	Alternated string `json:"alternated,omitempty"`
	// time between its slices
	Waited time.Duration `json:"waited_ns,omitempty"`
	// CPU time that it used between its slices, which may have slowed the others
	WaitedCPU time.Duration `json:"waited_cpu_ns,omitempty"`
	// the part of it that counts as that of the requests before, as compilers and collectors run on
	AddedCPU     time.Duration `json:"added_cpu_ns,omitempty"`
	AddedThreads *ThreadTime   `json:"added_thread_time,omitempty"`
	// as WaitedCPU, of the needs that it has for itself, by their names
	WaitedNeeds map[string]time.Duration `json:"waited_needs_cpu_ns,omitempty"`
}

// addedFrom is the share of a slice's CPU time from which on that of the pause after it is added.
const addedFrom = .02

// Wait adds the pause between two readings, after a slice with this CPU time.
func (t *Interleave) Wait(slice time.Duration, from, to Usage) {
	cpu := max(to.CPU-from.CPU, 0)
	t.Waited += to.At.Sub(from.At)
	t.WaitedCPU += cpu
	if float64(cpu) <= addedFrom*float64(slice) {
		return
	}
	t.AddedCPU += cpu
	if t.AddedThreads == nil {
		t.AddedThreads = &ThreadTime{}
	}
	if sum := advanced(t.AddedThreads, from.ThreadTime, to.ThreadTime); sum != nil {
		t.AddedThreads = sum
	}
}

// WaitingCPUs returns how many CPUs the contender used between its slices.
func (t Interleave) WaitingCPUs() float64 { return t.whileWaiting(t.WaitedCPU) }

// NeedWaitingCPUs returns how many CPUs a need of the contender itself used between its slices.
func (t Interleave) NeedWaitingCPUs(need string) float64 { return t.whileWaiting(t.WaitedNeeds[need]) }

func (t Interleave) whileWaiting(cpu time.Duration) float64 {
	if t.Waited <= 0 {
		return 0
	}
	return float64(cpu) / float64(t.Waited)
}

// Interleaved returns since when the trial was interleaved with others; ok is false if no step was.
func (t TrialResult) Interleaved() (since time.Time, ok bool) {
	for _, s := range t.Steps {
		if s.Interleave != nil && len(s.Interleave.With) > 0 {
			return s.Interleave.Since, true
		}
	}
	return time.Time{}, false
}

// And returns the sum of two measurements, of two meters or at two times.
func (h Hiccups) And(other Hiccups) Hiccups {
	if h.CPUs == 0 {
		return other
	}
	return Hiccups{CPUs: max(h.CPUs, other.CPUs), Count: h.Count + other.Count, Sum: h.Sum + other.Sum,
		Max: max(h.Max, other.Max), Realtime: h.Realtime && other.Realtime}
}

// Groups returns the indices of the trials that run at the same time, in the order of the run:
// single trials, or those of a round if the run is interleaved. The trials of a single contender
// are interleaved in pairs of rounds.
func (r Run) Groups() (groups [][]int) {
	if r.Profile.Interleave <= 0 {
		for i := range r.Trials {
			groups = append(groups, []int{i})
		}
		return groups
	}
	of := map[int]int{} // index in groups
	for i, entry := range r.Trials {
		round := entry.Trial.Round
		if len(r.Profile.Contenders) == 1 {
			round = (round + 1) / 2
		}
		g, known := of[round]
		if !known {
			g = len(groups)
			of[round], groups = g, append(groups, nil)
		}
		groups[g] = append(groups[g], i)
	}
	return groups
}
