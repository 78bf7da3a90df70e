package profile

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/locbench/locbench/internal/bench"
)

const maxName = 60

var (
	namePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)
	notInName   = regexp.MustCompile(`[^a-z0-9._-]+`)
)

// Validate returns all mistakes of p as one error. Only Validate requires the URL of an external
// need.
func Validate(p bench.Profile) error {
	var failures []error
	for _, m := range mistakes(&p) {
		failures = append(failures, m)
	}
	failures = append(failures, missing(p)...)
	if len(failures) == 0 {
		return nil
	}
	return fmt.Errorf("profile %s: %w", p.Name, errors.Join(failures...))
}

// mistakes returns all mistakes of p and changes nothing.
func mistakes(p *bench.Profile) []mistake {
	var r rules
	r.bounds("", p)
	if p.Timeout == 0 {
		r.wrong("timeout", p.Timeout, "write from 1ms to 1h")
	}
	if d := p.Interleave; d != 0 && d != bench.InterleaveAuto && (d < minSlice || d > maxSlice) {
		r.wrong("interleave", d, interleaveHint)
	}
	if !namePattern.MatchString(p.Name) || len(p.Name) > maxName {
		r.wrong("name", p.Name, "write at most 60 lower-case letters, digits, `-`, `_`, `.`: it is part of a folder's name")
	}
	r.contenders(p)
	r.needsOf(p)
	r.variables(p)
	r.requests(p)
	single := len(p.Requests) > 0 && p.Requests[0].Session == ""
	r.when(p.FirstRequests != nil && len(p.Requests) > 0 && !single,
		"first_requests", "`first_requests` needs a single request; all are in sessions",
		"add one under `requests`, or remove `first_requests`")
	r.when(p.Protocol == bench.HTTP2 && p.FirstRequests != nil,
		"protocol", "`protocol` is http/2, but `first_requests` uses HTTP/1.1", "remove one of the two")
	r.checks(p.Checks)
	r.steps(p)
	r.thresholds(p)
	return r
}
