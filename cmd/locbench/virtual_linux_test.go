//go:build acceptance && linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

// errand is the work of one test binary in a virtual machine. Each of its tests must pass; none may
// be skipped.
type errand struct {
	name  string
	as    string   // "root"; "user": without root, in a delegated unit; "rootless": in the network of a rootless engine; "outside": not in it; with Podman: "podman", "podman of a user"
	pkg   string   // package of the tests
	tests []string // names, with parts after a "/"; all of one errand have the same number of parts
	guest string   // guestVariable
}

// host is one virtual machine with its errands.
type host struct {
	name    string
	kernel  string // "6.12", or "6.1.0": one that cannot reset a high-water mark of memory
	engine  bool   // root's Docker engine is started
	errands []errand
}

// guestVariable lists the runtimes that the user of an errand has, with real limits: "process", "docker", or both;
// "rootless" is an engine with its own network.
const guestVariable = "LOCBENCH_TEST_GUEST"

const podmanImage = "postgres.tar" // of docker save, in the payload

// Timeouts for a hanging machine or errand. They assert no duration: that depends on the emulation
// and on other work on the CPUs.
const (
	hostPatience   = 35 * time.Minute
	errandPatience = 15 * time.Minute
)

// runOn runs the errands of virtual machines, each of which must have done its tests. images are brought along, as
// files of docker save by their names.
func runOn(t *testing.T, hosts []host, images map[string]string) {
	t.Helper()
	// The folder with the disk and the kernels of a virtual machine.
	disk := testenv.Named(t, "v2host", "LOCBENCH_TEST_V2HOST", "disk of a cgroup v2 host (.ci/v2host builds it)")
	if _, err := os.Stat(filepath.Join(disk, "disk")); err != nil {
		testenv.Missing(t, "v2host", "the disk of the cgroup v2 host cannot be read: "+err.Error())
	}
	testenv.Program(t, "v2host", "qemu-system-x86_64")
	testenv.Program(t, "v2host", "mke2fs", "/usr/sbin/mke2fs", "/sbin/mke2fs")
	payload := payload(t, hosts)
	for file, image := range images {
		dockerDo(t, "save", "-o", filepath.Join(payload, file), image)
	}
	for _, h := range hosts {
		brought := image(t, payload, h)
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			out := h.boot(t, disk, brought)
			for i, e := range h.errands {
				t.Run(e.name, func(t *testing.T) { e.check(t, i, out) })
			}
		})
	}
}

