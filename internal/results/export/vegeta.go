package export

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
)

// errNoSingles says how results get what vegeta's formats need.
var errNoSingles = errors.New("no single requests were kept: add `keep_requests: 1000` to a step of the profile, " +
	"such as {connections: 64, keep_requests: 1000}, or `first_requests: {requests: 10}`, and run it again")

// oneRequest is a measured request.
type oneRequest struct {
	attack, request string // name of the kind of request
	at              time.Time
	latency         time.Duration
	status          int // 0: no complete response
	bytes           int64
	err             string // "": no error
}

// vegetaFiles writes a file for the kept requests of each step, and one for the first requests of
// each trial, which belong to no step.
func vegetaFiles(suffix string, enc func(io.Writer) vegeta.Encoder) filesOf {
	steps := perStep(suffix, func(run bench.Run, trial bench.TrialResult, s bench.StepResult) (func(io.Writer) error, error) {
		if len(s.Load.Kept) == 0 {
			return nil, nil
		}
		return writeSingles(run, keptSingles(trial, s), enc), nil
	})
	return func(run bench.Run, trials []bench.TrialResult, opt Options) (files []File, err error) {
		for _, trial := range trials {
			if first := trial.FirstRequests; opt.Step == nil && first != nil && !first.Started.IsZero() {
				name := fileName(trial.Trial.String()) + ".00-first-requests" + suffix
				files = append(files, File{name, writeSingles(run, firstSingles(trial.Trial.String(), *first), enc)})
			}
			ofSteps, err := steps(run, []bench.TrialResult{trial}, opt)
			if err != nil {
				return nil, err
			}
			files = append(files, ofSteps...)
		}
		if len(files) == 0 {
			return nil, errNoSingles
		}
		return files, nil
	}
}

// keptSingles returns the kept requests of a step.
func keptSingles(trial bench.TrialResult, s bench.StepResult) iter.Seq[oneRequest] {
	attack := trial.Trial.String() + " " + s.Step.Name
	return func(yield func(oneRequest) bool) {
		for _, k := range s.Load.Kept {
			one := oneRequest{attack, k.Request, s.Load.Started.Add(k.Start), k.Latency, k.Status, k.Bytes, string(k.Error)}
			if k.Rejected || k.Error == statusClass(k.Status) {
				one.err = statusText(k.Status)
			}
			if !yield(one) {
				return
			}
		}
	}
}

// statusClass returns the kind of the error that an unexpected status is.
func statusClass(status int) bench.ErrorKind { return bench.ErrorKind(strconv.Itoa(status/100) + "xx") }

// statusText returns what vegeta has as the error of a status.
func statusText(status int) string { return strconv.Itoa(status) + " " + http.StatusText(status) }

// firstSingles returns the first requests of a trial in their order; each connection is an attack.
func firstSingles(trial string, first bench.FirstRequests) iter.Seq[oneRequest] {
	return func(yield func(oneRequest) bool) {
		for _, group := range []struct {
			name string
			all  []bench.RequestPhases
		}{
			{"first request", []bench.RequestPhases{first.First}}, {"same connection", first.Kept}, {"new connections", first.New},
		} {
			for _, r := range group.all {
				at := first.Started.Add(r.Start)
				if !yield(oneRequest{trial + " " + group.name, first.Request, at, r.Total, r.Status, r.Bytes, r.Err}) {
					return
				}
			}
		}
	}
}

// writeSingles writes requests, in their order, as results of vegeta, numbered in each attack:
// vegeta's plot waits for number 0 of each.
func writeSingles(run bench.Run, all iter.Seq[oneRequest], enc func(io.Writer) vegeta.Encoder) func(io.Writer) error {
	return func(w io.Writer) error {
		out := bufio.NewWriterSize(w, 1<<16)
		encode, attack, seq := enc(out), "", uint64(0)
		for one := range all {
			r, err := one.result(run.Profile.Requests)
			if r.Attack != attack {
				attack, seq = r.Attack, 0
			}
			r.Seq = seq
			seq++
			if err == nil {
				err = encode(&r)
			}
			if err != nil {
				return fmt.Errorf("%s, request %d: %w", r.Attack, seq, err)
			}
		}
		return out.Flush()
	}
}

// result returns the request as a result of vegeta, with method and path of the profile's request.
func (s oneRequest) result(profile []bench.Request) (r vegeta.Result, err error) {
	r = vegeta.Result{
		Attack: safe.Line(s.attack, 100), Timestamp: s.at, Latency: s.latency, Code: uint16(s.status),
		BytesIn: uint64(s.bytes), Error: safe.Line(s.err, 300),
	}
	if s.latency < 0 || s.status < 0 || s.status > 999 || s.bytes < 0 {
		return r, fmt.Errorf("implausible: latency %s, status %d, %d bytes", s.latency, s.status, s.bytes)
	}
	if i := slices.IndexFunc(profile, func(r bench.Request) bool { return r.Name == s.request }); i >= 0 {
		r.Method, r.URL = safe.Line(profile[i].Method, 20), safe.Line(profile[i].Path, 500)
	}
	return r, nil
}

// csvEncoder writes CSV with text that no spreadsheet takes for a formula.
func csvEncoder(w io.Writer) vegeta.Encoder {
	encode := vegeta.NewCSVEncoder(w)
	return func(r *vegeta.Result) error {
		plain := *r
		for _, text := range []*string{&plain.Error, &plain.Attack, &plain.Method, &plain.URL} {
			*text = safe.Cell(*text)
		}
		return encode(&plain)
	}
}
