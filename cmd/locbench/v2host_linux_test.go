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

	"locbench/internal/testenv"
)

// errand is one test binary's work in the virtual machine. Each of its tests must pass; none may be
// skipped.
type errand struct {
	name    string
	kernel  string   // "6.12", or "6.1.0": one that cannot begin a high-water mark of memory anew
	as      string   // "root", "user": without root, in a delegated unit; "rootless": the same in the network of its own engine, "outside": not in it
	pkg     string   // whose tests
	tests   []string // by name, parts of them after a "/"; all of one errand have as many parts
	guest   string   // guestVariable
	timeout time.Duration
}

func errands() []errand {
	return []errand{
		{name: "groups", kernel: "6.12", as: "root", pkg: "internal/cgroup", timeout: 3 * time.Minute,
			tests: []string{"TestGroupOnThisMachine", "TestBornInV2Group", "TestRemoveTakesGroupsBelow", "TestCleanLeft", "TestProbe"}},
		{name: "processes", kernel: "6.12", as: "root", pkg: "internal/launch", timeout: 5 * time.Minute,
			tests: []string{"TestProcess/HalfCPU", "TestProcess/OOM", "TestProcess/DeafWithChild", "TestProcess/KilledParent", "TestProcess/GroupRefused"}},
		{name: "beside", kernel: "6.12", as: "root", pkg: "internal/sample", timeout: 5 * time.Minute, tests: []string{"TestWhatIsBeside"}},
		{name: "readings", kernel: "6.12", as: "root", pkg: "cmd/locbench", guest: "process,docker", timeout: 10 * time.Minute,
			tests: []string{"TestGuestDoctor", "TestGuestReadings", "TestGuestKilled"}},
		{name: "out of memory", kernel: "6.12", as: "root", pkg: "cmd/locbench", timeout: 5 * time.Minute,
			tests: []string{"TestContendersThatMisbehave/oom/process", "TestContendersThatMisbehave/oom/docker"}},
		{name: "without root", kernel: "6.12", as: "user", pkg: "cmd/locbench", guest: "process", timeout: 8 * time.Minute,
			tests: []string{"TestGuestDoctor", "TestGuestReadings", "TestGuestKilled"}},
		{name: "out of memory, without root", kernel: "6.12", as: "user", pkg: "cmd/locbench", timeout: 5 * time.Minute,
			tests: []string{"TestContendersThatMisbehave/oom/process"}},
		{name: "rootless engine", kernel: "6.12", as: "rootless", pkg: "cmd/locbench", guest: "docker", timeout: 10 * time.Minute,
			tests: []string{"TestGuestReadings", "TestGuestKilled"}},
		{name: "outside of a rootless engine", kernel: "6.12", as: "outside", pkg: "cmd/locbench", guest: "rootless", timeout: 8 * time.Minute,
			tests: []string{"TestGuestRootless"}},
		// Nothing there needs all of the controllers, as a Docker engine does.
		{name: "older kernel, no engine", kernel: "6.1.0", as: "root", pkg: "cmd/locbench", guest: "process", timeout: 8 * time.Minute,
			tests: []string{"TestGuestReadings"}},
	}
}

// v2hostPatience is for all, on two CPUs that others use too.
const v2hostPatience = 35 * time.Minute

// TestV2Host runs the static binary on a real cgroup v2 host: a virtual machine with its own
// kernel, systemd and Docker, under emulation. What runs there are tests of this repository,
// compiled here; their results are this test's.
func TestV2Host(t *testing.T) {
	disk := testenv.V2Host(t)
	payload := payload(t)
	ctx, cancel := context.WithTimeout(t.Context(), v2hostPatience)
	defer cancel()
	for _, kernel := range []string{"6.12", "6.1.0"} {
		t.Run("kernel "+kernel, func(t *testing.T) {
			var mine []errand
			for _, e := range errands() {
				if e.kernel == kernel {
					mine = append(mine, e)
				}
			}
			out := boot(ctx, t, disk, kernel, payload, mine)
			for i, e := range mine {
				t.Run(e.name, func(t *testing.T) { e.judge(t, i, out) })
			}
		})
	}
}

