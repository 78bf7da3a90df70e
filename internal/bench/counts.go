package bench

import (
	"time"

	"github.com/locbench/locbench/internal/bench/units"
)

// Kinds are numbers by kind of error or of unread body.
type Kinds map[ErrorKind]int64

// Total returns the sum over all kinds.
func (k Kinds) Total() (n int64) {
	for _, of := range k {
		n += of
	}
	return n
}

// Add adds the numbers of another part; the zero value becomes a map.
func (k *Kinds) Add(o Kinds) { addTo(k, o) }

// Count counts one of a kind; the zero value becomes a map.
func (k *Kinds) Count(kind ErrorKind) {
	if *k == nil {
		*k = Kinds{}
	}
	(*k)[kind]++
}

// addTo adds numbers to a map that may be nil.
func addTo[M ~map[K]int64, K comparable](sum *M, more M) {
	if *sum == nil && len(more) > 0 {
		*sum = M{}
	}
	for key, n := range more {
		(*sum)[key] += n
	}
}

// Counts are sums over a step: a counter is a field here and a line in Add, a line where the loop
// counts it, and a row of package measure's table, from which tables and exports have it.
type Counts struct {
	// number of scheduled requests; closed loop: the same as Sent; open loop: Sent + Dropped
	Scheduled int64 `json:"scheduled"`
	Sent      int64 `json:"sent"`                      // requests sent in the step, lead-in included
	Lead      int64 `json:"lead_succeeded,omitempty"`  // successes of the lead-in
	Drain     int64 `json:"drain_succeeded,omitempty"` // successes of the drain
	// the longest latency of Drain, from the moment given by LatencyOf: in no other latency
	DrainMax time.Duration `json:"drain_max_ns,omitempty"`
	// successes between the two readings of the counters, if Definition is Iterations
	Within int64 `json:"within,omitempty"`
	// requests in flight when the step was interrupted: neither success nor error
	Cut int64 `json:"cut,omitempty"`
	// connections opened again after they had ended
	Reconnects int64 `json:"reconnects,omitempty"`
	// requests sent a second time, since their connection ended without a response: the contender
	// may have received both. Each counts once in Sent.
	SentAgain int64 `json:"sent_again,omitempty"`
	// responses whose latency ends when the kernel received their last byte, because the client was
	// asleep; the latency of the others ends when the client read them
	Stamped int64 `json:"stamped,omitempty"`
	// summed over Stamped: time until the client read the response, which is not part of the
	// latency
	ClientWake time.Duration `json:"client_wake_ns,omitempty"`
	// iterations after one with a pace, and of these after one that took longer
	Paced   int64 `json:"paced,omitempty"`
	Overran int64 `json:"overran,omitempty"`

	// Open loop only. A request that was not sent at its scheduled time is late or dropped.

	Late int64 `json:"late,omitempty"` // requests sent more than 1 ms after the scheduled time
	// requests of Late and Dropped because all connections were in use
	WaitedForConnection int64 `json:"waited_for_connection,omitempty"`
	Dropped             int64 `json:"dropped,omitempty"` // scheduled but never sent
}

// Add adds the counts of another part of the step.
func (c *Counts) Add(o Counts) {
	c.DrainMax = max(c.DrainMax, o.DrainMax)
	c.ClientWake += o.ClientWake
	for _, n := range []struct {
		sum  *int64
		more int64
	}{
		{&c.Scheduled, o.Scheduled}, {&c.Sent, o.Sent}, {&c.Lead, o.Lead}, {&c.Drain, o.Drain}, {&c.Within, o.Within},
		{&c.Cut, o.Cut}, {&c.Reconnects, o.Reconnects}, {&c.SentAgain, o.SentAgain}, {&c.Stamped, o.Stamped},
		{&c.Paced, o.Paced}, {&c.Overran, o.Overran}, {&c.Late, o.Late},
		{&c.WaitedForConnection, o.WaitedForConnection}, {&c.Dropped, o.Dropped},
	} {
		*n.sum += n.more
	}
}

// Outcomes count how requests ended: those of a step or of one kind, in one round or in several.
type Outcomes struct {
	Succeeded int64 `json:"succeeded"` // successes within the measured interval
	Bytes     int64 `json:"bytes"`     // length of the bodies of Succeeded
	// responses whose whole body was compared with the expected one
	Checked int64 `json:"checked,omitempty"`
	// errors by kind, of the whole step, lead-in and drain included
	Failed Kinds `json:"failed,omitempty"`
	// bodies that were drawn to be compared and were not looked at, by kind: neither right nor
	// wrong. Examples has the first reason of each kind.
	Unread Kinds `json:"unread,omitempty"`
	// responses with an expected status that does not count as throughput, by status, of the whole
	// step: neither success nor error, and in no latency
	Rejected Statuses `json:"rejected,omitempty"`
	// complete responses by status, errors with a response included, of the whole step
	Statuses Statuses `json:"statuses,omitempty"`
	// the first text of each kind of Failed and Unread, bounded
	Examples map[ErrorKind]string `json:"examples,omitempty"`
}

