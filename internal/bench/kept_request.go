package bench

import (
	"cmp"
	"time"
)

// MaxKeptRequests is how many requests a step may keep. A results file has about 200 bytes of each.
const MaxKeptRequests = 10_000

// KeptRequest is a single request of a step, with its measured times.
type KeptRequest struct {
	Request string `json:"request"` // name of the kind of request
	// when its latency starts, on the clock, since the start of the measured interval (of its first
	// slice); negative in the lead-in
	Start   time.Duration `json:"start_ns"`
	Latency time.Duration `json:"latency_ns"` // to the last byte of the response, or to the error
	// open loop: delay from scheduled to sent, which is part of Latency
	Lag      time.Duration `json:"lag_ns,omitempty"`
	Status   int           `json:"status,omitempty"`   // status of the response; 0: no complete response
	Error    ErrorKind     `json:"error,omitempty"`    // why it is an error; "": it is not
	Rejected bool          `json:"rejected,omitempty"` // the status is expected, but not throughput: not a success
	Bytes    int64         `json:"bytes,omitempty"`    // length of the body, or of the part that was received
}

// Compare orders kept requests by their starts.
func (k KeptRequest) Compare(other KeptRequest) int { return cmp.Compare(k.Start, other.Start) }
