//go:build acceptance

package dockertest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

// Elsewhere starts a second, real engine in its own network namespace, as on another machine except
// for its kernel and clock. unix is its socket, with container ports that are out of reach from
// here; tcp is an address of the other machine; host is this machine's address there. options are
// added to the engine's command. The end of the test stops the engine.
func Elsewhere(t testing.TB, options ...string) (unix, tcp, host string) {
	t.Helper()
	testenv.Docker(t)
	dockerd, err := exec.LookPath("dockerd")
	if err != nil {
		dockerd = "/usr/sbin/dockerd"
	}
	if _, err := os.Stat(dockerd); err != nil || os.Getuid() != 0 {
		t.Skip("needs root and dockerd, to start an engine")
	}
	dir, err := os.MkdirTemp("", "dockerd-") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	number := os.Getpid() % 250
	name := fmt.Sprintf("lbtest%d", number)
	host, there := fmt.Sprintf("10.251.%d.1", number), fmt.Sprintf("10.251.%d.2", number)
	t.Cleanup(func() {
		_ = exec.Command("ip", "netns", "del", name).Run()
		_ = exec.Command("ip", "link", "del", name+"a").Run()
	})
	for _, args := range []string{
		"netns add " + name, "link add " + name + "a type veth peer name " + name + "b",
		"link set " + name + "b netns " + name, "addr add " + host + "/24 dev " + name + "a", "link set " + name + "a up",
		"-n " + name + " addr add " + there + "/24 dev " + name + "b", "-n " + name + " link set " + name + "b up",
		"-n " + name + " link set lo up",
	} {
		if out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput(); err != nil {
			t.Skipf("cannot make a network namespace: ip %s: %v: %s", args, err, out)
		}
	}
	unix, tcp = "unix://"+dir+"/docker.sock", "tcp://"+there+":2375"
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	// Not "ip netns exec", which mounts another /sys.
	cmd := exec.Command("nsenter", append([]string{
		"--net=/run/netns/" + name, dockerd, "--data-root", dir + "/data", "--exec-root", dir + "/exec",
		"--pidfile", dir + "/pid", "-H", unix, "-H", tcp, "--tls=false", "--iptables=false",
		"--bip", fmt.Sprintf("10.252.%d.1/24", number),
	}, options...)...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if exec.Command("docker", "-H", tcp, "version").Run() == nil {
			return unix, tcp, host
		}
	}
	written, _ := os.ReadFile(log.Name())
	t.Fatalf("the engine does not respond; its log:\n%s", written)
	return "", "", ""
}