// check looks for the results of all tests of an errand in the machine's output.
func (e errand) check(t *testing.T, index int, out string) {
	_, out, begun := strings.Cut(out, fmt.Sprintf("=== errand %d\n", index))
	out, end, ended := strings.Cut(out, fmt.Sprintf("=== end of errand %d: ", index))
	testenv.Check(t, begun && ended && strings.HasPrefix(end, "0\n"),
		"begun: %v, ended: %v, with code %.10q", begun, ended, end)
	passed := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^ *--- (PASS|FAIL|SKIP): (\S+)`).FindAllStringSubmatch(out, -1) {
		if passed[m[2]] = m[1] == "PASS"; !passed[m[2]] {
			t.Errorf("%s: %s", m[2], m[1])
		}
	}
	for _, name := range e.tests {
		testenv.Check(t, passed[name], "%s has not passed", name)
	}
	t.Logf("%s as %s:\n%s", e.pkg, e.as, out)
}

// payload creates a folder with everything that the tests need in the machines, which have no
// compiler: the test binaries, and the programs that they would build.
func payload(t *testing.T, hosts []host) string {
	t.Helper()
	dir := t.TempDir()
	build := func(command []string, out, pkg string) {
		cmd := exec.Command("go", append(command, "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(dir, out), pkg)...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64", "GOFLAGS=-buildvcs=false")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", cmd, err, out)
		}
	}
	for name, pkg := range map[string]string{"faulty": "./testdata/faulty", "helper": "github.com/locbench/locbench/internal/docker/dockertest/helper"} {
		build([]string{"build", "-tags", "acceptance"}, "built/"+name, pkg)
	}
	for _, h := range hosts {
		for _, e := range h.errands {
			if _, err := os.Stat(filepath.Join(dir, e.pkg, "test")); err == nil {
				continue
			}
			tags := "acceptance,engine" // which the tests of these packages belong to on any machine
			if e.guest != "" {
				tags = "acceptance,cgroup2"
			}
			build([]string{"test", "-c", "-tags", tags}, e.pkg+"/test", "github.com/locbench/locbench/"+e.pkg)
		}
	}
	// Instead of the compiler: the programs were built here.
	script := `#!/bin/sh
[ "$1" = build ] || { echo "there is no Go here" >&2; exit 1; }
while [ $# -gt 1 ]; do [ "$1" = -o ] && out=$2; shift; done
exec cp "/payload/built/${1##*/}" "$out"
`
	writeFile(t, filepath.Join(dir, "bin/go"), script)
	writeFile(t, filepath.Join(dir, "locbench"), readFile(t, testenv.Locbench(t)))
	return dir
}

// image creates the second disk of a machine, with the payload and the script.
func image(t *testing.T, payload string, h host) string {
	t.Helper()
	writeFile(t, filepath.Join(payload, "run"), h.script())
	path := filepath.Join(t.TempDir(), "payload")
	mke2fs := "mke2fs"
	if _, err := exec.LookPath(mke2fs); err != nil {
		mke2fs = "/usr/sbin/mke2fs"
	}
	out, err := exec.Command(mke2fs, "-q", "-t", "ext4", "-d", payload, path, "1G").CombinedOutput()
	testenv.Need(t, err == nil, "mke2fs: %v: %s", err, out)
	return path
}

// boot starts the machine, waits until it has switched itself off, and returns the output of its
// tests.
func (h host) boot(t *testing.T, disk, payload string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hostPatience)
	defer cancel()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	line := "root=/dev/vda rw console=ttyS0 quiet apparmor=0 panic=-1"
	if !h.engine {
		line += " systemd.mask=docker.service systemd.mask=docker.socket systemd.mask=containerd.service"
	}
	// The processor lacks cmpxchg16b (cx16): QEMU 7.2 emulates the one without a lock prefix
	// wrongly, and kernel 6.12 crashes. One CPU: with two, kernel 6.12 sometimes crashes when it
	// changes its own code (the first CPU quota does), since QEMU 7.2 may continue with the old
	// code on the other one. snapshot=on: writes go to a temporary file, and the disk stays
	// unchanged.
	qemu := exec.CommandContext(ctx, "qemu-system-x86_64", "-accel", "tcg", "-cpu", "qemu64,-cx16", "-smp", "1", "-m", "2048",
		"-display", "none", "-monitor", "none", "-nic", "none", "-no-reboot",
		"-kernel", filepath.Join(disk, "vmlinuz-"+h.kernel), "-initrd", filepath.Join(disk, "initrd-"+h.kernel),
		"-append", line,
		"-drive", "if=virtio,format=raw,snapshot=on,file="+filepath.Join(disk, "disk"), "-drive", "if=virtio,format=raw,snapshot=on,file="+payload,
		"-serial", "file:"+path("console"), "-serial", "file:"+path("out"))
	qemu.Env = append(os.Environ(), "TMPDIR="+dir)
	// The machine ends with the thread that has started it, however the tests end.
	qemu.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begun := time.Now()
	said, err := qemu.CombinedOutput()
	out, _ := os.ReadFile(path("out"))
	console, _ := os.ReadFile(path("console"))
	testenv.Check(t, err == nil && ctx.Err() == nil && strings.Contains(string(out), "=== the end\n"),
		"the machine ended after %v: %v, %v\n%s\nits console:\n%s", time.Since(begun), err, ctx.Err(), said, console)
	t.Logf("kernel %s: %v in all; at the begin of each errand, and at the end: %q", h.kernel, time.Since(begun).Round(time.Second),
		regexp.MustCompile(`(?m)up for \S+ s$`).FindAllString(string(out), -1))
	return string(out)
}

// script returns the script that the machine runs.
func (h host) script() string {
	var b strings.Builder
	b.WriteString(`#!/bin/bash
stty -F /dev/ttyS1 raw
exec >/dev/ttyS1 2>&1
export PATH=/payload/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LOCBENCH_REQUIRE=docker ` + testenv.BinaryVariable + `=/payload/locbench
chmod 755 /payload
as_user() {
  runuser -u user -- env -C "$PWD" HOME=/home/user XDG_RUNTIME_DIR=/run/user/1000 DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1000/bus "$@"
}
echo "$(uname -r), up for $(cut -d ' ' -f 1 /proc/uptime) s"
`)
	for as, start := range map[string]string{
		"rootless": "as_user timeout 600 systemctl --user start docker\n", "podman": "systemctl start podman.socket\n",
		"podman of a user": "as_user systemctl --user start podman.socket\n",
	} {
		if slices.ContainsFunc(h.errands, func(e errand) bool { return e.as == as }) {
			// Root's engine would have loaded them, but it is not running.
			b.WriteString("modprobe -a overlay bridge br_netfilter veth tun nf_tables nft_compat nf_nat xt_MASQUERADE xt_addrtype xt_conntrack\n" + start)
		}
	}
	for i, e := range h.errands {
		delegated := "as_user systemd-run --user --scope --quiet --property=Delegate=yes "
		const engine = "env DOCKER_HOST=unix:///run/user/1000/docker.sock "
		as := map[string]string{
			"root": "", "user": delegated, "outside": delegated + engine,
			"podman": "env DOCKER_HOST=unix:///run/podman/podman.sock ", "podman of a user": delegated + "env DOCKER_HOST=unix:///run/user/1000/podman/podman.sock ",
			"rootless": delegated + engine + `nsenter --user --net --preserve-credentials --target "$(cat /run/user/1000/dockerd-rootless/child_pid)" `,
		}[e.as]
		fmt.Fprintf(&b, "echo \"up for $(cut -d ' ' -f 1 /proc/uptime) s\"\necho '=== errand %d'\ncd /payload/%s\n", i, e.pkg)
		fmt.Fprintf(&b, "%stimeout --kill-after=10 %d env %s=%s ./test -test.v -test.parallel 1 -test.run '%s'\n",
			as, int(errandPatience.Seconds()), guestVariable, e.guest, pattern(e.tests))
		fmt.Fprintf(&b, "echo \"=== end of errand %d: $?\"\n", i)
	}
	b.WriteString("echo \"up for $(cut -d ' ' -f 1 /proc/uptime) s\"\necho '=== the end'\nsync\n")
	return b.String()
}

// pattern selects tests, and parts of one test.
func pattern(tests []string) string {
	var levels [][]string
	for _, name := range tests {
		for i, part := range strings.Split(name, "/") {
			if i == len(levels) {
				levels = append(levels, nil)
			}
			levels[i] = append(levels[i], part)
		}
	}
	var all []string
	for _, l := range levels {
		all = append(all, "^("+strings.Join(l, "|")+")$")
	}
	return strings.Join(all, "/")
}
