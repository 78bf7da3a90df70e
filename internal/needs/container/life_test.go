package container

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/secret"
)

const postgres = "image: postgres:17\nenvironment: {POSTGRES_PASSWORD: \"${PW}\"}\nready: {times: 1}\n"

// database is a fixture like a PostgreSQL, whose files are written by its first start.
func database(t *testing.T, more string) fixture {
	f := newFixture(t, postgres+more)
	f.engine.image.Volumes = []string{"/var/lib/postgresql/data"}
	f.engine.started = func(c *fakeServed) {
		c.write("+")
		c.listen()
	}
	return f
}

// TestLife: the order of calls from the first start to the last, and what is in the volumes.
func TestLife(t *testing.T) {
	f := database(t, "seed: [schema.sql, more.sh, {command: [psql, -f, /seed/rows.sql]}]")
	const check = "exec pg_isready -q -h db -p 5432"
	f.open(t)
	testenv.Equal(t, f.engine.since(), "image postgres:17\ncreate db-1\n"+
		"run db db-1.v1:/var/lib/postgresql/data schema.sql:/docker-entrypoint-initdb.d/01-schema.sql "+
		"/docker-entrypoint-initdb.d/01-schema.sql:/seed/schema.sql more.sh:/docker-entrypoint-initdb.d/02-more.sh "+
		"/docker-entrypoint-initdb.d/02-more.sh:/seed/more.sh rows.sql:/seed/rows.sql\n"+check, "open")
	testenv.Equal(t, f.Info().String(), "db: container, postgres:17 (0123456789ab)")
	testenv.OK(t, f.Alive(t.Context()))

	f.engine.exec = func(c *fakeServed, command []string) (string, int, error) {
		if command[0] == "psql" {
			c.write("rows")
		}
		return "", 0, nil
	}
	testenv.Check(t, regexp.MustCompile(`^2 files at its start \([0-9.]+ .?s until ready\), 1 command$`).MatchString(f.seed(t)), "note of the seed")
	f.Address() // for masks of its password
	testenv.Equal(t, f.engine.since(), "exec psql -f /seed/rows.sql", "seed")

	f.restore(t)
	copied := func(volume string) string {
		return "create db-1\ncopy db-1.v1 to " + volume + "\n" +
			"run db " + volume + ":/var/lib/postgresql/data\n" + check // without files of the seed, which may be large
	}
	testenv.Equal(t, f.engine.since(), "end 1m0s\nwritten\nkill\n"+copied("db-1.v2"), "first restore")
	testenv.Equal(t, f.engine.volumes["db-1.v1"]+" "+f.engine.volumes["db-1.v2"], "+rows +rows+", "files")

	f.restore(t)
	testenv.Equal(t, f.engine.since(), "", "restore of one that no contender has used")

	testenv.Equal(t, f.Address().Host, "db")
	f.last().write("order 1")
	f.restore(t)
	testenv.Equal(t, f.engine.since(), "kill\nremove db-1.v2\n"+copied("db-1.v3"), "second restore")
	f.restore(t)
	testenv.Equal(t, f.engine.since(), "", "restore of one that no contender has used since")
	testenv.Equal(t, f.engine.volumes["db-1.v1"]+" "+f.engine.volumes["db-1.v3"], "+rows +rows+", "files")

	f.Address()
	testenv.OK(t, testenv.Err(f.Restore(t.Context(), bench.Selection{})))
	testenv.Equal(t, f.engine.since(), "", "after the last trial")

	testenv.OK(t, f.Close(t.Context()))
	testenv.Equal(t, f.engine.since(), "kill\nremove db-1.v3\nremove db-1.v1", "close")
	testenv.OK(t, f.Close(t.Context()))
	testenv.Equal(t, f.engine.since(), "", "close again")
	testenv.Equal(t, len(*f.warned), 0, *f.warned)
}

