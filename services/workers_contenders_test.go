//go:build acceptance && contenders

package services_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// node-express starts a worker for each CPU begun of its limit, whatever availableParallelism says: from
// Node 22 on it rounds the limit down.
func TestWorkersOfNode_Limits(t *testing.T) {
	node := testenv.Program(t, "images", "node")
	for name, c := range map[string]struct {
		allowed string            // CPUs
		group   string            // /proc/self/cgroup
		files   map[string]string // below /sys/fs/cgroup
		want    string
	}{
		"1.5 CPUs":            {"0-7", "0::/", map[string]string{"cpu.max": "150000 100000"}, "2"},
		"half a CPU":          {"0-7", "0::/", map[string]string{"cpu.max": "50000 100000"}, "1"},
		"2.5 CPUs":            {"0-7", "0::/", map[string]string{"cpu.max": "250000 100000"}, "3"},
		"no limit":            {"0-3,8", "0::/", map[string]string{"cpu.max": "max 100000"}, "5"},
		"a smaller CPU set":   {"2", "0::/", map[string]string{"cpu.max": "150000 100000"}, "1"},
		"a limit above":       {"0-7", "0::/a/b", map[string]string{"a/b/cpu.max": "max 100000", "a/cpu.max": "150000 100000"}, "2"},
		"version 1, 1.5 CPUs": {"0-7", "3:cpu,cpuacct:/x", map[string]string{"cpu/x/cpu.cfs_quota_us": "150000", "cpu/x/cpu.cfs_period_us": "100000"}, "2"},
		"version 1, no limit": {"0-1", "3:cpu,cpuacct:/x", map[string]string{"cpu/x/cpu.cfs_quota_us": "-1", "cpu/x/cpu.cfs_period_us": "100000"}, "2"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			write := func(path, text string) {
				path = filepath.Join(root, path)
				testenv.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
				testenv.OK(t, os.WriteFile(path, []byte(text+"\n"), 0o644))
			}
			write("proc/self/status", "Name:\tnode\nCpus_allowed_list:\t"+c.allowed)
			write("proc/self/cgroup", c.group)
			for path, text := range c.files {
				write("sys/fs/cgroup/"+path, text)
			}
			program := `import os from 'node:os'; import { syncBuiltinESMExports } from 'node:module'; import { pathToFileURL } from 'node:url'
				os.availableParallelism = () => 1; syncBuiltinESMExports()
				const { cpuLimit } = await import(pathToFileURL(process.argv[1])); console.log(cpuLimit(process.argv[2]))`
			file := testenv.Must(filepath.Abs("node-express/src/cgroup.js"))(t)
			out, err := exec.CommandContext(t.Context(), node, "--input-type=module", "-e", program, file, root).CombinedOutput()
			testenv.Check(t, err == nil, "%v: %s", err, out)
			testenv.Equal(t, strings.TrimSpace(string(out)), c.want)
		})
	}
}
