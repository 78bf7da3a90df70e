//go:build acceptance && contenders

package export

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/figures/hdr"
	"github.com/locbench/locbench/internal/testenv"
)

// TestVegetaToolReadsOurs runs the real vegeta, built from the module that the tests use.
func TestVegetaToolReadsOurs(t *testing.T) {
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
	run, trials := fixture()
	step := 2
	kept := trials[0].Steps[2].Load.Kept
	good, bytesIn := int64(0), int64(0)
	latencies := hdr.New()
	for _, k := range kept {
		latencies.Record(k.Latency)
		bytesIn += k.Bytes
		if k.Error == "" {
			good++
		}
	}
	for _, format := range vegetaFormats {
		for name, data := range written(t, format, run, trials, Options{Trial: "rs-actix-1", Step: &step}) {
			testenv.OK(t, os.WriteFile(filepath.Join(dir, name), data, 0o644))
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
				Requests  int              `json:"requests"`
				Codes     map[string]int64 `json:"status_codes"`
				Latencies struct {
					P50 time.Duration `json:"50th"`
					Max time.Duration `json:"max"`
				} `json:"latencies"`
				Bytes struct {
					Total int64 `json:"total"`
				} `json:"bytes_in"`
			}
			testenv.OK(t, json.Unmarshal(ask("report", "-type=json"), &report))
			ours := latencies.Latencies()
			if report.Requests != len(kept) || report.Codes["200"] != good || report.Bytes.Total != bytesIn || report.Latencies.Max != ours.Max ||
				math.Abs(float64(report.Latencies.P50)/float64(ours.P50)-1) > .02 {
				t.Errorf("vegeta report of %s says %+v; ours: %d kept, %d succeeded, %d bytes, p50 %s, max %s", format, report, len(kept), good, bytesIn, ours.P50, ours.Max)
			}
			for _, to := range []string{"json", "csv", "gob"} {
				if again := decoded(t, ask("encode", "-to="+to)); len(again) != len(kept) || again[7].Latency != kept[7].Latency {
					t.Errorf("vegeta encode of %s to %s has %d results", format, to, len(again))
				}
			}
			if page := ask("plot"); !bytes.Contains(page, []byte("<title>Vegeta Plot</title>")) || len(page) < 10_000 {
				t.Errorf("vegeta plot of %s draws %d bytes", format, len(page))
			}
		}
	}
}

// TestBenchstatReadsOurs runs the real benchstat over two folders.
func TestBenchstatReadsOurs(t *testing.T) {
	run, trials := fixture()
	dir := t.TempDir()
	write := func(name string) {
		testenv.OK(t, os.WriteFile(filepath.Join(dir, name), written(t, "gobench", run, trials, Options{})["results.bench.txt"], 0o644))
	}
	write("old.txt")
	run.ID = "another"
	for i := range trials {
		for k := range trials[i].Steps {
			trials[i].Steps[k].Load.Succeeded *= 2
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
		t.Errorf("no row begins with %s and continues with %s:\n%s", row, number(2*median), out)
	}
	if strings.Contains(string(out), "step=01") {
		t.Error("warm-ups are compared")
	}
}
