//go:build acceptance && database && linux

package main

import (
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

const trusting = "environment: {POSTGRES_HOST_AUTH_METHOD: trust}\n"

// TestNeed_DoesNotStart: the run ends with a sentence that has the cause and what to do, and
// nothing is left.
func TestNeed_DoesNotStart(t *testing.T) {
	for name, c := range map[string]struct {
		image func(t *testing.T) string // nil: PostgreSQL
		need  string
		files map[string]string
		want  []string
	}{
		"not ready": {need: trusting + "ready: {command: [pg_isready, -h, 127.0.0.2, -p, \"1\"], timeout: 3s}",
			want: []string{"needs: db: not ready after 3s: pg_isready -h 127.0.0.2 -p 1: exit code 2", "127.0.0.2:1 - no response", "its last lines:\n"}},
		"without a password": {need: "limits: {cpus: 1}", want: []string{"ended before it was ready: exit code 1", "set POSTGRES_PASSWORD"}},
		"an option that it does not know": {need: trusting + "command: [-c, max_conections=3]",
			want: []string{"ended before it was ready: exit code 1", `unrecognized configuration parameter "max_conections"`}},
		"an image that is not there": {image: func(*testing.T) string { return "locbench-test/none:1" }, need: trusting, want: []string{"locbench-test/none:1"}},
		"image for another architecture": {image: foreignImage, need: trusting,
			want: []string{"is for another architecture than this machine's; emulated, it is not fit for measuring"}},
		"disk full": {need: trusting + "tmpfs: ['/var/lib/postgresql/data:size=80m']\nkeep: true\nseed: [big.sql]",
			files: map[string]string{"big.sql": "CREATE TABLE t (i int);\nINSERT INTO t SELECT generate_series(1, 4000000);\n"},
			want:  []string{"needs: db: seed failed in big.sql, line 2: ", "its disk is full: free disk space", "No space left on device"}},
		"out of memory": {need: trusting + "limits: {memory: 16M}", want: []string{"needs: db: ", "its limit is 16 MiB"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var o *observer
			if c.image == nil {
				o = observe(t, postgresImage(t), "")
			} else {
				testenv.Docker(t)
				o = &observer{image: c.image(t)}
			}
			dir := o.profile(t, "connect", c.need, "")
			for file, text := range c.files {
				writeFile(t, filepath.Join(dir, file), text)
			}
			_, trials := o.run(t, dir, 1, c.want...)
			testenv.Equal(t, len(trials), 0, "trials")
		})
	}
}

// foreignImage makes an image for another architecture.
func foreignImage(t *testing.T) string {
	t.Helper()
	image := ownName(t) + ":1"
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "Dockerfile"), "FROM scratch\nCOPY Dockerfile /\n")
	dockerDo(t, "build", "-q", "--platform", "linux/s390x", "-t", image, dir)
	t.Cleanup(func() { dockerDo(t, "rmi", "-f", image) })
	testenv.Equal(t, dockerDo(t, "image", "inspect", "-f", "{{.Architecture}}", image), "s390x")
	return image
}

// TestNeed_PortTaken: if the contender's port is in use, its need is removed all the same.
func TestNeed_PortTaken(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testenv.OK(t, err)
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	o := observe(t, postgresImage(t), "")
	dir := o.profile(t, "connect", trusting, "")
	editFile(t, filepath.Join(dir, "svc/backing/service.yaml"), `"{{.Port}}"`, `"`+port+`"`, `"port":8080`, `"port":`+port)
	o.run(t, dir, 3, "port "+port+" is in use")
}

// TestNeed_HarmedInStep: a need that dies in a step fails that trial with the cause. The next trial
// starts from the seeded state again, --resume completes the run, and nothing is left.
func TestNeed_HarmedInStep(t *testing.T) {
	for name, c := range map[string]struct {
		image      func(testing.TB) string
		mode, need string
		harm       []string // arguments of docker; ID is the container
		want       string
	}{
		"killed": {postgresImage, "connect", trusting, []string{"kill", "ID"}, "lost db: it has ended: killed by SIGKILL"},
		"stopped by its user": {mariadbImage, "mariadb", "environment: {MARIADB_ALLOW_EMPTY_ROOT_PASSWORD: \"1\", MARIADB_DATABASE: shop}\nseed: [books.sql]",
			[]string{"kill", "--signal", "TERM", "ID"}, "lost db: it has ended: exit code 0"},
		"out of memory": {redisImage, "redis", "limits: {memory: 32M}",
			[]string{"exec", "ID", "redis-cli", "eval", "for i = 1, 1000000 do redis.call('set', i, string.rep('x', 1000)) end", "0"},
			"lost db: it has ended: killed by SIGKILL (out of memory), its limit is 32 MiB"},
		"a child out of memory (L4)": {postgresImage, "connect", trusting + "limits: {memory: 128M}\ncommand: [-c, shared_buffers=16MB]",
			[]string{"exec", "ID", "psql", "-U", "postgres", "-c", "SET work_mem = '1GB'",
				"-c", "SELECT count(*) FROM (SELECT repeat(n::text, 100) t FROM generate_series(1, 3000000) n ORDER BY 1) s"},
			"lost db: the kernel killed 1 process of it: out of memory, its limit is 128 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := observe(t, c.image(t), "")
			dir := o.profile(t, c.mode, c.need, "")
			editFile(t, filepath.Join(dir, "p.yaml"), "[1 for 300ms]", "[1 for 1s, 1 for 12s]", "compare_bodies: none", "compare_bodies: none\ntimeout: 1s")
			writeFile(t, filepath.Join(dir, "books.sql"), "CREATE TABLE books (title text);\n")
			harm := func(*disturbed, bench.InstanceInfo) {
				c.harm[slices.Index(c.harm, "ID")] = o.last(t)
				_ = exec.Command("docker", c.harm...).Run() // exec ends with the connection
			}
			fault{harm: harm, words: []string{c.want}}.happens(disturbIn(t, dir, nil, "run", "--headless", "-p", "p.yaml"), 2)
			o.nothingLeft(t)
		})
	}
}