// TestRoom: a copy is made only if the disk of the engine has space for it and for what a trial
// writes. The copy before it does not count: it is removed first.
func TestRoom(t *testing.T) {
	f := database(t, "seed: [schema.sql]") // of 1 MiB, by the fake
	f.open(t)
	f.seed(t)
	f.engine.free = 65<<20 - 1
	f.engine.since()
	testenv.Fails(t, testenv.Err(f.Restore(t.Context(), contender)), "no space for a copy of its seeded state: /var/lib/docker/volumes has 65.0 MiB free; free more there")
	testenv.Equal(t, f.engine.since(), "end 1m0s\nwritten\nkill\ncreate db-1", "the state is not read before it is copied")
	f.engine.free = 65 << 20
	f.restore(t)
	f.Address()
	f.engine.free = 64 << 20
	for range 2 {
		testenv.Fails(t, testenv.Err(f.Restore(t.Context(), contender)), "no space for a copy of its seeded state: ", "has 64 MiB free")
	}
	f.engine.free = 65 << 20
	f.restore(t)
	f.Address()
	f.engine.since()
	f.restore(t)
	testenv.Check(t, regexp.MustCompile(`^kill\nremove db-1\.v\d\ncreate db-1\n`).MatchString(f.engine.since()), "the copy is removed first")
	for _, c := range f.engine.running {
		testenv.Equal(t, c.spec.Mounts[0].Complete, c != f.engine.running[0], "what the image has is only for the first start")
	}
}

// TestUnenforced: a limit that the engine does not enforce is a warning, once.
func TestUnenforced(t *testing.T) {
	f := database(t, "limits: {memory: 64M}")
	f.engine.unenforced = "memory: unsupported"
	f.open(t)
	f.seed(t)
	f.restore(t)
	testenv.Equal(t, strings.Join(*f.warned, "; "), "db: limits not enforced: memory: unsupported")
}

// TestDockerfile: an image is built, and started as the service that it is like.
func TestDockerfile(t *testing.T) {
	f := newFixture(t, "dockerfile: Dockerfile\nlike: postgres\nseed: [rows.sql]\nready: {times: 1}")
	f.engine.image.Volumes = []string{"/var/lib/postgresql/data"}
	testenv.Check(t, strings.HasSuffix(f.Info().Version, "/Dockerfile"), "%s", f.Info().Version)
	f.open(t)
	testenv.Equal(t, f.engine.since(), "build db from Dockerfile\nimage locbench/need-db:1\ncreate db-1\n"+
		"run db db-1.v1:/var/lib/postgresql/data rows.sql:/docker-entrypoint-initdb.d/01-rows.sql /docker-entrypoint-initdb.d/01-rows.sql:/seed/rows.sql\n"+
		"exec pg_isready -q -h db -p 5432")
	testenv.Equal(t, f.Info().Version, "locbench/need-db:1 (0123456789ab)")
	f = newFixture(t, "dockerfile: Dockerfile")
	f.engine.failing = "build"
	testenv.Fails(t, f.Open(t.Context(), f.place), "db: build failed")
}

// TestContainer: every key reaches the engine.
func TestContainer(t *testing.T) {
	f := newFixture(t, "image: a\nentrypoint: e\ncommand: c d\nports: 9\nready: {times: 1}\n"+
		"limits: {cpus: 0.5, memory: 8M, pids: 7}\nuser: 1000:0\nhostname: broker\naliases: [mq, queue.example]\ntmpfs: ['/run:size=1m']\nshm_size: 64M\n"+
		"ulimits: {nofile: 99}\ninit: true\nstop_signal: SIGINT\nvolumes: [/data, ./pw.txt:/pw:ro]")
	f.open(t)
	got := f.last().spec
	testenv.Check(t, strings.HasSuffix(got.Mounts[1].Source, "/pw.txt"), "%v", got.Mounts)
	got.OnLog, got.OnIncident, got.Mounts[1].Source = nil, nil, "pw.txt"
	testenv.Equal(t, got, docker.ContainerSpec{
		Name: "db", Image: "a", Entrypoint: []string{"e"}, Command: []string{"c", "d"}, Env: map[string]string{}, Port: 9,
		Limits: bench.Limits{CPUs: 0.5, Memory: 8 << 20, PIDs: 7}, User: "1000:0", Hostname: "broker", Aliases: []string{"db", "mq", "queue.example"},
		Mounts: []docker.Mount{{Volume: "db-1.v1", Target: "/data"}, {Source: "pw.txt", Target: "/pw"}},
		Tmpfs:  []docker.Tmpfs{{Target: "/run", Options: "size=1m"}}, ShmSize: 64 << 20,
		Ulimits: []docker.Ulimit{{Name: "nofile", Soft: 99, Hard: 99}},
		Init:    true, StopSignal: "SIGINT",
	})
}

