package export

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

// decoded returns the results in a file, as vegeta's own commands read it.
func decoded(t *testing.T, data []byte) (all []vegeta.Result) {
	t.Helper()
	decode := vegeta.DecoderFor(bytes.NewReader(data))
	testenv.Need(t, decode != nil, "vegeta does not know it")
	for {
		var r vegeta.Result
		if err := decode(&r); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
}

// vegeta reads exactly the requests that a step kept: each with its time, latency, status and
// error.
func TestVegetaReadsKeptRequests(t *testing.T) {
	run, trials := fixture()
	load := trials[0].Steps[2].Load
	trials[0].Steps, trials[0].FirstRequests = trials[0].Steps[2:3], nil
	files := written(t, "vegeta", run, trials[:1])
	testenv.Need(t, len(files) == 1, "%d files, want 1", len(files))
	for _, data := range files {
		got := decoded(t, data)
		testenv.Need(t, len(got) == len(load.Kept) && len(got) >= 400,
			"%d results of %d kept requests", len(got), len(load.Kept))
		for i, r := range got {
			k := load.Kept[i]
			errText := map[bench.ErrorKind]string{"": "", "5xx": "503 Service Unavailable", "timeout": "timeout", "connection_refused": "connection_refused"}[k.Error]
			want := vegeta.Result{
				Attack: "rs-actix-1 64 connections", Seq: uint64(i), Code: uint16(k.Status), Timestamp: load.Started.Add(k.Start),
				Latency: k.Latency, BytesIn: uint64(k.Bytes), Error: errText, Method: "GET", URL: "/city/v1/get?id={id}",
			}
			testenv.Need(t, r.Equal(want), "request %d:\n%+v\nwant\n%+v", i, r, want)
		}
	}
}

// The first requests of a trial have their own file, in which each connection is an attack with its
// own numbers.
func TestVegetaReadsFirstRequests(t *testing.T) {
	run, trials := fixture()
	for i := range trials {
		for k := range trials[i].Steps {
			trials[i].Steps[k].Load.Kept = nil
		}
	}
	const suffix = ".vegeta.bin"
	files := written(t, "vegeta", run, trials)
	testenv.Need(t, len(files) == 2 && files["rs-actix-2.00-first-requests"+suffix] != nil,
		"files %q", slices.Sorted(maps.Keys(files)))
	first := trials[0].FirstRequests
	var lines []string
	for _, r := range decoded(t, files["rs-actix-1.00-first-requests"+suffix]) {
		lines = append(lines, fmt.Sprintf("%s %d: %s, %s, %d %s", r.Attack, r.Seq, r.Timestamp.Sub(first.Started), r.Latency, r.Code, r.Error))
	}
	want := []string{
		"rs-actix-1 first request 0: 0s, 9ms, 200 ", "rs-actix-1 same connection 0: 10ms, 1ms, 200 ",
		"rs-actix-1 same connection 1: 11ms, 2ms, 200 ", "rs-actix-1 new connections 0: 20ms, 1s, 0 timeout",
	}
	testenv.Check(t, slices.Equal(lines, want), "%q\nwant %q", lines, want)
}

// Results without single requests say how to get them; nothing is made of histograms and windows.
func TestVegetaNeedsSingleRequests(t *testing.T) {
	run, trials := fixture()
	for i := range trials {
		trials[i].FirstRequests = nil
		for k := range trials[i].Steps {
			trials[i].Steps[k].Load.Kept = nil
		}
	}
	f := testenv.Must(Lookup("vegeta"))(t)
	testenv.Fails(t, testenv.Err(f.Files(run, trials)), "export as vegeta: no single requests were kept: add `keep_requests: 1000` to a step")
}

// What vegeta has as a number without a sign must have none: a results file may come from anywhere.
func TestVegetaRefusesImplausibleRequests(t *testing.T) {
	for name, k := range map[string]bench.KeptRequest{
		"latency": {Latency: -1}, "status": {Status: 70_000}, "negative status": {Status: -1}, "bytes": {Bytes: -1},
	} {
		t.Run(name, func(t *testing.T) {
			run, trials := fixture()
			trials[0].Steps[0].Load.Kept, trials[0].FirstRequests = []bench.KeptRequest{{}, k}, nil
			f := testenv.Must(Lookup("vegeta"))(t)
			files := testenv.Must(f.Files(run, trials[:1]))(t)
			if err := files[0].Write(io.Discard); err == nil || !strings.HasPrefix(err.Error(), "rs-actix-1 1 connection, request 2: implausible") {
				t.Error(err)
			}
		})
	}
}

// A rejected response has its status as vegeta's error, as vegeta itself writes it.
func TestVegetaOfRejectedRequests(t *testing.T) {
	run, trials := fixture()
	trials[0].Steps, trials[0].FirstRequests = trials[0].Steps[:1], nil
	trials[0].Steps[0].Load.Kept = []bench.KeptRequest{{Request: "get", Latency: 1, Status: 429, Rejected: true}, {Request: "get", Latency: 1, Status: 200, Error: bench.ErrWrong}}
	for _, data := range written(t, "vegeta", run, trials[:1]) {
		got := decoded(t, data)
		if got[0].Code != 429 || got[0].Error != "429 Too Many Requests" || got[1].Code != 200 || got[1].Error != "unexpected_body" {
			t.Errorf("%+v", got)
		}
	}
}
