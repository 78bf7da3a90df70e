package docker

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

func TestApart(t *testing.T) {
	proc, dir := t.TempDir(), t.TempDir()
	for pid, net := range map[string]string{"self": "net:[1]", "10": "net:[1]", "11": "net:[2]"} {
		testenv.OK(t, os.MkdirAll(filepath.Join(proc, pid, "ns"), 0o755))
		if err := os.Symlink(net, filepath.Join(proc, pid, "ns", "net")); err != nil {
			t.Skip("no symbolic link can be made here: ", err)
		}
	}
	enter, ok := apart(dir, proc)
	testenv.Check(t, !ok, "without the number of a process: %q", enter)
	for pid, want := range map[string]bool{"11\n": true, "10": false, "12": false, "x": false, "-1": false} {
		t.Run(pid, func(t *testing.T) {
			writeFile(t, pid, dir, "dockerd-rootless", "child_pid")
			enter, ok := apart(dir, proc)
			if ok != want || ok && !strings.HasSuffix(enter, "$(cat "+dir+"/dockerd-rootless/child_pid)") {
				t.Errorf("process %q: %v, %q", pid, ok, enter)
			}
		})
	}
	_, ok = (&Engine{host: "unix://" + dir + "/docker.sock"}).Apart()
	testenv.Check(t, !ok, "an engine of root is apart")
}