// judge looks for the results of all tests of an errand in what the machine has written.
func (e errand) judge(t *testing.T, index int, out string) {
	_, out, begun := strings.Cut(out, fmt.Sprintf("=== errand %d\n", index))
	out, end, ended := strings.Cut(out, fmt.Sprintf("=== end of errand %d: ", index))
	if !begun || !ended || !strings.HasPrefix(end, "0\n") {
		t.Errorf("begun: %v, ended: %v, with code %.10q", begun, ended, end)
	}
	passed := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^ *--- (PASS|FAIL|SKIP): (\S+)`).FindAllStringSubmatch(out, -1) {
		if passed[m[2]] = m[1] == "PASS"; !passed[m[2]] {
			t.Errorf("%s: %s", m[2], m[1])
		}
	}
	for _, name := range e.tests {
		if !passed[name] {
			t.Errorf("%s has not passed", name)
		}
	}
	t.Logf("%s as %s:\n%s", e.pkg, e.as, out)
}

// payload makes a folder with all that the tests need in the machine, which has no compiler: the
// test binaries, and the programs that they would build.
func payload(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	build := func(command []string, out, pkg string) {
		cmd := exec.Command("go", append(command, "-trimpath", "-o", filepath.Join(dir, out), pkg)...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64", "GOFLAGS=-buildvcs=false")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", cmd, err, out)
		}
	}
	for name, pkg := range map[string]string{
		"locbench": "locbench/cmd/locbench", "faulty": "./testdata/faulty", "helper": "locbench/internal/docker/dockertest/helper",
	} {
		build([]string{"build"}, "built/"+name, pkg)
	}
	for _, e := range errands() {
		if _, err := os.Stat(filepath.Join(dir, e.pkg, "test")); err != nil {
			build([]string{"test", "-c"}, e.pkg+"/test", "locbench/"+e.pkg)
		}
	}
	// In the place of the compiler: what the tests have built here is built already.
	script := `#!/bin/sh
[ "$1" = build ] || { echo "there is no Go here" >&2; exit 1; }
while [ $# -gt 1 ]; do [ "$1" = -o ] && out=$2; shift; done
exec cp "/payload/built/${1##*/}" "$out"
`
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "bin/go"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// boot starts the machine with errands, waits until it has switched itself off, and returns what
// their tests have written.
func boot(ctx context.Context, t *testing.T, disk, kernel, payload string, errands []errand) string {
	t.Helper()
	if err := os.WriteFile(filepath.Join(payload, "run"), []byte(errandScript(errands)), 0o755); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	if out, err := exec.Command("mke2fs", "-q", "-t", "ext4", "-d", payload, path("payload"), "1G").CombinedOutput(); err != nil {
		t.Fatalf("mke2fs: %v: %s", err, out)
	}
	line := "root=/dev/vda rw console=ttyS0 quiet apparmor=0 panic=-1"
	if !slices.ContainsFunc(errands, func(e errand) bool { return strings.Contains(e.guest, "docker") }) {
		line += " systemd.mask=docker.service systemd.mask=docker.socket systemd.mask=containerd.service"
	}
	// The processor lacks cmpxchg16b (cx16): QEMU 7.2 emulates the one without a lock prefix
	// wrongly, and kernel 6.12 dies of it. One CPU: with two, kernel 6.12 dies now and then where
	// it changes its own code (the first CPU quota does), since QEMU 7.2 may go on with the old
	// code on the other one. snapshot=on: what is written goes to a temporary file, and the disk
	// stays as it was built.
	qemu := exec.CommandContext(ctx, "qemu-system-x86_64", "-accel", "tcg", "-cpu", "qemu64,-cx16", "-smp", "1", "-m", "2048",
		"-display", "none", "-monitor", "none", "-nic", "none", "-no-reboot",
		"-kernel", filepath.Join(disk, "vmlinuz-"+kernel), "-initrd", filepath.Join(disk, "initrd-"+kernel),
		"-append", line,
		"-drive", "if=virtio,format=raw,snapshot=on,file="+filepath.Join(disk, "disk"), "-drive", "if=virtio,format=raw,file="+path("payload"),
		"-serial", "file:"+path("console"), "-serial", "file:"+path("out"))
	qemu.Env = append(os.Environ(), "TMPDIR="+dir)
	// However the tests end, the machine ends with the thread that has started it.
	qemu.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begun := time.Now()
	said, err := qemu.CombinedOutput()
	out, _ := os.ReadFile(path("out"))
	console, _ := os.ReadFile(path("console"))
	if err != nil || ctx.Err() != nil || !strings.Contains(string(out), "=== the end\n") {
		t.Errorf("the machine ended after %v: %v, %v\n%s\nits console:\n%s", time.Since(begun), err, ctx.Err(), said, console)
	}
	t.Logf("kernel %s: %v in all; at the begin of each errand: %q", kernel, time.Since(begun).Round(time.Second),
		regexp.MustCompile(`(?m)up for \S+ s$`).FindAllString(string(out), -1))
	return string(out)
}

// errandScript is what the machine runs.
func errandScript(errands []errand) string {
	var b strings.Builder
	b.WriteString(`#!/bin/bash
stty -F /dev/ttyS1 raw
exec >/dev/ttyS1 2>&1
export PATH=/payload/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LOCBENCH_REQUIRE=docker
chmod 755 /payload
as_user() {
  runuser -u user -- env -C "$PWD" HOME=/home/user XDG_RUNTIME_DIR=/run/user/1000 DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1000/bus "$@"
}
echo "$(uname -r), up for $(cut -d ' ' -f 1 /proc/uptime) s"
`)
	if slices.ContainsFunc(errands, func(e errand) bool { return e.as == "rootless" }) {
		b.WriteString("as_user timeout 180 systemctl --user start docker\n")
	}
	for i, e := range errands {
		delegated := "as_user systemd-run --user --scope --quiet --property=Delegate=yes "
		const engine = "env DOCKER_HOST=unix:///run/user/1000/docker.sock "
		as := map[string]string{
			"root": "", "user": delegated, "outside": delegated + engine,
			"rootless": delegated + engine + `nsenter --user --net --preserve-credentials --target "$(cat /run/user/1000/dockerd-rootless/child_pid)" `,
		}[e.as]
		fmt.Fprintf(&b, "echo \"up for $(cut -d ' ' -f 1 /proc/uptime) s\"\necho '=== errand %d'\ncd /payload/%s\n", i, e.pkg)
		fmt.Fprintf(&b, "%stimeout --kill-after=10 %d env %s=%s ./test -test.v -test.parallel 1 -test.run '%s'\n",
			as, int(e.timeout.Seconds()), guestVariable, e.guest, pattern(e.tests))
		fmt.Fprintf(&b, "echo \"=== end of errand %d: $?\"\n", i)
	}
	b.WriteString("echo '=== the end'\nsync\n")
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
