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

	"locbench/internal/bench"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

// TestVegetaReadsOurs reads our export with vegeta's library and compares the numbers of its report.
func TestVegetaReadsOurs(t *testing.T) {
	run, trials := fixture()
	step := 2
	load := trials[0].Steps[2].Load
	for _, format := range []string{"vegeta", "vegeta-json", "vegeta-csv"} {
		t.Run(format, func(t *testing.T) {
			for _, data := range written(t, format, run, trials, Options{Trial: "rs-actix-1", Step: &step}) {
				decode := vegeta.DecoderFor(bytes.NewReader(data))
				if decode == nil {
					t.Fatal("vegeta does not know it")
				}
				var m vegeta.Metrics
				var last time.Time
				for seq := uint64(0); ; seq++ {
					var r vegeta.Result
					if err := decode(&r); errors.Is(err, io.EOF) {
						break
					} else if err != nil {
						t.Fatal(err)
					}
					if r.Seq != seq || r.Timestamp.Before(last) {
						t.Fatalf("request %d has number %d and comes %v after the one before", seq, r.Seq, r.Timestamp.Sub(last))
					}
					last = r.Timestamp
					m.Add(&r)
				}
				m.Close()
				if int64(m.Requests) != load.Sent || int64(m.StatusCodes["200"]) != load.Succeeded || int64(m.StatusCodes["500"]) != load.Failed["5xx"] {
					t.Errorf("%d requests, %v; want %d, of which %d succeeded", m.Requests, m.StatusCodes, load.Sent, load.Succeeded)
				}
				if int64(m.BytesIn.Total) != load.Bytes {
					t.Errorf("%d bytes, want %d", m.BytesIn.Total, load.Bytes)
				}
				if got, want := m.Throughput, load.Throughput(); math.Abs(got/want-1) > 1e-6 {
					t.Errorf("throughput %v, want %v", got, want)
				}
				if !m.Earliest.Equal(load.Started) {
					t.Errorf("the first request at %v, want %v", m.Earliest, load.Started)
				}
				if len(m.Errors) != 3 {
					t.Errorf("errors %q, want 3 kinds", m.Errors)
				}
			}
		})
	}
}

func TestVegetaQuantilesAreOurs(t *testing.T) {
	run, trials := fixture()
	step := 1 // without failures, which vegeta counts into its latencies
	want := trials[0].Steps[1].Load.Latency
	for _, data := range written(t, "vegeta", run, trials, Options{Trial: "rs-actix-1", Step: &step}) {
		decode := vegeta.NewDecoder(bytes.NewReader(data))
		var m vegeta.Metrics
		for {
			var r vegeta.Result
			if err := decode(&r); err != nil {
				break
			}
			m.Add(&r)
		}
		m.Close()
		// vegeta's own quantiles are estimates (t-digest).
		for _, c := range []struct {
			name      string
			got, want time.Duration
			most      float64
		}{{"mean", m.Latencies.Mean, want.Mean, .001}, {"p50", m.Latencies.P50, want.P50, .02}, {"p99", m.Latencies.P99, want.P99, .05}, {"max", m.Latencies.Max, want.Max, 0}, {"min", m.Latencies.Min, want.Min, 0}} {
			if math.Abs(float64(c.got)/float64(c.want)-1) > c.most {
				t.Errorf("%s %v, want %v", c.name, c.got, c.want)
			}
		}
	}
}

func TestVegetaRoundTrip(t *testing.T) {
	run, trials := fixture()
	step := 2
	want := trials[0].Steps[2].Load
	for _, format := range []string{"vegeta", "vegeta-json", "vegeta-csv"} {
		for name, data := range written(t, format, run, trials, Options{Trial: "rs-actix-1", Step: &step}) {
			_, got, err := importing("", source{name, data})
			if err != nil {
				t.Fatal(err)
			}
			l := got[0].Steps[0].Load
			if l.Succeeded != want.Succeeded || l.FailedTotal() != want.FailedTotal() || l.Bytes != want.Bytes || l.Failed["timeout"] != want.Failed["timeout"] {
				t.Errorf("%s: %d successes, %v, %d bytes; want %d, %v, %d", format, l.Succeeded, l.Failed, l.Bytes, want.Succeeded, want.Failed, want.Bytes)
			}
			if math.Abs(float64(l.Latency.P99)/float64(want.Latency.P99)-1) > .002 || l.Latency.Max != want.Latency.Max {
				t.Errorf("%s: p99 %v, max %v; want %v, %v", format, l.Latency.P99, l.Latency.Max, want.Latency.P99, want.Latency.Max)
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
		if err := encode(&r); err != nil {
			t.Fatal(err)
		}
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
			if err != nil {
				t.Fatal(err)
			}
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
			if err != nil {
				t.Fatal(err)
			}
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
	if err := csvEncoder(&b)(&r); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "7,200,-5,0,0,'+1,,'=cmd|' /C calc'!A1,0,'@GET,'-http://x,\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
