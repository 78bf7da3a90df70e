package bench

import (
	"cmp"
	"slices"
	"time"
)

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
