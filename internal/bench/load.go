package bench

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// ErrorKind is the reason why a request is not a success. An error never counts as throughput.
type ErrorKind string

// Words returns the kind as people read it: "connection refused".
func (k ErrorKind) Words() string { return strings.ReplaceAll(string(k), "_", " ") }

// The kinds. The kind of an unexpected status is its class: "1xx" … "5xx".
const (
	ErrRefused ErrorKind = "connection_refused"
	ErrReset   ErrorKind = "connection_reset"    // reset or broken pipe, or closed without a response
	ErrCut     ErrorKind = "incomplete_response" // closed within a response
	ErrTimeout ErrorKind = "timeout"
	ErrBody    ErrorKind = "unreadable_body"  // the body cannot be read
	ErrWrong   ErrorKind = "unexpected_body"  // the body is not the expected one
	ErrSave    ErrorKind = "missing_value"    // a value to be saved is not in the response
	ErrLink    ErrorKind = "bad_link"         // a redirect or a saved link does not lead to the contender
	ErrRepeat  ErrorKind = "too_many_repeats" // after the last repetition the response is not as expected
	ErrClient  ErrorKind = "client_limit"     // the client ran out of ports, files or memory
	ErrOther   ErrorKind = "other"
)

// The kinds of bodies that were not looked at: neither success nor error.
const (
	UnreadLong     ErrorKind = "too_long"         // longer than the bound, packed or unpacked
	UnreadEncoding ErrorKind = "unknown_encoding" // packed in a way that locbench does not know
	UnreadBroken   ErrorKind = "broken_encoding"  // not what its Content-Encoding says
)

// Latencies is a distribution of latencies. Quantiles are computed once, from the histogram, and
// are never averaged: merge HDR to combine distributions.
type Latencies struct {
	Count int64         `json:"count"`
	Min   time.Duration `json:"min_ns"`
	Max   time.Duration `json:"max_ns"`
	Mean  time.Duration `json:"mean_ns"`
	SD    time.Duration `json:"sd_ns"` // standard deviation of the population
	P50   time.Duration `json:"p50_ns"`
	P75   time.Duration `json:"p75_ns"`
	P90   time.Duration `json:"p90_ns"`
	P95   time.Duration `json:"p95_ns"`
	P99   time.Duration `json:"p99_ns"`
	P999  time.Duration `json:"p999_ns"`
	HDR   string        `json:"hdr,omitempty"` // HdrHistogram V2, compressed, base64; unit: 1 ns; 3 significant digits
}

// Window is one second of the measured interval of a step; the last one may be shorter.
type Window struct {
	Start     time.Duration `json:"start_ns"` // since the start of the measured interval
	Length    time.Duration `json:"length_ns"`
	Succeeded int64         `json:"succeeded"`
	Failed    Kinds         `json:"failed,omitempty"`
	Rejected  int64         `json:"rejected,omitempty"` // see Load.Rejected
	Bytes     int64         `json:"bytes"`
	// latency of the successes of this window, 0 without any; open loop: from the scheduled time
	P50 time.Duration `json:"p50_ns"`
	P90 time.Duration `json:"p90_ns"`
	P99 time.Duration `json:"p99_ns"`
	Max time.Duration `json:"max_ns"`
	// requests sent in this window; this and the following counts are of open loops only
	Sent      int64 `json:"sent,omitempty"`
	Scheduled int64 `json:"scheduled,omitempty"`
	Late      int64 `json:"late,omitempty"`    // sent more than 1 ms after the scheduled time
	Dropped   int64 `json:"dropped,omitempty"` // never sent
	// scheduled requests per second at the end of the window; 0: no rate
	Rate float64 `json:"rate,omitempty"`
}

// Add adds the counts of another part of the window.
func (w *Window) Add(o Window) {
	w.Succeeded += o.Succeeded
	w.Failed.Add(o.Failed)
	w.Rejected += o.Rejected
	w.Bytes += o.Bytes
	w.Sent += o.Sent
	w.Scheduled += o.Scheduled
	w.Late += o.Late
	w.Dropped += o.Dropped
}

// Throughput returns successes per second of the window.
func (w Window) Throughput() float64 { return perSecond(w.Succeeded, w.Length) }

// Definition says how the results of a measured step are defined.
type Definition int

// The definitions. See docs/decisions/2026-11-22-a-measured-step.md.
const (
	// Interval counts the responses whose last byte arrived within the measured interval, over its
	// length. The load starts before it and lasts until its end; counters are read at both ends.
	Interval Definition = 2
	// Iterations counts whole iterations: a request, or a session with its pauses. Each connection
	// counts from the end of its first iteration after all connections have had one in the slice,
	// to the end of its last one, which begins before the slice ends; Elapsed is the mean of these
	// times over the connections. So throughput × mean latency is the number of connections.
	// Counters are read before the first request of a slice and at its end; Within is what
	// succeeded in between. It is that of interleaved closed loops.
	Iterations Definition = 3
)

