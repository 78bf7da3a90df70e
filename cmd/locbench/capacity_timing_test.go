//go:build acceptance && timing && unix

package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/run/capacity"
	"github.com/locbench/locbench/internal/testenv"
)

// TestCapacity_Bound: without disturbance, --max-rate is sustained.
func TestCapacity_Bound(t *testing.T) {
	testenv.Judge(t, 5, 200*time.Millisecond, func(t testing.TB) error {
		dir := t.TempDir()
		code, stdout, stderr := locbench(t, dir, short("--slo", "p50<4s,errors<50%", "--runtime", "process", "--limits", "cpus=0.5,1", "--json")...)
		if code != 0 {
			return fmt.Errorf("exit code %d:\n%s", code, stderr)
		}
		r := capacityRecord(t, []byte(stdout))
		for _, p := range r.Points {
			if p.Result.State != capacity.AtLeast || p.Result.Rate != 200 || !p.Result.AtBound || p.Failure != "" {
				return fmt.Errorf("%+v", p)
			}
		}
		return nil
	})
}
