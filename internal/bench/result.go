package bench

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// ErrorKind names why a request did not succeed. An error is never counted as throughput.
type ErrorKind string

// Words returns the kind as people read it: "connection refused".
func (k ErrorKind) Words() string { return strings.ReplaceAll(string(k), "_", " ") }

// The kinds. A status other than the expected one is the class of that status: "1xx" … "5xx".
const (
	ErrRefused ErrorKind = "connection_refused"
	ErrReset   ErrorKind = "connection_reset" // reset, broken pipe, or closed before the whole response was there
	ErrTimeout ErrorKind = "timeout"
	ErrBody    ErrorKind = "unreadable_body" // one that cannot be read
	ErrWrong   ErrorKind = "unexpected_body" // whole, but not the known response
	ErrSave    ErrorKind = "missing_value"   // a good response without a value that was to be saved of it
	ErrClient  ErrorKind = "client_limit"    // out of ports, files or memory on this side
	ErrOther   ErrorKind = "other"
)

// Latencies is a distribution. The figures are computed from the histogram once, where it was made;
// quantiles are never averaged: to combine distributions, merge HDR.
type Latencies struct {
	Count int64         `json:"count"`
	Min   time.Duration `json:"min_ns"`
	Max   time.Duration `json:"max_ns"`
	Mean  time.Duration `json:"mean_ns"`
	SD    time.Duration `json:"sd_ns"` // of the population
	P50   time.Duration `json:"p50_ns"`
	P75   time.Duration `json:"p75_ns"`
	P90   time.Duration `json:"p90_ns"`
	P95   time.Duration `json:"p95_ns"`
	P99   time.Duration `json:"p99_ns"`
	P999  time.Duration `json:"p999_ns"`
	HDR   string        `json:"hdr,omitempty"` // HdrHistogram V2, compressed, base64; unit: 1 ns; 3 significant figures
}

// Window is what happened in one second of a step's interval. The last one may be shorter. Results
// of the earlier definition also have windows of the drain, after the end of the sending, where
// something ended in them.
type Window struct {
	Start     time.Duration       `json:"start_ns"` // since the start of the interval
	Length    time.Duration       `json:"length_ns"`
	Succeeded int64               `json:"succeeded"`
	Failed    map[ErrorKind]int64 `json:"failed,omitempty"`
	Bytes     int64               `json:"bytes"`
	// of the successes that ended in this window; 0 without any; open loop: from when they were scheduled
	P50 time.Duration `json:"p50_ns"`
	P90 time.Duration `json:"p90_ns"`
	P99 time.Duration `json:"p99_ns"`
	Max time.Duration `json:"max_ns"`
	// earlier definition: nothing was sent any more, so its rate means nothing
	Drain   bool  `json:"drain,omitempty"`
	Sent    int64 `json:"sent,omitempty"` // in this window; these and the following ones in an open loop only
	Scheduled    int64 `json:"scheduled,omitempty"`
	Late    int64 `json:"late,omitempty"`    // sent more than 1 ms after they were scheduled
	Dropped int64 `json:"dropped,omitempty"` // never sent
	// requests due per second as it was at the end of the window; 0: none by rate
	Rate float64 `json:"rate,omitempty"`
}

// Throughput returns successes per second of the window.
func (w Window) Throughput() float64 { return perSecond(w.Succeeded, w.Length) }

// Definition says what the figures of a measured step are of.
type Definition int

// The definitions. See docs/decisions/2026-11-22-a-measured-step.md.
const (
	// OldDefinition counted every response to what was sent, over the time of sending plus the mean, over
	// the connections, of how much later their last success came. With a queue it overstates the
	// throughput, and understates the CPU time of a request.
	OldDefinition Definition = 0
	// OtherTool is that of another tool, whose results have been imported.
	OtherTool Definition = 1
	// Interval counts the responses whose last byte arrived within an interval in the steady state,
	// over its length. The load begins before it and continues until its end; counters are read at
	// its two ends.
	Interval Definition = 2
)

