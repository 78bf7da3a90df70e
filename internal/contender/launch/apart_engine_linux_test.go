//go:build acceptance && engine

package launch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/docker/dockertest"
	"github.com/locbench/locbench/internal/host/cgroup"
	"github.com/locbench/locbench/internal/testenv"
)

// TestProcessNextToAPinnedClient runs in its own process, which is the client.
func TestProcessNextToAPinnedClient(t *testing.T) {
	all := twoCPUs(t)
	helper := os.Getenv("LOCBENCH_TEST_APART")
	if helper == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestProcessNextToAPinnedClient$", "-test.v")
		cmd.Env = append(os.Environ(), "LOCBENCH_TEST_APART="+dockertest.Helper(t))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	undo, err := cpuset.Keep(all[:1])
	testenv.OK(t, err)
	defer undo()
	for name, tt := range map[string]struct {
		spec bench.LaunchSpec
		want string
	}{
		"its own CPU": {bench.LaunchSpec{CPUs: all[1:2]}, all[1:2].String()},
		"a set":       {bench.LaunchSpec{Limits: bench.Limits{CPUSet: 2}}, all[:2].String()},
		"all":         {bench.LaunchSpec{}, all.String()},
	} {
		t.Run(name, func(t *testing.T) {
			spec := tt.spec
			spec.RunID, spec.Name, spec.Artifact.Command = runID(t), filepath.Base(name), []string{helper, "sleep"}
			inst, err := Process{CPUs: all}.Launch(t.Context(), spec)
			testenv.OK(t, err)
			stopAtEnd(t, inst)
			info, status := inst.Info(), ""
			for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
				data, _ := cgroup.ReadProc(info.PID, "status")
				if status = string(data); strings.Contains(status, "Cpus_allowed_list:\t"+tt.want+"\n") {
					break
				}
			}
			testenv.Check(t, strings.Contains(status, "Cpus_allowed_list:\t"+tt.want+"\n") && info.LimitsNote == "",
				"%s: not on CPUs %s: %+v\n%s", name, tt.want, info, status)
		})
	}
}

func twoCPUs(t *testing.T) cpuset.Set {
	t.Helper()
	all := cpuset.Allowed()
	if len(all) < 2 {
		t.Skip("one CPU: nothing can be parted")
	}
	return all
}
