package verdict

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
)

// Cause is why a step is slow, as the threads of the contender say, with what to set.
type Cause struct {
	Kind   CauseKind
	What   string // "the collector took 44% of its CPU time at 64 connections"
	Why    string
	Remedy string

	weight float64 // of several steps the one with the most is named
}

// String returns what was seen, why and what to do.
func (c Cause) String() string { return c.What + ": " + c.Why + "; " + c.Remedy }

// CauseKind is the kind of a cause.
type CauseKind int

// The causes, the one that explains others first.
const (
	Starving   CauseKind = iota // its threads grow while requests hold them and wait
	Narrow                      // it serves few requests at a time with idle CPUs
	Collecting                  // its collector takes the CPU time
	Compiling                   // its compilers do, in a measured step
	causeKinds
)

// Causes returns what makes steps of a contender slow in most of its rounds, of each kind that of the
// step where it weighs most. A step that has CPUs left is not slow by what its threads use.
func Causes(cpus int, trials []bench.TrialResult) (all []Cause) {
	var found [causeKinds][]Cause
	for _, t := range trials {
		var worst [causeKinds]*Cause
		for _, c := range trialCauses(cpus, t) {
			if w := worst[c.Kind]; w == nil || c.weight >= w.weight {
				worst[c.Kind] = &c
			}
		}
		for kind, c := range worst {
			if c != nil {
				found[kind] = append(found[kind], *c)
			}
		}
	}
	for _, of := range found {
		if 2*len(of) <= len(trials) {
			continue
		}
		slices.SortStableFunc(of, func(a, b Cause) int { return cmp.Compare(a.weight, b.weight) })
		all = append(all, of[len(of)/2])
	}
	return all
}

func trialCauses(cpus int, trial bench.TrialResult) (all []Cause) {
	known, bounds := factsOf(cpus, trial), Trial(cpus, trial)
	for i, s := range trial.Steps {
		f, ok := known.of(trial.Steps, i)
		if !ok {
			continue
		}
		if c, ok := f.starves(); ok {
			all = append(all, c)
		}
		if s.Step.WarmUp {
			continue
		}
		if c, ok := f.narrow(); ok && bounds[i].Bound == Contender {
			all = append(all, c)
		}
		if t, _, ok := s.ThreadTime(); ok && f.cpusOK {
			all = append(all, f.runtimeTakes(t, trial.Service)...)
		}
	}
	return all
}

// spent reports whether the CPU time of a step was used up, or that of the thread that serves: on a busy
// machine by a contender that needs more than it would get anyway, and whose requests wait for it.
func (f facts) spent() bool {
	thread, _ := f.step.BusyThread()
	crowded := f.busyOK && f.busy+f.steal >= nearlyBusy && f.cpus >= hardly*f.may && f.latencyFlat() == ""
	return AtQuota(f.step, f.quota) || f.cpus >= usedUp*f.may || crowded || thread >= threadFull
}

// runtimeTakes finds a collector or compilers that take a good part of a step's CPU time where that is
// scarce, and a collector that runs long enough for its pauses to be in the latency.
func (f facts) runtimeTakes(t bench.ThreadTime, of bench.Service) (all []Cause) {
	whole, at := float64(t.Served+t.Compiled+t.Collected+t.Runtime), f.step.Step.Words()
	says := familyOf(of.Language)
	if share := float64(t.Collected) / whole; share >= muchCollected && (f.spent() || share*f.cpus >= pausing) {
		why := "its heap is small for what it keeps and allocates"
		if _, m := memories(f.step); m.Used > 0 {
			why += fmt.Sprintf(": %s in use", units.Bytes(m.Used))
		}
		if set := heapSet(of); set != "" {
			why += ", with " + set
		}
		all = append(all, Cause{Collecting, fmt.Sprintf("the collector took %s of its CPU time at %s", units.Percent(share), at),
			why, "give it a larger heap" + inBrackets(says.collects), share})
	}
	if share := float64(t.Compiled) / whole; share >= muchCompiled && f.spent() {
		all = append(all, Cause{Compiling, fmt.Sprintf("the compilers took %s of its CPU time at %s", units.Percent(share), at),
			"it was still compiling its code when it was measured", "warm it up for longer (`8 warm-up for 5s or longer`), or compile less while it serves" + inBrackets(says.compiles), share})
	}
	return all
}