// String returns the definition in words.
func (d Definition) String() string {
	switch d {
	case OldDefinition:
		return "all responses / sending time (old definition)"
	case OtherTool:
		return "as another tool defines it"
	case Interval:
		return "an interval in the steady state"
	}
	return "unknown"
}

// OldDefinitionWarning is the warning about results in which steps were measured by the earlier definition.
const OldDefinitionWarning = "old definition of a step: when saturated, throughput may be a third too high and CPU per request half too low. Compare only with results of the same definition"

// Load is what the load engine saw of one step.
//
// Sent is the sum of Succeeded, Lead, Drain, the failures, and Cut: each request is counted once.
type Load struct {
	Definition Definition `json:"definition,omitempty"`

	Started time.Time     `json:"started"`              // of the interval
	Elapsed time.Duration `json:"elapsed_ns"`           // length of the interval, which is what Throughput is over
	LeadIn  time.Duration `json:"lead_in_ns,omitempty"` // load before the interval
	// closed loop: the same as Sent; open loop: those that were scheduled, which is Sent + Dropped
	Scheduled int64 `json:"scheduled"`
	Sent      int64 `json:"sent"`                      // in the step, from the beginning of the lead-in
	Succeeded int64 `json:"succeeded"`                 // answers that arrived within the interval
	Lead      int64 `json:"lead_succeeded,omitempty"`  // successes before it
	Drain     int64 `json:"drain_succeeded,omitempty"` // and after it
	// in flight when the step was interrupted: neither succeeded nor failed
	Cut     int64 `json:"cut,omitempty"`
	Backlog int64 `json:"backlog,omitempty"` // in flight, or waiting for a connection, at the end of the interval
	// connections without any response when the lead-in had to end: the queue is longer than it
	Unserved int `json:"unserved,omitempty"`
	// in the step, also before and after the interval: no failure is left out
	Failed   map[ErrorKind]int64 `json:"failed,omitempty"`
	Bytes    int64               `json:"bytes"`             // of the bodies of Succeeded
	Latency  Latencies           `json:"latency"`           // of Succeeded, from the moment that LatencyOf names
	Timeouts Latencies           `json:"timeouts,omitzero"` // of timeouts, with the time they took from their sending
	Failures Latencies           `json:"failures"`          // of failures other than timeouts
	Windows  []Window            `json:"windows"`           //
	// CPU time of locbench itself during Wall (includes an embedded store)
	ClientCPU time.Duration `json:"client_cpu_ns"`
	// between the readings of CPU times at the two ends; 0: not known, Elapsed is close
	Wall time.Duration `json:"wall_ns,omitempty"`
	// doubt about the result: "the client may be the bottleneck: …"
	Warnings Warnings             `json:"warnings,omitempty"`
	Examples map[ErrorKind]string `json:"examples,omitempty"` // the first error text of each kind, bounded

	// of each kind, where the step asked more than one; in the order of the profile
	Requests []RequestLoad `json:"requests,omitempty"`
	Sessions []SessionLoad `json:"sessions,omitempty"` // in the whole step, also before and after the interval
	Checked  int64         `json:"checked,omitempty"`  // answers whose whole body was compared with the known one
	// requests in flight, on average over Elapsed; in a steady state throughput × mean latency
	InFlight float64 `json:"in_flight,omitempty"`
	// that of the client: "io_uring", "epoll", or "portable", which has a goroutine for each connection
	Loop string `json:"loop,omitempty"`
	// answers whose latency ends when the kernel took in their last byte, since the client had to be woken up for them;
	// that of the others ends when they were read
	Stamped int64 `json:"stamped,omitempty"`
	// summed over Stamped: how much later than that they were read, which no latency contains
	ClientWake time.Duration `json:"client_wake_ns,omitempty"`
	// that locbench may use, by its affinity and its CPU quota; 0: not known
	ClientCPUs float64 `json:"client_cpus,omitempty"`
	// share of Wall in which the busiest thread of the client did not wait for anything; 0: not known
	Saturation float64 `json:"saturation,omitempty"`

	// Open loop only. Nothing waits without being counted: what could not be sent when it was scheduled
	// was late or dropped.
	LatencyOf          Origin    `json:"latency_of,omitempty"`            // where Latency begins; "" is FromSent
	Sending            Latencies `json:"latency_sent,omitzero"`           // of the same successes as Latency, from their sending
	Lag                Latencies `json:"lag,omitzero"`                    // from due to sent, of all that were sent
	Late               int64     `json:"late,omitempty"`                  // of Sent: more than 1 ms after they were scheduled
	WaitedForConnection              int64     `json:"waited_for_connection,omitempty"` // of Late and Dropped: because every connection was in use
	Dropped            int64     `json:"dropped,omitempty"`               // were scheduled and were never sent
	MaxOpenConnections int       `json:"max_open_connections,omitempty"`  // connections in use at the same time
	// requests due per second at the end, where somebody has changed the rate
	FinalRate float64 `json:"final_rate,omitempty"`
}

