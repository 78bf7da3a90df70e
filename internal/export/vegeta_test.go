package export

import (
	"bytes"
	"errors"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"locbench/internal/bench"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

// TestVegetaReadsOurs reads our export by vegeta's own library and compares the figures of its
// report.
func TestVegetaReadsOurs(t *testing.T) {
	run, legs := fixture()
	step := 2
	load := legs[0].Steps[2].Load
	for _, format := range []string{"vegeta", "vegeta-json", "vegeta-csv"} {
		t.Run(format, func(t *testing.T) {
			for _, data := range written(t, format, run, legs, Options{Leg: "rs-actix-1", Step: &step}) {
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
	run, legs := fixture()
	step := 1 // without failures, which vegeta counts into its latencies
	want := legs[0].Steps[1].Load.Latency
	for _, data := range written(t, "vegeta", run, legs, Options{Leg: "rs-actix-1", Step: &step}) {
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

func TestVegetaComesBack(t *testing.T) {
	run, legs := fixture()
	step := 2
	want := legs[0].Steps[2].Load
	for _, format := range []string{"vegeta", "vegeta-json", "vegeta-csv"} {
		for name, data := range written(t, format, run, legs, Options{Leg: "rs-actix-1", Step: &step}) {
			_, got, err := Import([]Source{{Name: name, Data: data}}, "", time.Unix(0, 0))
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

// TestOfVegetaItself reads what vegeta's own encoder writes, with the fields that are of no use
// here.
func TestOfVegetaItself(t *testing.T) {
	var b bytes.Buffer
	encode := vegeta.NewEncoder(&b)
	start := time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)
	for i := range 100 {
		r := vegeta.Result{Attack: "an attack", Seq: uint64(i), Code: 200, Timestamp: start.Add(time.Duration(i) * 10 * time.Millisecond), Latency: time.Duration(i+1) * time.Millisecond,
			BytesIn: 100, BytesOut: 7, Method: "GET", URL: "http://x/", Body: []byte("body"), Headers: http.Header{"A": {"b", "c"}}}
		if i == 99 {
			r.Code, r.Error = 0, "Get \"http://x/\": dial tcp 127.0.0.1:1: connect: connection refused"
		}
		if err := encode(&r); err != nil {
			t.Fatal(err)
		}
	}
	_, got, err := Import([]Source{{Name: "go-nethttp-2.bin", Data: b.Bytes()}}, "", time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	l := got[0].Steps[0].Load
	if got[0].Leg.String() != "go-nethttp-2" || got[0].Steps[0].Step.Name != "an attack" || l.Succeeded != 99 || l.Failed[bench.ErrRefused] != 1 || l.Bytes != 9900 || !l.Started.Equal(start) {
		t.Errorf("%s, %q: %d successes, %v, %d bytes, from %v", got[0].Leg, got[0].Steps[0].Step.Name, l.Succeeded, l.Failed, l.Bytes, l.Started)
	}
	if math.Abs(float64(l.Latency.P50)/float64(50*time.Millisecond)-1) > .002 || l.Latency.Max != 99*time.Millisecond {
		t.Errorf("p50 %v, max %v", l.Latency.P50, l.Latency.Max)
	}
	if _, _, err := Import([]Source{{Name: "cut-1.bin", Data: b.Bytes()[:b.Len()-3]}}, "", time.Unix(0, 0)); err == nil || !strings.Contains(err.Error(), "result 100") {
		t.Errorf("a file that ends too early: %v", err)
	}
}

// TestVegetaCSV_Formulas: a contender that is named like a formula makes none in a spreadsheet; figures
// stay figures.
func TestVegetaCSV_Formulas(t *testing.T) {
	var b bytes.Buffer
	r := Result{Attack: "=cmd|' /C calc'!A1", Error: "+1", Method: "@GET", URL: "-http://x", Latency: -5, Timestamp: time.Unix(0, 7), Code: 200}
	if err := csvEncoder(&b)(&r); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "7,200,-5,0,0,'+1,,'=cmd|' /C calc'!A1,0,'@GET,'-http://x,\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
