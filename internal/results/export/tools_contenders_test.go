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
	load := trials[0].Steps[2].Load
	for name, data := range written(t, "vegeta", run, trials, Options{Trial: "rs-actix-1", Step: &step}) {
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
			t.Errorf("vegeta report says %+v; ours: %d sent, %d succeeded, %d bytes, %.1f/s", report, load.Sent, load.Succeeded, load.Bytes, load.Throughput())
		}
		if page := ask("plot"); !bytes.Contains(page, []byte("<title>Vegeta Plot</title>")) || len(page) < 10_000 {
			t.Errorf("vegeta plot draws %d bytes", len(page))
		}
	}
}

// TestBenchstatReadsOurs runs the real benchstat over two folders.
func TestBenchstatReadsOurs(t *testing.T) {
	run, trials := fixture()
	dir := t.TempDir()
	write := func(name string) {
		if err := os.WriteFile(filepath.Join(dir, name), written(t, "gobench", run, trials, Options{})["results.bench.txt"], 0o644); err != nil {
			t.Fatal(err)
		}
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