// FirstResponse is the first response of a contender, where that did not yet say that it is ready.
type FirstResponse struct {
	After  time.Duration `json:"after_ns"` // from the start of the process
	Status int           `json:"status"`
}

// String returns "first response after 9.6ms: 503".
func (f FirstResponse) String() string {
	return fmt.Sprintf("first response after %s: %d", f.After.Round(100*time.Microsecond), f.Status)
}

// RequestLoad is what became of one kind of request in a step. Together they are the step's.
type RequestLoad struct {
	Name      string               `json:"name"`
	Succeeded int64                `json:"succeeded"`
	Failed    map[ErrorKind]int64  `json:"failed,omitempty"`
	Examples  map[ErrorKind]string `json:"examples,omitempty"` // as those of the step, of this kind of request
	Bytes     int64                `json:"bytes"`              // of the bodies of successful responses
	Latency   Latencies            `json:"latency"`            // of successes, from the same moment as the step's
}

// SessionLoad is what became of one kind of session in a step: those that have neither completed nor failed
// were cut off with it.
type SessionLoad struct {
	Name      string `json:"name"`
	Begun     int64  `json:"begun"` // of which the first request has ended
	Completed int64  `json:"completed"`
	// by the request that failed, which is also among the failures of the step
	Failed map[string]int64 `json:"failed,omitempty"`
}

// Origin is the moment from which a latency is measured.
type Origin string

const (
	FromSent      Origin = "sent"      // when the request was written
	FromScheduled Origin = "scheduled" // when it should have been, by the schedule
)

// Origin returns where Latency begins.
func (l Load) Origin() Origin { return cmp.Or(l.LatencyOf, FromSent) }

// FailedTotal returns the number of requests that did not succeed.
func (l Load) FailedTotal() (n int64) {
	for _, of := range l.Failed {
		n += of
	}
	return n
}

// AllSucceeded returns the number of successes in the whole step, also before and after the interval.
func (l Load) AllSucceeded() int64 { return l.Succeeded + l.Lead + l.Drain }

// Throughput returns successes per second of the interval.
func (l Load) Throughput() float64 { return perSecond(l.Succeeded, l.Elapsed) }

// ErrorRate returns errors / (errors + successes) of the whole step; 0 when nothing was asked.
func (l Load) ErrorRate() float64 {
	f := l.FailedTotal()
	if f+l.AllSucceeded() == 0 {
		return 0
	}
	return float64(f) / float64(f+l.AllSucceeded())
}

