package bench

import (
	"cmp"
	"slices"
	"time"
)

// FirstRequestsSpec asks for single requests to be timed, phase by phase, right after a contender has
// become ready.
type FirstRequestsSpec struct {
	// after the very first one: so many on its connection, and so many on a new connection each
	Requests int `json:"requests"`
}

// Phases are where the first requests of a trial have spent their time. The readiness poll, which
// asks for another path, has been answered before; nothing else has.
type Phases struct {
	Request string          `json:"request"`        // name of the kind that was asked, the first one of the profile
	First   RequestPhases   `json:"first"`          // the very first request of that kind in the contender's life
	Kept    []RequestPhases `json:"kept,omitempty"` // the next ones, on the same connection
	New     []RequestPhases `json:"new,omitempty"`  // those after them, each on a new connection
}

// RequestPhases are the times of one request, one phase after the other; they add up to Total. A
// phase that the request did not have, or did not come to, is 0.
type RequestPhases struct {
	New       bool          `json:"new_connection"`
	Name      time.Duration `json:"name_ns"`       // look-up of the host's name; 0 for an address too
	Connect   time.Duration `json:"connect_ns"`    // TCP handshake
	TLS       time.Duration `json:"tls_ns"`        // TLS handshake
	Send      time.Duration `json:"send_ns"`       // writing of the request
	FirstByte time.Duration `json:"first_byte_ns"` // from then until the first byte of the response
	Receive   time.Duration `json:"receive_ns"`    // from then until the last byte
	Total     time.Duration `json:"total_ns"`
	Status    int           `json:"status,omitempty"` // of the response; 0: there was none
	Bytes     int64         `json:"bytes,omitempty"`  // of its body
	Err       string        `json:"error,omitempty"`  // why it is not a success, bounded; the phases end where it failed
}

// Typical returns the request on the kept connection with the median total, of those that succeeded.
func (p Phases) Typical() RequestPhases { return median(p.Kept) }

// TypicalNew returns the same of the requests on new connections.
func (p Phases) TypicalNew() RequestPhases { return median(p.New) }

// median returns the lower one of an even number.
func median(all []RequestPhases) RequestPhases {
	good := slices.DeleteFunc(slices.Clone(all), func(r RequestPhases) bool { return r.Err != "" })
	if len(good) == 0 {
		return RequestPhases{}
	}
	slices.SortStableFunc(good, func(a, b RequestPhases) int { return cmp.Compare(a.Total, b.Total) })
	return good[(len(good)-1)/2]
}
