package export

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/hdr"
	"github.com/locbench/locbench/internal/testenv"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

// decoded returns the results in a file, as vegeta's own commands read it.
func decoded(t *testing.T, data []byte) (all []vegeta.Result) {
	t.Helper()
	decode := vegeta.DecoderFor(bytes.NewReader(data))
	if decode == nil {
		t.Fatal("vegeta does not know it")
	}
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

var vegetaFormats = []string{"vegeta", "vegeta-json", "vegeta-csv"}

// vegeta reads exactly the requests that a step kept: each with its time, latency, status and
// error.
func TestVegetaReadsKeptRequests(t *testing.T) {
	run, trials := fixture()
	step := 2
	load := trials[0].Steps[2].Load
	for _, format := range vegetaFormats {
		t.Run(format, func(t *testing.T) {
			files := written(t, format, run, trials, Options{Trial: "rs-actix-1", Step: &step})
			if len(files) != 1 {
				t.Fatalf("%d files, want 1", len(files))
			}
			for _, data := range files {
				got := decoded(t, data)
				if len(got) != len(load.Kept) || len(got) < 400 {
					t.Fatalf("%d results of %d kept requests", len(got), len(load.Kept))
				}
				for i, r := range got {
					k := load.Kept[i]
					errText := map[bench.ErrorKind]string{"": "", "5xx": "503 Service Unavailable", "timeout": "timeout", "connection_refused": "connection_refused"}[k.Error]
					want := vegeta.Result{
						Attack: "rs-actix-1 64 connections", Seq: uint64(i), Code: uint16(k.Status), Timestamp: load.Started.Add(k.Start),
						Latency: k.Latency, BytesIn: uint64(k.Bytes), Error: errText, Method: "GET", URL: "/city/v1/get?id={id}",
					}
					if !r.Equal(want) {
						t.Fatalf("request %d:\n%+v\nwant\n%+v", i, r, want)
					}
				}
			}
		})
	}
}

// The report of vegeta has the quantiles, counts and bytes of the same requests.
func TestVegetaReportsOurNumbers(t *testing.T) {
	run, trials := fixture()
	step := 2
	want, bytesIn, good := hdr.New(), int64(0), 0
	kept := trials[0].Steps[2].Load.Kept
	for _, k := range kept {
		want.Record(k.Latency)
		bytesIn += k.Bytes
		if k.Error == "" {
			good++
		}
	}
	ours := want.Latencies()
	for _, data := range written(t, "vegeta", run, trials, Options{Trial: "rs-actix-1", Step: &step}) {
		var m vegeta.Metrics
		for _, r := range decoded(t, data) {
			m.Add(&r)
		}
		m.Close()
		if m.Requests != uint64(len(kept)) || m.StatusCodes["200"] != good || m.BytesIn.Total != uint64(bytesIn) || len(m.Errors) != 3 || m.Success != float64(good)/float64(len(kept)) {
			t.Errorf("%d requests, statuses %v, %d bytes, errors %q, success %g", m.Requests, m.StatusCodes, m.BytesIn.Total, m.Errors, m.Success)
		}
		// vegeta's own quantiles are estimates (t-digest).
		for _, c := range []struct {
			name      string
			got, want time.Duration
			most      float64
		}{
			{"mean", m.Latencies.Mean, ours.Mean, .001}, {"p50", m.Latencies.P50, ours.P50, .02}, {"p90", m.Latencies.P90, ours.P90, .05},
			{"p99", m.Latencies.P99, ours.P99, .05}, {"max", m.Latencies.Max, ours.Max, 0}, {"min", m.Latencies.Min, ours.Min, 0},
		} {
			if math.Abs(float64(c.got)/float64(c.want)-1) > c.most {
				t.Errorf("%s %v, want %v", c.name, c.got, c.want)
			}
		}
	}
}

// The first requests of a trial have their own file, in which each connection is an attack with its
// own numbers. An export of one step does not have it.
func TestVegetaReadsFirstRequests(t *testing.T) {
	run, trials := fixture()
	for i := range trials {
		for k := range trials[i].Steps {
			trials[i].Steps[k].Load.Kept = nil
		}
	}
	for _, format := range vegetaFormats {
		t.Run(format, func(t *testing.T) {
			suffix := "." + strings.Replace(format, "-", ".", 1)
			if format == "vegeta" {
				suffix = ".vegeta.bin"
			}
			files := written(t, format, run, trials, Options{})
			if len(files) != 2 || files["rs-actix-2.00-first-requests"+suffix] == nil {
				t.Fatalf("files %q", slices.Sorted(maps.Keys(files)))
			}
			first := trials[0].FirstRequests
			var lines []string
			for _, r := range decoded(t, files["rs-actix-1.00-first-requests"+suffix]) {
				lines = append(lines, fmt.Sprintf("%s %d: %s, %s, %d %s", r.Attack, r.Seq, r.Timestamp.Sub(first.Started), r.Latency, r.Code, r.Error))
			}
			want := []string{
				"rs-actix-1 first request 0: 0s, 9ms, 200 ", "rs-actix-1 same connection 0: 10ms, 1ms, 200 ",
				"rs-actix-1 same connection 1: 11ms, 2ms, 200 ", "rs-actix-1 new connections 0: 20ms, 1s, 0 timeout",
			}
			if !slices.Equal(lines, want) {
				t.Errorf("%q\nwant %q", lines, want)
			}
		})
	}
}

// Results without single requests say how to get them; nothing is made of histograms and windows.
// The same is true of first requests without their times, as older versions saved them.
func TestVegetaNeedsSingleRequests(t *testing.T) {
	run, trials := fixture()
	step := 0
	for i := range trials {
		if trials[i].FirstRequests != nil {
			trials[i].FirstRequests.Started = time.Time{}
		}
		for k := range trials[i].Steps {
			trials[i].Steps[k].Load.Kept = nil
		}
	}
	for _, format := range vegetaFormats {
		for _, opt := range []Options{{}, {Step: &step}} {
			f, err := Lookup(format)
			testenv.OK(t, err)
			if files, err := f.Files(run, trials, opt); err == nil || !strings.HasPrefix(err.Error(), "export as "+format+": no single requests were kept: add `keep_requests: 1000` to a step") {
				t.Errorf("%d files, %v", len(files), err)
			}
		}
	}
}

// What vegeta has as a number without a sign must have none: a results file may come from anywhere.
func TestVegetaRefusesImplausibleRequests(t *testing.T) {
	for name, k := range map[string]bench.KeptRequest{
		"latency": {Latency: -1}, "status": {Status: 70_000}, "negative status": {Status: -1}, "bytes": {Bytes: -1},
	} {
		t.Run(name, func(t *testing.T) {
			run, trials := fixture()
			trials[0].Steps[0].Load.Kept, trials[0].FirstRequests = []bench.KeptRequest{{}, k}, nil
			f, err := Lookup("vegeta")
			testenv.OK(t, err)
			files, err := f.Files(run, trials[:1], Options{})
			testenv.OK(t, err)
			if err := files[0].Write(io.Discard); err == nil || !strings.HasPrefix(err.Error(), "rs-actix-1 1 connection, request 2: implausible") {
				t.Error(err)
			}
		})
	}
}

// A rejected response has its status as vegeta's error, as vegeta itself writes it.
func TestVegetaOfRejectedRequests(t *testing.T) {
	run, trials := fixture()
	step := 0
	trials[0].Steps[0].Load.Kept = []bench.KeptRequest{{Request: "get", Latency: 1, Status: 429, Rejected: true}, {Request: "get", Latency: 1, Status: 200, Error: bench.ErrWrong}}
	for _, data := range written(t, "vegeta-json", run, trials[:1], Options{Step: &step}) {
		got := decoded(t, data)
		if got[0].Code != 429 || got[0].Error != "429 Too Many Requests" || got[1].Code != 200 || got[1].Error != "unexpected_body" {
			t.Errorf("%+v", got)
		}
	}
}

func TestVegetaRoundTrip(t *testing.T) {
	run, trials := fixture()
	step := 2
	kept := trials[0].Steps[2].Load.Kept
	var succeeded, bytesIn, longest int64
	failed := map[bench.ErrorKind]int64{}
	for _, k := range kept {
		if k.Error != "" {
			failed[k.Error]++
			continue
		}
		succeeded, bytesIn, longest = succeeded+1, bytesIn+k.Bytes, max(longest, int64(k.Latency))
	}
	for _, format := range vegetaFormats {
		for name, data := range written(t, format, run, trials, Options{Trial: "rs-actix-1", Step: &step}) {
			_, got, err := importing("", source{name, data})
			testenv.OK(t, err)
			l := got[0].Steps[0].Load
			if l.Succeeded != succeeded || !maps.Equal(l.Failed, failed) || l.Bytes != bytesIn || int64(l.Latency.Max) != longest {
				t.Errorf("%s: %d successes, %v, %d bytes, up to %s; want %d, %v, %d", format, l.Succeeded, l.Failed, l.Bytes, l.Latency.Max, succeeded, failed, bytesIn)
			}
		}
	}
}

// hits returns n results of an attack, one every 10 ms, with latencies of 1 ms, 2 ms, ….
func hits(attack string, n int) (all []vegeta.Result) {
	start := time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)
	for i := range n {
		all = append(all, vegeta.Result{
			Attack: attack, Seq: uint64(i), Code: 200, Timestamp: start.Add(time.Duration(i) * 10 * time.Millisecond),
			Latency: time.Duration(i+1) * time.Millisecond, BytesIn: 100, BytesOut: 7, Method: "GET", URL: "http://x/",
		})
	}
	return all
}

