package bench

import "time"

// Interleaving is the place of a step among those of other contenders. Its load is sent in slices;
// the others are loaded between them, and nothing of this step is in flight then.
type Interleaving interface {
	// Length returns the least length of the slice that begins now.
	Length() time.Duration
	// Align returns the first moment, not before at, at which a slice may begin or end: where a
	// period of the contender's CPU quota begins.
	Align(at time.Time) time.Time
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

// InterleaveAuto is the value of Profile.Interleave that leaves the choice to the plan of a run. A
// run's record has the choice: the length of a slice, or 0 and the reason in Run.Plain.
const InterleaveAuto time.Duration = -1

// PlainReason is a kind of reason why the contenders of a run are not interleaved.
type PlainReason string

// The reasons.
const (
	PlainChosen        PlainReason = "chosen"         // the profile or the command says so
	PlainAlone         PlainReason = "one contender"  // there is nothing to interleave with
	PlainNeeds         PlainReason = "needs"          // contenders would share one, with an effect on each other
	PlainSteps         PlainReason = "steps"          // a step cannot be interleaved
	PlainFirstRequests PlainReason = "first requests" // they are timed while nothing else runs
	PlainRounds        PlainReason = "rounds"         // fewer than a verdict on pairs takes
	PlainMemory        PlainReason = "memory"         // the contenders may need more than there is
	PlainContenders    PlainReason = "contenders"     // more than may start without a memory limit
)

// Plain says why the contenders of a run are not interleaved.
type Plain struct {
	Reason PlainReason `json:"reason"`
	Text   string      `json:"text"` // the reason as part of a sentence, with its values
}

// NotInterleaved returns why the contenders of a run are not interleaved, as part of a sentence; ""
// if they are, if there is one, or if the user chose so.
func (r Run) NotInterleaved() string {
	if r.Plain == nil || len(r.Profile.Contenders) < 2 || r.Plain.Reason == PlainChosen {
		return ""
	}
	return r.Plain.Text
}

// RoundTime returns the mean time of the rounds that all their trials completed, checks and stops
// included; ok is false if there is none. Interleaved trials of a round count once.
func (r Run) RoundTime(trials []TrialResult) (mean time.Duration, ok bool) {
	of := map[Trial]TrialResult{}
	for _, t := range trials {
		of[t.Trial] = t
	}
	var sum time.Duration
	took, broken := map[int]time.Duration{}, map[int]bool{}
	for _, group := range r.Groups() {
		var from, to time.Time
		for _, i := range group {
			t := of[r.Trials[i].Trial]
			round := r.Trials[i].Trial.Round
			took[round] += 0
			broken[round] = broken[round] || t.State != TrialComplete || t.Ended.Before(t.Started)
			if from.IsZero() || t.Started.Before(from) {
				from = t.Started
			}
			if t.Ended.After(to) {
				to = t.Ended
			}
		}
		rounds := map[int]bool{} // two if a contender is interleaved with itself
		for _, i := range group {
			rounds[r.Trials[i].Trial.Round] = true
		}
		for round := range rounds {
			took[round] += to.Sub(from) / time.Duration(len(rounds))
		}
	}
	n := 0
	for round, d := range took {
		if !broken[round] {
			sum, n = sum+d, n+1
		}
	}
	if n == 0 {
		return 0, false
	}
	return sum / time.Duration(n), true
}