// TestOpen_Refuses: what cannot be measured does not start.
func TestOpen_Refuses(t *testing.T) {
	for name, c := range map[string]struct {
		yaml  string
		image docker.Image
		place func(*needs.Place)
		want  string
	}{
		"no engine": {"image: a", docker.Image{}, func(p *needs.Place) { p.Containers = nil }, "no Docker engine is in use"},
		"emulated":  {"image: a", docker.Image{Emulated: true}, nil, "db: image a is for another architecture"},
		"several ports": {"image: a", docker.Image{Ports: []int{3306, 33060}}, nil,
			"exposes the ports 3306, 33060; write the one that contenders use: `ports: 3306`"},
		"many ports":      {"image: a", docker.Image{Ports: slices.Repeat([]int{7}, 3000)}, nil, "exposes the ports 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 2990 more; write"},
		"no health check": {"image: a\nready: healthcheck", docker.Image{Ports: []int{1}}, nil, "image a has no health check"},
		"seed in memory, by its image": {"image: postgres\ntmpfs: /mem\nseed: [schema.sql]", docker.Image{Env: map[string]string{"PGDATA": "/mem/pg"}}, nil,
			"db: its data are in memory (PGDATA=/mem/pg), and lost when it starts again; write a path on its disk, or `keep: true`"},
		"seed in memory": {"image: postgres\ntmpfs: /data\nseed: [schema.sql]", docker.Image{Volumes: []string{"/data"}}, nil,
			"in memory (tmpfs /data), and lost when it starts again"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, c.yaml)
			f.engine.image = c.image
			if c.place != nil {
				c.place(&f.place)
			}
			testenv.Fails(t, f.Open(t.Context(), f.place), c.want)
		})
	}
}

// TestSeed_Fails: a command that fails ends the run, with its last lines.
func TestSeed_Fails(t *testing.T) {
	f := database(t, "seed: [{command: [psql, --password, \"${PW}\"]}]")
	f.open(t)
	f.engine.exec = func(*fakeServed, []string) (string, int, error) { return "x\nrelation t exists, p@y/ 100%#1\n", 3, nil }
	_, err := f.Seed(t.Context(), func(bench.Progress) {})
	testenv.Fails(t, err, "db: seed failed: command psql --password", "exit code 3\n  x\n  relation t exists")
	testenv.Check(t, slices.Contains(*f.hidden, "p@y/ 100%#1"), "its password is not masked: %q", *f.hidden)
	f = database(t, "seed: [{command: [psql]}]")
	f.open(t)
	f.engine.exec = func(c *fakeServed, _ []string) (string, int, error) {
		c.end(bench.Exit{Code: 1})
		return "", 0, nil
	}
	_, err = f.Seed(t.Context(), func(bench.Progress) {})
	testenv.Fails(t, err, "db: it ended after its seed: exit code 1")
}

// TestRestore_Stop: only files of a clean stop are a state to start from (V4).
func TestRestore_Stop(t *testing.T) {
	for name, c := range map[string]struct {
		yaml string
		exit bench.Exit
		want string
	}{
		"killed": {"image: postgres\nready: {times: 1}", bench.Exit{Code: 137, Signal: "SIGKILL"},
			"it did not stop cleanly, so its files are not a state to start from: it was killed after 1m"},
		"grace": {"image: postgres\nready: {times: 1}\nstop_grace_period: 2s", bench.Exit{Code: 137, Signal: "SIGKILL"},
			"killed after 2s"},
		"exit code":         {"image: postgres\nready: {times: 1}", bench.Exit{Code: 143}, "exit code 143"},
		"of a Java machine": {"image: keycloak\nready: {times: 1, tcp: 8080}", bench.Exit{Code: 143}, ""},
		"a wrong option":    {"image: keycloak\nready: {times: 1, tcp: 8080}", bench.Exit{Code: 1}, "exit code 1"},
		"without a volume":  {"image: a\nports: 1\nready: {times: 1}", bench.Exit{Code: 2}, ""},
		"its machine killed": {"image: keycloak\nready: {times: 1, tcp: 8080}", bench.Exit{Code: 137, Signal: "SIGKILL"},
			"it was killed after 1m"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, c.yaml)
			if name != "without a volume" {
				f.engine.image.Volumes = []string{"/data"}
			}
			f.open(t)
			f.seed(t)
			f.engine.unclean = &c.exit
			for range 2 { // it is not started from them later, either
				_, err := f.Restore(t.Context(), contender)
				testenv.Fails(t, err, c.want)
				if c.want != "" {
					testenv.Equal(t, len(f.engine.running), 1, "started")
				}
			}
		})
	}
}