// attacked returns results as a file of vegeta's encoder.
func attacked(t testing.TB, encoder func(io.Writer) vegeta.Encoder, results ...vegeta.Result) []byte {
	t.Helper()
	var b bytes.Buffer
	encode := encoder(&b)
	for _, r := range results {
		testenv.OK(t, encode(&r))
	}
	return b.Bytes()
}

// encoders returns vegeta's encoders.
func encoders() map[string]func(io.Writer) vegeta.Encoder {
	return map[string]func(io.Writer) vegeta.Encoder{
		"binary": vegeta.NewEncoder, "JSON": vegeta.NewJSONEncoder, "CSV": vegeta.NewCSVEncoder,
	}
}

// TestFilesOfVegeta reads files of vegeta's encoders: unordered, with all kinds of failures and
// unused fields.
func TestFilesOfVegeta(t *testing.T) {
	all := hits("an attack", 100)
	for i := range all {
		all[i].Body, all[i].Headers = []byte("body"), http.Header{"A": {"b", "c"}}
	}
	fail := func(i int, code uint16, text string) { all[i].Code, all[i].Error = code, text }
	fail(99, 0, `Get "http://x/": dial tcp 127.0.0.1:1: connect: connection refused`)
	fail(98, 0, `Get "http://x/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`)
	fail(97, 503, "503 Service Unavailable")
	fail(96, 404, "")
	fail(95, 200, "unexpected EOF") // of the body
	fail(94, 0, "")
	fail(93, 301, "") // a success for vegeta
	start := all[0].Timestamp
	all[0], all[50] = all[50], all[0]
	for name, encoder := range encoders() {
		t.Run(name, func(t *testing.T) {
			_, got, err := importing("", source{"go-nethttp-2.bin", attacked(t, encoder, all...)})
			testenv.OK(t, err)
			l := got[0].Steps[0].Load
			if got[0].Trial.String() != "go-nethttp-2" || len(got[0].Steps) != 1 || got[0].Steps[0].Step.Name != "an attack" ||
				l.Succeeded != 94 || l.Sent != 100 || l.Bytes != 9400 || !l.Started.Equal(start) {
				t.Errorf("%s, %q: %d of %d succeeded, %d bytes, from %v", got[0].Trial, got[0].Steps[0].Step.Name, l.Succeeded, l.Sent, l.Bytes, l.Started)
			}
			want := map[bench.ErrorKind]int64{
				bench.ErrRefused: 1, bench.ErrTimeout: 1, "5xx": 1, "4xx": 1, bench.ErrReset: 1, bench.ErrOther: 1,
			}
			if !maps.Equal(l.Failed, want) {
				t.Errorf("failed %v, want %v", l.Failed, want)
			}
			if math.Abs(float64(l.Latency.P50)/float64(47*time.Millisecond)-1) > .03 || l.Latency.Max != 94*time.Millisecond {
				t.Errorf("p50 %v, max %v", l.Latency.P50, l.Latency.Max)
			}
			if w := got[0].Warnings[0].Text; w != "imported from vegeta; unknown: CPU time and memory of the service; connections" {
				t.Errorf("warning %q", w)
			}
		})
	}
}

