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
		testenv.Need(t, os.Getenv("LOCBENCH_REQUIRE") == "", "vegeta cannot be built: %v\n%s", err, text)
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
	for name, data := range written(t, "vegeta", run, trials) {
		if !strings.HasPrefix(name, "rs-actix-1.03-") {
			continue
		}
		testenv.OK(t, os.WriteFile(filepath.Join(dir, name), data, 0o644))
		ask := func(args ...string) []byte {
			cmd := exec.CommandContext(ctx, tool, append(args, name)...)
			cmd.Dir = dir
			out, err := cmd.Output()
			testenv.Need(t, err == nil, "vegeta %v: %v", args, err)
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
			t.Errorf("vegeta report says %+v; ours: %d kept, %d succeeded, %d bytes, p50 %s, max %s", report, len(kept), good, bytesIn, ours.P50, ours.Max)
		}
		for _, to := range []string{"json", "csv", "gob"} {
			if again := decoded(t, ask("encode", "-to="+to)); len(again) != len(kept) || again[7].Latency != kept[7].Latency {
				t.Errorf("vegeta encode to %s has %d results", to, len(again))
			}
		}
		if page := ask("plot"); !bytes.Contains(page, []byte("<title>Vegeta Plot</title>")) || len(page) < 10_000 {
			t.Errorf("vegeta plot draws %d bytes", len(page))
		}
	}
}