// TestRestore_Written: files outside of volumes are named; a seed without a volume is refused.
func TestRestore_Written(t *testing.T) {
	for name, c := range map[string]struct {
		yaml         string
		written      []string
		warning, err string
	}{
		"nothing": {"image: a\nports: 1\nready: {times: 1}", []string{"/tmp/x", "/run/postgresql/lock"}, "", ""},
		"some": {"image: a\nports: 1\nready: {times: 1}", []string{"/tmp/x", "/opt/1", "/opt/2", "/opt/3", "/opt/4", "/opt/5",
			"/opt/6"}, "db writes outside of its volumes, which is not restored: /opt/1, /opt/2, /opt/3, /opt/4, /opt/5 and 1 more", ""},
		"its seed": {"image: a\nports: 1\nready: {times: 1}\nseed: [{command: [x]}]", []string{"/opt/1"}, "",
			"its seed would be lost: it has no volume, and writes /opt/1"},
		"another volume": {"image: a\nports: 1\nready: {times: 1}\nvolumes: [/v, /w]\nseed: [{command: [x]}]", []string{"/opt/1"},
			"which is not restored: /opt/1", "nothing is left of its seed: after it no file of /v, /w has content; write the path of its data, `volumes: [/PATH]`, or `keep: true`"},
		"a file given in its volume": {"image: a\nports: 1\nready: {times: 1}\nvolumes: [/v, ./rows.sql:/v/rows.sql:ro]\nseed: [{command: [x]}]",
			[]string{"/opt/1"}, "which is not restored: /opt/1", "nothing is left of its seed: after it no file of /v has content"},
		"a seed that writes nothing": {"image: a\nports: 1\nready: {times: 1}\nvolumes: [/v]\nseed: [{command: [x]}]", nil,
			"db has no data after its seed: no file of /v has content", ""},
		"no seed": {"image: a\nports: 1\nready: {times: 1}\nvolumes: [/v]\nseed: [{start: service}]", []string{"/opt/1"},
			"which is not restored: /opt/1", ""},
		"in memory": {"image: a\nports: 1\nready: {times: 1}\nseed: [{command: [x]}]", nil,
			"db has written nothing to its disk: what its seed has left in memory is lost when it starts again; `keep: true` keeps it", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, c.yaml)
			f.engine.written = c.written
			f.open(t)
			f.seed(t)
			_, err := f.Restore(t.Context(), contender)
			testenv.Fails(t, err, c.err)
			if c.err == "" {
				testenv.OK(t, err)
			}
			if got := strings.Join(*f.warned, ""); (got == "") != (c.warning == "") || !strings.Contains(got, c.warning) {
				t.Errorf("warned %q, want %q", got, c.warning)
			}
		})
	}
}