// TestAttacksInOneFile checks that each attack is a step, in the order in which they appear.
func TestAttacksInOneFile(t *testing.T) {
	b, a, none := hits("b", 3), hits("a", 2), hits("", 1)
	for name, encoder := range encoders() {
		t.Run(name, func(t *testing.T) {
			mixed := attacked(t, encoder, b[0], a[0], b[2], none[0], b[1], a[1])
			_, got, err := importing("", source{"x.bin", mixed})
			testenv.OK(t, err)
			var steps []string
			for _, s := range got[0].Steps {
				steps = append(steps, fmt.Sprintf("%d %s %d", s.Index, s.Step.Name, s.Load.Succeeded))
			}
			if want := []string{"0 b 3", "1 a 2", "2 vegeta 1"}; !slices.Equal(steps, want) {
				t.Errorf("%q, want %q", steps, want)
			}
		})
	}
}

// TestVegetaLineEnds reads files without the last line end, with several, and with CRLF.
func TestVegetaLineEnds(t *testing.T) {
	for _, encoder := range []func(io.Writer) vegeta.Encoder{vegeta.NewJSONEncoder, vegeta.NewCSVEncoder} {
		data := string(attacked(t, encoder, hits("a", 3)...))
		for _, text := range []string{strings.TrimSuffix(data, "\n"), data + "\n\n", strings.ReplaceAll(data, "\n", "\r\n")} {
			_, got, err := importing("", source{"x", []byte(text)})
			if err != nil || got[0].Steps[0].Load.Succeeded != 3 {
				t.Errorf("%q: %v", text, err)
			}
		}
	}
}

