package export

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
)

// oneRequest is a measured request. Nothing here is made from histograms or windows.
type oneRequest struct {
	attack string
	bench.KeptRequest
	err string // "": no error
}

// vegetaFiles are one for the kept requests of each step, and one for the first requests of each trial,
// which belong to no step.
func vegetaFiles(run bench.Run, trials []bench.TrialResult) (files []File) {
	add := func(name string, since time.Time, all []oneRequest) {
		if len(all) > 0 {
			files = append(files, File{name + ".vegeta.bin", func(w io.Writer) error {
				return writeSingles(w, run.Profile.Requests, since, all)
			}})
		}
	}
	for _, trial := range trials {
		if first := trial.FirstRequests; first != nil {
			add(fileName(trial.Trial.String())+".00-first-requests", first.Started, firstSingles(trial.Trial, *first))
		}
		for _, s := range trial.Steps {
			add(stepFile(trial, s), s.Load.Started, keptSingles(trial.Trial, s))
		}
	}
	return files
}

// keptSingles returns the kept requests of a step.
func keptSingles(trial bench.Trial, s bench.StepResult) (all []oneRequest) {
	for _, k := range s.Load.Kept {
		one := oneRequest{trial.String() + " " + s.Step.Name, k, string(k.Error)}
		if byStatus := k.Error == bench.ErrorKind(fmt.Sprintf("%dxx", k.Status/100)); k.Rejected || byStatus {
			one.err = strconv.Itoa(k.Status) + " " + http.StatusText(k.Status)
		}
		all = append(all, one)
	}
	return all
}

// firstSingles returns the first requests of a trial in their order; each connection is an attack.
func firstSingles(trial bench.Trial, first bench.FirstRequests) (all []oneRequest) {
	add := func(connection string, requests ...bench.RequestPhases) {
		for _, r := range requests {
			all = append(all, oneRequest{trial.String() + " " + connection, bench.KeptRequest{
				Request: first.Request, Start: r.Start, Latency: r.Total, Status: r.Status, Bytes: r.Bytes,
			}, r.Err})
		}
	}
	add("first request", first.First)
	add("same connection", first.Kept...)
	add("new connections", first.New...)
	return all
}

// writeSingles writes requests, in their order, as results of vegeta, numbered in each attack:
// vegeta's plot waits for number 0 of each. They have method and path of the profile's request.
func writeSingles(w io.Writer, profile []bench.Request, since time.Time, all []oneRequest) error {
	out := bufio.NewWriterSize(w, 1<<16)
	encode, attack, seq := vegeta.NewEncoder(out), "", uint64(0)
	for _, s := range all {
		if s.attack != attack {
			attack, seq = s.attack, 0
		}
		r := vegeta.Result{
			Attack: safe.Line(s.attack, 100), Seq: seq, Timestamp: since.Add(s.Start), Latency: s.Latency,
			Code: uint16(s.Status), BytesIn: uint64(s.Bytes), Error: safe.Line(s.err, 300),
		}
		seq++
		if s.Latency < 0 || s.Status < 0 || s.Status > 999 || s.Bytes < 0 {
			return fmt.Errorf("%s, request %d: implausible: latency %s, status %d, %d bytes",
				r.Attack, seq, s.Latency, s.Status, s.Bytes)
		}
		if i := slices.IndexFunc(profile, func(r bench.Request) bool { return r.Name == s.Request }); i >= 0 {
			r.Method, r.URL = safe.Line(profile[i].Method, 20), safe.Line(profile[i].Path, 500)
		}
		if err := encode(&r); err != nil {
			return err
		}
	}
	return out.Flush()
}
