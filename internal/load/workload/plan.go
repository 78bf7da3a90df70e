package workload

import (
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/values"
)

// Plan is one step, and what its requests are made of.
type Plan struct {
	BaseURL  string          // URL of the contender, without a slash at the end; http or https
	Step     bench.Step      // has a Duration, and one of Connections, Rate and Arrivals
	Requests []bench.Request // the weighted mix
	// other sources of requests; may be nil
	Sessions    []bench.Session
	Variables   []bench.Variable
	values.Data `json:"-"`
	Life        *TrialState   // state shared by the steps of a trial; nil: new for this step
	IDs         []int64       // ids of the data set for {id}; with zipf the first is the most frequent
	Timeout     time.Duration // timeout of a request, from sending to its last byte; 0 is the default
	Seed        uint64        // the same seed sends the same sequence in each step of a trial
	HTTP2       bool          // one request at a time on a connection; without TLS by prior knowledge

	// Check, if not nil, gets one in CheckEvery responses with an expected status, drawn at random,
	// to the requests that Checks selects. It returns what is wrong; nil is the expected response,
	// ErrNotKnown one that it cannot check. Measuring goroutines call it concurrently, after
	// reading the clock: its time is in no latency, but it is the client's. It must not keep the
	// body, which is unpacked; it returns Response.Unread if it needs a body that is not there.
	Check      func(Response) error      `json:"-"`
	Checks     func(request string) bool `json:"-"` // nil: all requests
	CheckEvery int                       // 0: one in 100; 1: all
	// CheckQuota is how many responses of each kind of request Check gets in any case, spread over
	// the step; all if there are fewer. CheckEvery adds to them. Responses that Check does not get,
	// because of their status or length, do not count. 0: none.
	CheckQuota int
	// CheckBudget is the share of one CPU up to which CheckEvery draws: while checks have taken
	// more of the time since the step began, only CheckQuota does. 0: no limit.
	CheckBudget float64

	// Until gets each response to a request that is repeated, and returns why it is sent again.
	Until func(Response) error `json:"-"`

	// Interleave, if not nil, makes the step one of several interleaved ones. OnStart and OnEnd are
	// then called for each slice: before its first request and after its last response in a closed
	// loop.
	Interleave bench.Interleaving `json:"-"`

	// OnStart and OnEnd, if not nil, are for reading counters at the two ends of the measured
	// interval. OnStart is called when it begins, while the load continues; not if the load ends
	// before.
	OnStart func() `json:"-"`
	// OnEnd is called if and only if OnStart was, when the interval ends, also if ctx has ended.
	// Run returns after it. A goroutine that does not measure calls both.
	OnEnd func() `json:"-"`
	// OnPart, if not nil, is called four times a second with what the current window has so far.
	OnPart func(bench.Window) `json:"-"`

	Sampling *Sampling        `json:"-"` // shared by the slices of an interleaved step; nil: one for the step
	Users    *Users           `json:"-"` // whose setups have been made; nil: there are none
	Now      func() time.Time `json:"-"` // nil: time.Now
}