// TestRestore_Ended: one that ended in a trial fails that trial, and starts again for the next one.
func TestRestore_Ended(t *testing.T) {
	f := database(t, "limits: {memory: 64M}\n")
	f.open(t)
	f.seed(t)
	f.restore(t)
	f.Address()
	f.last().log("killed, password=p@y/ 100%#1")
	f.last().end(bench.Exit{Code: 137, Signal: "SIGKILL", OOMKilled: true})
	testenv.Fails(t, f.Alive(t.Context()), "it has ended: killed by SIGKILL (out of memory), its limit is 64 MiB")
	_, err := f.Restore(t.Context(), contender)
	testenv.Fails(t, err, "it ended in the trial: killed by SIGKILL", "its limit is 64 MiB", "killed, password=")
	f.restore(t)
	testenv.OK(t, f.Alive(t.Context()))
	testenv.Equal(t, len(f.engine.running), 3, "starts")
	f.last().end(bench.Exit{Code: 9}) // with no contender
	f.restore(t)
	testenv.Equal(t, len(f.engine.running), 4, "starts")
	testenv.Contains(t, strings.Join(*f.warned, ""), "db ended between trials: exit code 9")
}

// TestOutOfMemory: a service of which the kernel has killed a process is not the one that it was,
// even if it runs.
func TestOutOfMemory(t *testing.T) {
	kills := func(n int64) *bench.NeedUsage {
		return &bench.NeedUsage{Memory: &bench.Memory{OOMKills: n, Limit: 64 << 20}}
	}
	testenv.OK(t, errors.Join(outOfMemory(nil, 0), outOfMemory(&bench.NeedUsage{}, 0), outOfMemory(kills(2), 2)))
	testenv.Fails(t, outOfMemory(kills(1), 0), "the kernel killed 1 process of it: out of memory, its limit is 64 MiB")
	testenv.Fails(t, outOfMemory(kills(5), 2), "3 processes")
	testenv.Equal(t, killed(kills(4))+killed(nil), 4)
}

// TestRest: one that rests does not run, keeps its seeded state, and starts from that again. Its
// end in a trial is reported once.
func TestRest(t *testing.T) {
	f := database(t, "")
	f.open(t)
	f.seed(t)
	f.engine.since()
	testenv.OK(t, f.Rest(t.Context()))
	testenv.Equal(t, f.engine.since(), "end 1m0s\nwritten\nkill", "rest after the seed")
	testenv.OK(t, f.Alive(t.Context()))
	testenv.OK(t, errors.Join(f.Rest(t.Context()), testenv.Err(f.Restore(t.Context(), bench.Selection{}))))
	testenv.Equal(t, f.engine.since(), "", "rest again")
	f.restore(t)
	f.Address()
	testenv.Contains(t, f.engine.since(), "copy db-1.v1 to db-1.v2", "run db")
	f.last().write("order 1")
	testenv.OK(t, errors.Join(testenv.Err(f.Restore(t.Context(), bench.Selection{})), f.Rest(t.Context())))
	testenv.Equal(t, f.engine.since(), "kill", "rest after a trial")
	f.restore(t)
	testenv.Equal(t, f.engine.volumes["db-1.v3"], "++", "files: those of two starts")

	f.Address()
	f.last().end(bench.Exit{Code: 3})
	testenv.Fails(t, testenv.Err(f.Restore(t.Context(), bench.Selection{})), "it ended in the trial: exit code 3")
	testenv.OK(t, errors.Join(testenv.Err(f.Restore(t.Context(), bench.Selection{})), f.Rest(t.Context())))

	f = database(t, "")
	f.open(t)
	f.engine.unclean = &bench.Exit{Code: 9}
	testenv.Fails(t, f.Rest(t.Context()), "it did not stop cleanly")
	testenv.Fails(t, testenv.Err(f.Restore(t.Context(), contender)), "it did not stop cleanly")
}

// TestRestore_FailsOnce: after a start that failed, the next restore tries again.
func TestRestore_FailsOnce(t *testing.T) {
	f := database(t, "")
	f.open(t)
	f.restore(t)
	f.Address()
	f.engine.failing = "copy"
	_, err := f.Restore(t.Context(), contender)
	testenv.Fails(t, err, "copy failed")
	f.engine.failing = ""
	f.engine.since()
	f.restore(t)
	testenv.Contains(t, f.engine.since(), "copy db-1.v1", "run db")
}