// Add adds the outcomes of another part. The first example of each kind stays.
func (a *Outcomes) Add(o Outcomes) {
	a.Succeeded += o.Succeeded
	a.Bytes += o.Bytes
	a.Checked += o.Checked
	a.Failed.Add(o.Failed)
	a.Unread.Add(o.Unread)
	a.Rejected.Add(o.Rejected)
	a.Statuses.Add(o.Statuses)
	for kind, text := range o.Examples {
		a.Example(kind, text)
	}
}

// Example keeps a text of a kind, unless there is one.
func (a *Outcomes) Example(kind ErrorKind, text string) {
	if text == "" || a.Examples[kind] != "" {
		return
	}
	if a.Examples == nil {
		a.Examples = map[ErrorKind]string{}
	}
	a.Examples[kind] = text
}

// FailedTotal returns the number of errors.
func (a Outcomes) FailedTotal() int64 { return a.Failed.Total() }

// UnreadTotal returns the number of bodies that were not looked at.
func (a Outcomes) UnreadTotal() int64 { return a.Unread.Total() }

// Ended returns the number of requests that ended: successes, rejected ones and errors.
func (a Outcomes) Ended() int64 { return a.Succeeded + a.Rejected.Total() + a.FailedTotal() }

// ErrorRate returns the error rate, from 0 to 1; 0 without any request. It is an estimate if bodies
// were unexpected and not all were compared: (other errors + the estimated share of unexpected
// bodies × the successes and unexpected bodies) / (errors + successes + rejected requests). See
// UnexpectedRate for that share.
func (a Outcomes) ErrorRate() float64 { return a.errorRate(a.UnexpectedRate()) }

func (a Outcomes) errorRate(unexpected float64) float64 {
	wrong := a.Failed[ErrWrong]
	compared := a.Succeeded + wrong // or might have been
	return (float64(a.FailedTotal()-wrong) + unexpected*float64(compared)) / float64(max(1, a.Ended()))
}

// ErrorRateIsEstimate reports whether ErrorRate is an estimate: bodies were unexpected, and not all
// were compared.
func (a Outcomes) ErrorRateIsEstimate() bool {
	wrong := a.Failed[ErrWrong]
	return wrong > 0 && a.Checked >= wrong && a.Checked < wrong+a.Succeeded
}

// UnexpectedRate returns the estimated share of unexpected bodies among the responses without
// another error: unexpected / compared. Where fewer are on record as compared, only what was found
// counts.
func (a Outcomes) UnexpectedRate() float64 {
	wrong, of := a.Failed[ErrWrong], a.Checked
	if of < wrong {
		of = wrong + a.Succeeded
	}
	return float64(wrong) / float64(max(1, of))
}

// RejectedShare returns the share of rejected requests among those that ended, from 0 to 1.
func (a Outcomes) RejectedShare() float64 {
	return float64(a.Rejected.Total()) / float64(max(1, a.Ended()))
}

// RejectedWords returns "rejected 80% of requests (429)"; "" if none was rejected.
func (a Outcomes) RejectedWords() string {
	if a.Rejected.Total() == 0 {
		return ""
	}
	return "rejected " + units.Percent(a.RejectedShare()) + " of requests (" + a.Rejected.Names() + ")"
}

// bodies returns the bodies that were compared.
func (a Outcomes) bodies() Bodies {
	wrong := a.Failed[ErrWrong]
	return Bodies{wrong, max(wrong, a.Checked)}
}

// Continue makes an earlier part of the same step part of the lead-in.
func (l *Load) Continue(earlier Load) {
	l.LeadIn += earlier.LeadIn + earlier.Elapsed
	l.FirstResponse = earlier.FirstResponse
	own := l.Counts
	l.Counts.Add(earlier.Counts)
	l.Lead += earlier.Succeeded + earlier.Drain
	l.Drain, l.DrainMax, l.Within = own.Drain, own.DrainMax, own.Within
	l.Outcomes.lead(earlier.Outcomes)
	for i, r := range earlier.Requests {
		if i < len(l.Requests) && l.Requests[i].Name == r.Name {
			l.Requests[i].Outcomes.lead(r.Outcomes)
		}
	}
}

// lead adds what ended before the measured interval. Its examples come first.
func (a *Outcomes) lead(earlier Outcomes) {
	earlier.Succeeded, earlier.Bytes = 0, 0
	later := *a
	*a = Outcomes{}
	a.Add(earlier)
	a.Add(later)
}