// String returns the definition as text.
func (d Definition) String() string {
	switch d {
	case Interval:
		return "measured interval in a steady state"
	case Iterations:
		return "whole iterations of each connection"
	}
	return "unknown"
}

// Load is what the client measured in one step.
//
// Sent is the sum of Succeeded, Lead, Drain, Rejected, the errors, and Cut: each request is counted
// once.
type Load struct {
	Definition Definition `json:"definition,omitempty"`

	Started time.Time     `json:"started"`              // start of the measured interval
	Elapsed time.Duration `json:"elapsed_ns"`           // length of the measured interval
	LeadIn  time.Duration `json:"lead_in_ns,omitempty"` // length of the lead-in
	// closed loop: the longest time from sending the first request of a connection to the end of
	// its response, over the connections that start with the load; a failure ends it, too
	FirstResponse time.Duration `json:"first_response_ns,omitempty"`
	Counts
	Outcomes
	Backlog int64 `json:"backlog,omitempty"` // requests without a response at the end of the measured interval
	// connections without a response at the end of the longest lead-in: the queue outlasted it
	Unserved int       `json:"unserved,omitempty"`
	Latency  Latencies `json:"latency"`           // latency of Succeeded, from the moment given by LatencyOf
	Timeouts Latencies `json:"timeouts,omitzero"` // time from sending to the timeout, of requests that timed out
	Failures Latencies `json:"failures"`          // time from sending to the error, of other errors
	Windows  []Window  `json:"windows"`
	// CPU time of the client during Wall, a need in the client included
	ClientCPU time.Duration `json:"client_cpu_ns"`
	// time between the readings of CPU time at the two ends; 0: not known, close to Elapsed
	Wall time.Duration `json:"wall_ns,omitempty"`
	// warnings about the load: "the client may be the bottleneck: …"
	Warnings Warnings `json:"warnings,omitempty"`

	// per kind of request, if the step has several; in the order of the profile
	Requests []RequestLoad `json:"requests,omitempty"`
	Sessions []SessionLoad `json:"sessions,omitempty"` // results per kind of session, lead-in and drain included
	// mean number of requests in flight; in a steady state throughput × mean latency
	InFlight float64 `json:"in_flight,omitempty"`
	// loop of the load engine: "io_uring" or "epoll" (fast), "vegeta"
	Loop string `json:"loop,omitempty"`
	// CPUs that the client may use, by its affinity and CPU quota; 0: not known
	ClientCPUs float64 `json:"client_cpus,omitempty"`
	// share of Wall in which the busiest thread of the client was busy; 0: not known
	Saturation float64 `json:"saturation,omitempty"`

	// Open loop only.
	LatencyOf Origin    `json:"latency_of,omitempty"`  // where Latency starts; "": FromSent
	Sending   Latencies `json:"latency_sent,omitzero"` // latency of the same successes, from sending
	Lag       Latencies `json:"lag,omitzero"`          // delay from scheduled to sent, of all requests sent
	// highest number of connections in use at the same time
	MaxOpenConnections int `json:"max_open_connections,omitempty"`

	// number of requests that ended within the measured interval, if the step keeps some of them
	KeptOf int64 `json:"kept_of,omitempty"`
	// those that it keeps, by Start: a uniform sample, with measured times
	Kept []KeptRequest `json:"kept_requests,omitempty"`
}

// RequestLoad is the load of one kind of request in a step.
type RequestLoad struct {
	Name string `json:"name"`
	Outcomes
	// latency of the successes, from the same moment as in the step
	Latency Latencies `json:"latency"`
}

// SumRequests adds the outcomes of another part of a step by kind of request, without latencies.
func SumRequests(sum, more []RequestLoad) []RequestLoad {
	for _, r := range more {
		i := slices.IndexFunc(sum, func(x RequestLoad) bool { return x.Name == r.Name })
		if i < 0 {
			i, sum = len(sum), append(sum, RequestLoad{Name: r.Name})
		}
		sum[i].Outcomes.Add(r.Outcomes)
	}
	return sum
}

// SessionLoad is the load of one kind of session in a step. Sessions that neither completed nor
// failed nor were rejected were cut off at its end.
type SessionLoad struct {
	Name      string `json:"name"`
	Begun     int64  `json:"begun"` // sessions whose first request has ended
	Completed int64  `json:"completed"`
	// failed sessions by the name of the request that failed; it also counts as an error of the
	// step
	Failed map[string]int64 `json:"failed,omitempty"`
	// sessions that ended with a rejected response
	Rejected int64 `json:"rejected,omitempty"`
}

// Origin is the moment at which a latency starts.
type Origin string

// The origins.
const (
	FromSent      Origin = "sent"      // the request was written
	FromScheduled Origin = "scheduled" // the request was scheduled
)

// Origin returns the moment at which Latency starts.
func (l Load) Origin() Origin { return cmp.Or(l.LatencyOf, FromSent) }

// AllSucceeded returns the successes of the whole step, lead-in and drain included.
func (l Load) AllSucceeded() int64 { return l.Succeeded + l.Lead + l.Drain }

