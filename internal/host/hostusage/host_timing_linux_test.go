//go:build acceptance && timing

package hostusage

import (
	"fmt"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// The CPU time of this process counts as the machine's.
func TestHostCountsWork(t *testing.T) {
	testenv.Judge(t, 5, 50*time.Millisecond, func(t testing.TB) error {
		before := &bench.HostReading{Host: Host()}
		spin(t, 300*time.Millisecond)
		after := &bench.HostReading{Host: Host()}
		if before.Host == nil || after.Host == nil {
			return fmt.Errorf("%+v", before)
		}
		if busy := after.Host.Busy - before.Host.Busy; busy < 250*time.Millisecond {
			return fmt.Errorf("%s busy", busy)
		}
		r := bench.StepResult{HostBefore: before, HostAfter: after}
		if share, steal, ok := r.HostShare(); !ok || share <= 0 || share > 1 || steal < 0 {
			return fmt.Errorf("%v, %v, %v", share, steal, ok)
		}
		return nil
	})
}