func inBrackets(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

var heapOption = regexp.MustCompile(`-Xmx\d{1,12}[kKmMgG]?\b|-XX:MaxRAMPercentage=[\d.]{1,8}`)

// heapSet returns the option of a JVM that sets its heap, if the manifest has one.
func heapSet(of bench.Service) string {
	var where []string
	if of.Process != nil {
		where = append(where, of.Process.Command...)
	}
	if of.Docker != nil {
		where = append(where, of.Docker.Command...)
	}
	for _, name := range []string{"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "JAVA_OPTS"} {
		where = append(where, of.Env[name])
	}
	return heapOption.FindString(strings.Join(where, " "))
}

// starves finds a pool that gets more threads while requests hold those that it has and wait, with
// idle CPUs: in the step, or before its first responses.
func (f facts) starves() (c Cause, ok bool) {
	from, to, used, slow := f.pool()
	if !f.cpusOK || float64(to) < moreThreads*float64(from) || to < from+someThreads || used >= idleShare*f.may {
		return c, false
	}
	return Cause{Starving, fmt.Sprintf("its threads grew from %d to %d at %s, while its CPUs were idle (%.2f of %s in use)%s",
		from, to, f.step.Step.Words(), used, units.CPUs(f.may), slow),
		"requests hold threads while they wait, and the pool gets new ones slowly",
		"look for blocking calls (sync over async, .Result, get(), join()), or start with more threads" + inBrackets(familyOf(f.language).pool), float64(to)}, true
}

// pool returns how the threads of the contender grew while hardly anything was answered, with how many
// CPUs in use, and how slow it was; zeros if it was answered.
func (f facts) pool() (from, to int, cpus float64, slow string) {
	for _, w := range f.step.Warnings {
		if v := w.Values; w.Kind == bench.WarnFirstResponses && v["threads"] > 0 {
			return int(v["threads_before"]), int(v["threads"]), v["cpus"],
				" and the first responses took " + units.Duration(time.Duration(v["first_response_ns"]))
		}
	}
	first, last, n := ofThirds(f.step.Load.Windows)
	if f.step.Step.Open() || n == 0 || last < muchMore*first {
		return 0, 0, 0, ""
	}
	rises := 0
	var before *bench.Usage
	for _, u := range f.step.Readings() {
		if u.Threads == nil {
			continue
		}
		if before != nil && *u.Threads > *before.Threads {
			rises++
		}
		before = u
	}
	if rises < someRises {
		return 0, 0, 0, ""
	}
	from, to = threads(f.step, nil)
	return from, to, f.cpus, ""
}

// ofThirds returns the successes in the first and the last third of a step's windows.
func ofThirds(all []bench.Window) (first, last float64, n int) {
	n = len(all) / 3
	for i := range n {
		first += all[i].Throughput()
		last += all[len(all)-1-i].Throughput()
	}
	return first, last, n
}

// narrow finds a contender that serves a constant number of requests at a time, by Little's law: its
// throughput at many connections × its latency at the fewest. The many have to be in flight all the time,
// so it is not the client, or a machine that stalls, that keeps them from being sent.
func (f facts) narrow() (c Cause, ok bool) {
	if len(f.below) == 0 || !f.cpusOK || f.cpus >= idleShare*f.may {
		return c, false
	}
	fewest := slices.MinFunc(f.below, func(a, b *bench.StepResult) int { return cmp.Compare(a.Step.Connections, b.Step.Connections) })
	l, connections := f.step.Load, float64(f.step.Step.Connections)
	n := l.Throughput() * fewest.Load.Latency.Mean.Seconds()
	if n > connections/muchMore || l.Throughput()*l.Latency.Mean.Seconds() < inProportion*connections {
		return c, false
	}
	about, many := "about", max(1, int(math.Round(n)))
	if k := fewest.Step.Connections; k > 1 && n >= usedUp*float64(k) { // they may queue there, too
		about, many = "at most", k
	}
	why := "a pool of threads or connections is full, or calls block its event loops"
	if many == 1 {
		why = "a lock, a pool of one, or calls that block its event loop"
	}
	if len(f.needs) == 0 {
		why += "; or a limit of what it calls, which is not measured"
	}
	return Cause{Narrow, fmt.Sprintf("it serves %s %s at a time at %s, while its CPUs are idle (%.2f of %s in use)", about,
		units.Plural(many, "request"), f.step.Step.Words(), f.cpus, units.CPUs(f.may)), why,
		"look for what holds a request while others wait, or enlarge that pool" + inBrackets(familyOf(f.language).pool),
		l.Throughput()}, true
}
