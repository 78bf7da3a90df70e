//go:build acceptance

package launch

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// checkQuota checks that the kernel limits a spinner to half a CPU, by the quota of its cgroup and
// the throttling. TestHalfCPU checks the CPU time.
func checkQuota(t *testing.T, inst bench.Instance) {
	t.Helper()
	testenv.Equal(t, kernelQuota(t, inst.Info().PID), 0.5, "the kernel's quota is")
	before, err := inst.Usage(t.Context())
	testenv.Need(t, err == nil && before.Throttling != nil, "no throttling in %+v, %v", before, err)
	testenv.Until(t, time.Minute, "it is throttled ten times more", func() bool {
		u, err := inst.Usage(t.Context())
		if err != nil || u.Throttling == nil || u.Throttling.Throttled > u.Throttling.Periods || u.CPU < before.CPU {
			t.Fatalf("%+v after %+v, %v", u, before, err)
		}
		return u.Throttling.Throttled >= before.Throttling.Throttled+10
	})
}

// kernelQuota returns the quota of the cgroup of a process, in CPUs.
func kernelQuota(t *testing.T, pid int) float64 {
	t.Helper()
	groups := testenv.Must(os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid)))(t)
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		var quota, period float64
		if parts[1] == "" { // cgroup v2
			text, _ := os.ReadFile("/sys/fs/cgroup" + parts[2] + "/cpu.max")
			fmt.Sscan(string(text), &quota, &period)
		} else if slices.Contains(strings.Split(parts[1], ","), "cpu") {
			for _, name := range []string{parts[1], "cpu"} {
				dir := filepath.Join("/sys/fs/cgroup", name, parts[2])
				text1, _ := os.ReadFile(filepath.Join(dir, "cpu.cfs_quota_us"))
				text2, _ := os.ReadFile(filepath.Join(dir, "cpu.cfs_period_us"))
				fmt.Sscan(string(text1)+" "+string(text2), &quota, &period)
			}
		}
		if period > 0 {
			return quota / period
		}
	}
	t.Fatalf("no quota found for %s", groups)
	return 0
}

func get(t *testing.T, inst bench.Instance) {
	t.Helper()
	client := http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	resp := testenv.Must(client.Get(inst.BaseURL() + "/"))(t)
	resp.Body.Close()
	testenv.Check(t, resp.StatusCode == 404, "status %d", resp.StatusCode)
}
