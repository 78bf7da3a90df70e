package export

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
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

// TestVegetaToolReadsOurs runs the real vegeta, built from the module that the tests use anyhow,
// with what it needs besides.
func TestVegetaToolReadsOurs(t *testing.T) {
	if testing.Short() {
		t.Skip("builds vegeta")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	absent := func(err error, text []byte) {
		if os.Getenv("LOCBENCH_REQUIRE") != "" {
			t.Fatalf("vegeta cannot be built: %v\n%s", err, text)
		}
		t.Skipf("vegeta cannot be built: %v: %s", err, text)
	}
	where, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/tsenart/vegeta/v12").Output()
	if err != nil {
		absent(err, where)
	}
	dir := t.TempDir()
	tool := filepath.Join(dir, "vegeta")
	build := exec.CommandContext(ctx, "go", "build", "-o", tool, ".")
	build.Dir, build.Env = strings.TrimSpace(string(where)), append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	if text, err := build.CombinedOutput(); err != nil {
		absent(err, text)
	}
	run, legs := fixture()
	step := 2
	load := legs[0].Steps[2].Load
	for name, data := range written(t, "vegeta", run, legs, Options{Leg: "rs-actix-1", Step: &step}) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
		ask := func(args ...string) []byte {
			cmd := exec.CommandContext(ctx, tool, append(args, name)...)
			cmd.Dir = dir
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("vegeta %v: %v", args, err)
			}
			return out
		}
		var report struct {
			Requests int64            `json:"requests"`
			Codes    map[string]int64 `json:"status_codes"`
			Bytes    struct {
				Total int64 `json:"total"`
			} `json:"bytes_in"`
			Throughput float64 `json:"throughput"`
		}
		if err := json.Unmarshal(ask("report", "-type=json"), &report); err != nil {
			t.Fatal(err)
		}
		if report.Requests != load.Sent || report.Codes["200"] != load.Succeeded || report.Bytes.Total != load.Bytes || math.Abs(report.Throughput/load.Throughput()-1) > .01 {
			t.Errorf("vegeta report tells %+v; ours: %d sent, %d succeeded, %d bytes, %.1f/s", report, load.Sent, load.Succeeded, load.Bytes, load.Throughput())
		}
		if page := ask("plot"); !bytes.Contains(page, []byte("<title>Vegeta Plot</title>")) || len(page) < 10_000 {
			t.Errorf("vegeta plot draws %d bytes", len(page))
		}
	}
}

// TestBenchstatReadsOurs runs the real benchstat over two folders.
func TestBenchstatReadsOurs(t *testing.T) {
	if testing.Short() {
		t.Skip("builds benchstat")
	}
	run, legs := fixture()
	dir := t.TempDir()
	write := func(name string) {
		if err := os.WriteFile(filepath.Join(dir, name), written(t, "gobench", run, legs, Options{})["results.bench.txt"], 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("old.txt")
	run.ID = "another"
	for i := range legs {
		for k := range legs[i].Steps {
			legs[i].Steps[k].Load.Succeeded *= 2
		}
	}
	write("new.txt")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	install := exec.CommandContext(ctx, "go", "install", "golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da")
	install.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOBIN="+dir)
	if text, err := install.CombinedOutput(); err != nil {
		if os.Getenv("LOCBENCH_REQUIRE") != "" { // as in continuous integration: nothing may be absent
			t.Fatalf("benchstat cannot be had: %v\n%s", err, text)
		}
		t.Skipf("benchstat cannot be had: %v: %s", err, text)
	}
	cmd := exec.CommandContext(ctx, filepath.Join(dir, "benchstat"), "-format", "csv", "old.txt", "new.txt")
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	for _, want := range []string{",req/s,", ",p99-sec,", ",cpu-sec/req,", ",peak-bytes,"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("benchstat has no column %s:\n%s", want, out)
		}
	}
	// One row holds both files: the names do not differ between runs. The mean of two rounds is
	// their median.
	median := (fixtureLoad(2, 0, 1, time.Time{}).Throughput() + fixtureLoad(2, 0, 2, time.Time{}).Throughput()) / 2
	row := "Load/contender=rs-actix/step=03_64_connections," + number(median) + ","
	if !strings.Contains(string(out), row) || !strings.Contains(string(out), number(2*median)) {
		t.Errorf("no row begins with %s and goes on with %s:\n%s", row, number(2*median), out)
	}
	if strings.Contains(string(out), "step=01") {
		t.Error("warm-ups are compared")
	}
}