// StepResult is one finished step of a trial.
type StepResult struct {
	Index int  `json:"index"` // from 0
	Step  Step `json:"step"`
	Load  Load `json:"load"`
	// counters at the two ends of exactly this step; nil if they could not be read
	Before  *Usage  `json:"before,omitempty"`
	After   *Usage  `json:"after,omitempty"`
	Samples []Usage `json:"samples,omitempty"` // once a second in between

	HostBefore *HostReading `json:"host_before,omitempty"` // host and store, at the same two ends
	HostAfter  *HostReading `json:"host_after,omitempty"`

	Hiccups    *Hiccups    `json:"hiccups,omitempty"`    // of the machine, between the same two ends
	Interleave *Interleave `json:"interleave,omitempty"` // nil: it was run at a stretch
	Drift      *Drift      `json:"drift,omitempty"`      // of a measured step whose windows do not stay level; nil: none was found

	Warnings Warnings `json:"warnings,omitempty"`
	Aborted  string   `json:"aborted,omitempty"` // why it ended early: "the contender died", "interrupted"
	Ending   Ending   `json:"ending,omitempty"`  // the same in a word; "" where it did not

	Thresholds []ThresholdResult `json:"thresholds,omitempty"` // of the profile, that this step was judged by
}

// Why steps end early, in StepResult.Aborted.
const (
	AbortedDied    = "the contender died"
	AbortedSkipped = "skipped by the user"
)

// Ending is why a step ended early, in a word; "" where it did not.
type Ending string

const (
	EndedByDeath Ending = "died"
	EndedBySkip  Ending = "skipped"
	EndedEarly   Ending = "aborted"
)

// UnmarshalJSON also reads results of earlier versions, which have the ending as a text alone.
func (s *StepResult) UnmarshalJSON(data []byte) error {
	type plain StepResult
	if err := json.Unmarshal(data, (*plain)(s)); err != nil || s.Aborted == "" || s.Ending != "" {
		return err
	}
	switch {
	case strings.Contains(s.Aborted, AbortedDied):
		s.Ending = EndedByDeath
	case strings.Contains(s.Aborted, AbortedSkipped):
		s.Ending = EndedBySkip
	default:
		s.Ending = EndedEarly
	}
	return nil
}

// CPU returns the CPU time that the contender used in the step; ok is false when it is not known.
func (s StepResult) CPU() (d time.Duration, ok bool) {
	if s.Before == nil || s.After == nil || s.After.CPU < s.Before.CPU {
		return 0, false
	}
	return s.After.CPU - s.Before.CPU, true
}

// CPUs returns how many CPUs the contender used in the step: its CPU time over the time between the
// two readings of it, each of which may come a little after the end of the interval that it
// belongs to. Where the readings have no times, the client's are taken, or the step's length.
func (s StepResult) CPUs() (cpus float64, ok bool) {
	cpu, ok := s.CPU()
	if !ok {
		return 0, false
	}
	for _, between := range []time.Duration{s.After.At.Sub(s.Before.At), s.Load.Wall, s.Load.Elapsed} {
		if between > 0 {
			return float64(cpu) / float64(between), true
		}
	}
	return 0, false
}

// CPUPerRequest returns the CPU time of the step divided by its successes.
func (s StepResult) CPUPerRequest() (time.Duration, bool) {
	cpu, ok := s.CPU()
	if !ok || s.Load.Succeeded == 0 {
		return 0, false
	}
	return cpu / time.Duration(s.Load.Succeeded), true
}

// Throttling returns what the quota did in the step; ok is false when it is not known.
func (s StepResult) Throttling() (t Throttling, ok bool) {
	b, a, ok := ends(s.Before, s.After, func(u *Usage) *Throttling { return u.Throttling })
	return Throttling{a.Periods - b.Periods, a.Throttled - b.Throttled, a.Time - b.Time}, ok
}

// MemorySeconds returns memory per request rate: the high-water mark since start, in MiB, at the end of
// the step / (successes per second), in MiB·s.
func (s StepResult) MemorySeconds() (float64, bool) {
	if s.After == nil || s.After.Memory == nil || s.Load.Throughput() == 0 {
		return 0, false
	}
	return float64(s.After.Memory.Peak) / (1 << 20) / s.Load.Throughput(), true
}

func perSecond(n int64, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(n) / d.Seconds()
}