// Counted returns the successes between the two readings of the counters.
func (l Load) Counted() int64 {
	if l.Definition == Iterations {
		return l.Within
	}
	return l.Succeeded
}

// Throughput returns the successes per second of the measured interval.
func (l Load) Throughput() float64 { return perSecond(l.Succeeded, l.Elapsed) }

// Whole returns the outcomes of the whole step, lead-in and drain included.
func (l Load) Whole() Outcomes {
	all := l.Outcomes
	all.Succeeded = l.AllSucceeded()
	return all
}

// Ended is Outcomes.Ended of the whole step.
func (l Load) Ended() int64 { return l.Whole().Ended() }

// ErrorRate is Outcomes.ErrorRate of the whole step. With several kinds of requests, the share of
// unexpected bodies of each kind counts by the number of its responses, since rare kinds are
// compared more often.
func (l Load) ErrorRate() float64 { return l.Whole().errorRate(l.UnexpectedRate()) }

// ErrorRateIsEstimate is Outcomes.ErrorRateIsEstimate of the whole step.
func (l Load) ErrorRateIsEstimate() bool { return l.Whole().ErrorRateIsEstimate() }

// RejectedShare is Outcomes.RejectedShare of the whole step.
func (l Load) RejectedShare() float64 { return l.Whole().RejectedShare() }

// RejectedWords is Outcomes.RejectedWords of the whole step.
func (l Load) RejectedWords() string { return l.Whole().RejectedWords() }

// ErrorRateWithDropped returns ErrorRate of the scheduled requests: dropped ones are errors, too.
func (l Load) ErrorRateWithDropped() float64 {
	sent := l.Ended()
	return (l.ErrorRate()*float64(sent) + float64(l.Dropped)) / float64(max(1, sent+l.Dropped))
}

// UnexpectedRate returns the estimated share of unexpected bodies among the responses without
// another error. See ErrorRate.
func (l Load) UnexpectedRate() float64 {
	var found int64
	var good, unexpected float64
	for _, r := range l.Requests {
		n := float64(r.Succeeded + r.Failed[ErrWrong])
		good += n
		found += r.Failed[ErrWrong]
		unexpected += n * r.UnexpectedRate()
	}
	if wrong := l.Failed[ErrWrong]; wrong > 0 && found == wrong { // every kind is known
		return unexpected / good
	}
	return l.Whole().UnexpectedRate()
}

func perSecond(n int64, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(n) / d.Seconds()
}

// FirstRequestsSpec has single requests timed, phase by phase, as soon as a contender is ready.
type FirstRequestsSpec struct {
	// number of requests on the connection of the first one, and again on new connections
	Requests int `json:"requests" yaml:"requests" strict:"required,min=1,max=1000" example:"10"`
}

// FirstRequests are the times of the first requests of a trial. Only readiness polls, which use another
// path, were sent before them.
type FirstRequests struct {
	Request string          `json:"request"`          // name of the kind of request, the first one of the profile
	Started time.Time       `json:"started,omitzero"` // when the first of them began
	First   RequestPhases   `json:"first"`            // the first request of that kind in the trial
	Kept    []RequestPhases `json:"kept,omitempty"`   // later requests on the same connection
	New     []RequestPhases `json:"new,omitempty"`    // later requests, each on a new connection
}

// RequestPhases are the times of one request, phase by phase; their sum is Total. A phase that the
// request did not have or did not reach is 0.
type RequestPhases struct {
	New       bool          `json:"new_connection"`
	Start     time.Duration `json:"start_ns,omitempty"` // since FirstRequests.Started
	Name      time.Duration `json:"name_ns"`            // DNS lookup; 0 for an IP address
	Connect   time.Duration `json:"connect_ns"`         // TCP handshake
	TLS       time.Duration `json:"tls_ns"`             // TLS handshake
	Send      time.Duration `json:"send_ns"`            // writing the request
	FirstByte time.Duration `json:"first_byte_ns"`      // waiting, from the end of Send to the first byte of the response
	Receive   time.Duration `json:"receive_ns"`         // receiving, from the first to the last byte of the response
	Total     time.Duration `json:"total_ns"`
	Status    int           `json:"status,omitempty"` // status of the response; 0: no response
	Bytes     int64         `json:"bytes,omitempty"`  // length of the response body
	// why it is not a success, bounded; the phases end where the request failed
	Err string `json:"error,omitempty"`
}

// Typical returns the successful request with the median total on the kept connection.
func (p FirstRequests) Typical() RequestPhases { return median(p.Kept) }

// TypicalNew returns the successful request with the median total on new connections.
func (p FirstRequests) TypicalNew() RequestPhases { return median(p.New) }

// median returns the lower median of the successful requests by their total.
func median(all []RequestPhases) RequestPhases {
	good := slices.DeleteFunc(slices.Clone(all), func(r RequestPhases) bool { return r.Err != "" })
	if len(good) == 0 {
		return RequestPhases{}
	}
	slices.SortStableFunc(good, func(a, b RequestPhases) int { return cmp.Compare(a.Total, b.Total) })
	return good[(len(good)-1)/2]
}