// TestVegetaHeadersOfAnyLength checks that the stated length of a header is not allocated.
func TestVegetaHeadersOfAnyLength(t *testing.T) {
	one := hits("a", 1)
	one[0].Headers = http.Header{"A": {"b"}}
	data := attacked(t, vegeta.NewEncoder, one...)
	at := bytes.LastIndex(data, []byte("\x01\x01\x01A\x01\x01b")) // the field, one key: A, one value: b
	if at < 0 {
		t.Fatalf("headers not found: %q", data)
	}
	data[at+1] = 0x7f // keys, of which there is one
	if _, _, err := importing("", source{"a", data}); err == nil || !strings.Contains(err.Error(), "result 1: ") {
		t.Errorf("%v", err)
	}
}

// TestVegetaCSV_Formulas checks that text like a formula is escaped, and numbers are not.
func TestVegetaCSV_Formulas(t *testing.T) {
	var b bytes.Buffer
	r := vegeta.Result{Attack: "=cmd|' /C calc'!A1", Error: "+1", Method: "@GET", URL: "-http://x", Latency: -5, Timestamp: time.Unix(0, 7), Code: 200}
	testenv.OK(t, csvEncoder(&b)(&r))
	if got, want := b.String(), "7,200,-5,0,0,'+1,,'=cmd|' /C calc'!A1,0,'@GET,'-http://x,\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