// TestKeep: a service that is kept is never stopped, with a warning; its end fails the trial.
func TestKeep(t *testing.T) {
	f := database(t, "keep: true\n")
	f.open(t)
	f.seed(t)
	testenv.Equal(t, strings.Join(*f.warned, ""), "db is not restored (keep: true): a trial finds what the trials before it have written")
	f.engine.since()
	f.restore(t)
	f.Address()
	f.restore(t)
	testenv.Equal(t, f.engine.since(), "")
	f.last().end(bench.Exit{Code: 1})
	_, err := f.Restore(t.Context(), contender)
	testenv.Fails(t, err, "it ended in the trial: exit code 1")
}

// TestClose: nothing is left after any phase, also of one that fails or was interrupted.
func TestClose(t *testing.T) {
	for _, failing := range []string{"image", "create", "run", "exec", "end", "written", "copy", "kill"} {
		f := database(t, "volumes: [/more]\nseed: [{command: [psql]}]\n")
		if f.engine.failing = failing; failing == "exec" { // it does not become ready
			f.spec.Ready.Timeout = 100 * time.Millisecond
		}
		err := f.Open(t.Context(), f.place)
		if err == nil {
			_, err = f.Seed(t.Context(), func(bench.Progress) {})
		}
		if err == nil {
			_, err = f.Restore(t.Context(), contender)
		}
		testenv.Fails(t, err, failing+" failed")
		f.engine.failing = ""
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		testenv.OK(t, f.Close(ended))
		left := f.engine.left()
		testenv.Check(t, len(left) <= 0, "%s: left %q", failing, left)
	}
	f := database(t, "")
	testenv.OK(t, f.Close(t.Context())) // without Open
	testenv.Equal(t, f.Address(), bench.NeedAddress{})
	testenv.Equal(t, f.Info(), bench.NeedInfo{Name: "db", From: "container", Version: "postgres:17"})
	testenv.OK(t, f.Alive(t.Context()))
	f.restore(t)
}

// TestLogs: known lines become warnings with a remedy, once, without passwords; those of the seed
// do not.
func TestLogs(t *testing.T) {
	for line, want := range map[string]string{
		"FATAL: sorry, too many clients already":                                         "use smaller pools",
		"FATAL: remaining connection slots are reserved for roles":                       "use smaller pools",
		"Too many connections":                                                           "use smaller pools",
		"ERR max number of clients reached":                                              "use smaller pools",
		"ERROR: could not resize shared memory segment \"/x\" to 1 bytes":                "raise `shm_size`",
		"write: No space left on device":                                                 "free disk space",
		"MISCONF Redis is configured to save RDB snapshots":                              "refuses writes",
		"FATAL: password authentication failed for user \"app\", password=p@y/ 100%#1":   "use {{.Needs.db.User}} and {{.Needs.db.Password}}",
		"Access denied for user 'app'@'172.18.0.4' (using password: YES)":                "{{.Needs.db.Password}}",
		"blocked by: [FORBIDDEN/12/index read-only / allow delete (api)]; flood-stage":   "its indices are read-only",
		"flood stage disk watermark [95%] exceeded on [node]":                            "its indices are read-only",
		"LOG: database system is ready to accept connections; 12 connections authorized": "",
	} {
		f := database(t, "")
		f.open(t)
		f.last().log(line) // while it is seeded
		f.seed(t)
		f.restore(t)
		testenv.Equal(t, len(*f.warned), 0, line)
		f.Address()
		f.last().log(line)
		f.last().log(line)
		f.restore(t)
		f.Address()
		f.last().log(line)
		f.restore(t)
		got := secret.New(*f.hidden...).Text(strings.Join(*f.warned, "\n"))
		if len(*f.warned) != map[bool]int{true: 1}[want != ""] || !strings.Contains(got, want) || strings.Contains(got, "100%#1") {
			t.Errorf("%s: warned %q, want %q", line, *f.warned, want)
		}
	}
}

// TestExternal: an external service is reached, and not written to, stopped or restored.
func TestExternal(t *testing.T) {
	for host, want := range map[string]bool{"localhost": true, "127.0.0.2": true, "::1": true, "10.0.0.5": false, "db.example": false} {
		testenv.Equal(t, onLoopback(host), want, host)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testenv.OK(t, err)
	defer l.Close()
	go acceptAll(l)
	at := l.Addr().String()
	_, port, _ := net.SplitHostPort(at)
	url := "postgres://app:p%40y%2F%20100%25%231@" + at + "/shop"
	for name, c := range map[string]struct {
		yaml    string
		network needs.Network
		want    bench.NeedAddress
	}{
		"address": {"external: " + at + "\nports: {main: 1, admin: 8080}", needs.Network{}, bench.NeedAddress{Host: "127.0.0.1", Port: port,
			Ports: map[string]string{"main": port, "admin": "8080"}}},
		"URL": {"external: 'postgres://app:${PW}@" + at + "/shop'", needs.Network{}, bench.NeedAddress{URL: url, Host: "127.0.0.1", Port: port,
			Ports: map[string]string{"main": port}, User: "app", Password: "p@y/ 100%#1", Database: "shop", Kind: bench.Postgres}},
		"named": {"external: 'postgres://app:${PW}@" + at + "/shop'", needs.Network{Host: "host.docker.internal", Named: true},
			bench.NeedAddress{URL: strings.Replace(url, "127.0.0.1", "host.docker.internal", 1), Host: "host.docker.internal", Port: port,
				Ports: map[string]string{"main": port}, User: "app", Password: "p@y/ 100%#1", Database: "shop", Kind: bench.Postgres}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, c.yaml)
			f.place.Network = c.network
			f.open(t)
			testenv.Equal(t, f.Address(), c.want)
			testenv.Equal(t, f.seed(t), "")
			f.restore(t)
			testenv.OK(t, f.Alive(t.Context()))
			testenv.OK(t, f.Close(t.Context()))
			testenv.Equal(t, f.engine.since(), "")
			testenv.Check(t, !strings.Contains(f.Info().String()+f.Info().URL, "100%"),
				"shows a password: %v", f.Info())
			testenv.Equal(t, Kind.Traits(bench.NeedSpec{From: f.from}).Restarts, false)
		})
	}
	f := newFixture(t, "external: "+at)
	f.place.Network = needs.Network{Host: "127.0.0.1",
		Peers: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}} // where a relay can listen
	f.open(t)
	testenv.Check(t, f.Address().Port != port, "no relay")
	testenv.OK(t, accepts(t.Context(), net.JoinHostPort(f.Address().Host, f.Address().Port), usual.open))
	testenv.Contains(t, strings.Join(*f.warned, ""), "locbench relays its connections")
	testenv.OK(t, f.Close(t.Context()))
	testenv.Check(t, accepts(t.Context(), net.JoinHostPort(f.Address().Host, f.Address().Port), 0) != nil, "the relay is left")

	f = newFixture(t, "external: 127.0.0.1:1")
	testenv.Fails(t, f.Open(t.Context(), f.place), "db: 127.0.0.1:1 does not respond")
	f = newFixture(t, "external: 'postgres://app:${NONE}@h/'")
	testenv.Fails(t, f.Open(t.Context(), f.place), "environment variable unset or empty: NONE")
}

// TestConcurrent: what may be called at any time may be called while it is restored.
func TestConcurrent(t *testing.T) {
	f := database(t, "")
	f.open(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 200 {
			f.Address()
			f.Info()
			f.Read()
			_ = f.Alive(t.Context())
			time.Sleep(100 * time.Microsecond)
		}
	}()
	for range 5 {
		f.restore(t)
	}
	<-done
}

// TestPaused: a need that is paused from outside is reported with its name, and not alive although
// the kernel accepts connections.
func TestPaused(t *testing.T) {
	f := newFixture(t, "image: a\nports: 1")
	var got []string
	f.place.Happened = func(in bench.Incident) { got = append(got, string(in.Kind)+" "+in.Text) }
	f.open(t)
	testenv.OK(t, f.Alive(t.Context()))
	for _, kind := range []bench.IncidentKind{bench.IncidentPaused, bench.IncidentUnpaused, bench.IncidentOOM} {
		f.last().spec.OnIncident(bench.Incident{Kind: kind, Text: "it happened"})
	}
	testenv.Equal(t, strings.Join(got, "; "), "need_paused db: it happened; unpaused db: it happened")
	f.last().paused = "paused externally (docker pause)"
	testenv.Fails(t, f.Alive(t.Context()), "paused externally")
}
