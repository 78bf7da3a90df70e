//go:build acceptance && database && linux

package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// slowly is a seed after which the temporary server of an image still runs.
const slowly = "sleep 2\n"

// TestReady: what databases and other services do while they start, and the checks that people
// write for them. The commands of a seed fail if the need is not ready before, and so does a
// contender.
func TestReady(t *testing.T) {
	const (
		ping   = `HEALTHCHECK CMD ["/backing", "ping"]`
		strict = `HEALTHCHECK --interval=5s --retries=2 CMD ["/backing", "sign-in"]`
		curl   = `HEALTHCHECK CMD ["curl", "-f", "http://localhost:7000/health"]`
		socket = "command: [socket]\n"
		line   = "database system is ready to accept connections"
		trust  = "environment: {POSTGRES_HOST_AUTH_METHOD: trust}\nseed: [1.sh, {command: [psql, -h, db, -U, postgres, -c, SELECT 1]}]\n"
		empty  = "environment: {MARIADB_ALLOW_EMPTY_ROOT_PASSWORD: \"1\", MARIADB_DATABASE: shop}\n" +
			"seed: [1.sh, 2.sql, {command: [mariadb, -h, db, -e, SELECT 1]}]\n"
	)
	for name, c := range map[string]struct {
		image func(testing.TB) string // nil: backing
		build []string                // more lines of the Dockerfile of backing
		mode  string                  // of the contender; "": client
		need  string
		want  string // "": it is ready
	}{
		"R1 first a socket":                         {need: socket},
		"R1 first a socket, on which a check works": {build: []string{ping}, need: socket},
		"R1 PostgreSQL":                             {image: postgresImage, mode: "connect", need: trust},
		"R1 PostgreSQL, checked on its socket":      {image: postgresImage, mode: "connect", need: trust + "ready: {command: [pg_isready, -U, postgres]}"},

		"R2 its line comes twice":    {need: "command: [line]\nready: {log: {line: " + line + ", times: 2}}"},
		"R2 the first line is early": {need: "command: [line]\nready: {log: {line: " + line + "}}"},
		"R2 R3 PostgreSQL": {image: postgresImage, mode: "connect",
			need: trust + "ready: {log: {line: " + line + ", times: 2}, timeout: 20s}"},

		"R4 MariaDB":                       {image: mariadbImage, mode: "mariadb", need: empty},
		"R4 MariaDB, pinged on its socket": {image: mariadbImage, mode: "mariadb", need: empty + "ready: {command: [mariadb-admin, ping]}"},

		"R6 slower than its health check allows": {build: []string{strict}, need: "command: [slow]"},

		"R8 its health check is not in the image": {build: []string{curl}, need: "command: [serve]",
			want: "its image does not have this command"},
		"R8 checked from outside": {build: []string{curl}, need: "command: [serve]\nready: {http: {path: /health}}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			image := c.image
			if image == nil {
				c.need += "\nseed: [{command: [/backing, sign-in]}]"
				image = func(testing.TB) string { return backingImage(t, c.build...) }
			}
			o := observe(t, image(t), "")
			mode := c.mode
			if mode == "" {
				mode = "client"
			}
			dir := o.profile(t, mode, c.need, "")
			for file, text := range map[string]string{
				"1.sh": slowly, "2.sql": "CREATE TABLE books (title text);\n",
			} {
				writeFile(t, filepath.Join(dir, file), text)
			}
			if c.want != "" {
				_, trials := o.run(t, dir, 1, "needs: db: ", c.want)
				testenv.Equal(t, len(trials), 0, "trials")
				return
			}
			_, trials := o.run(t, dir, 0)
			for _, trial := range trials {
				testenv.Check(t, trial.State == bench.TrialComplete && trial.Steps[0].Load.FailedTotal() == 0, "%s", states(trials))
			}
			testenv.Equal(t, len(trials), 2)
			starts := len(o.outputs())
			testenv.Check(t, starts >= 3, "%d starts", starts)
		})
	}
}

// TestReady_SeedFails (R7): the second of three files fails. The error names it and its line, and
// nothing is left of what a second start would take for seeded.
func TestReady_SeedFails(t *testing.T) {
	const (
		postgres = "environment: {POSTGRES_PASSWORD: hunter22}\n"
		mariadb  = "environment: {MARIADB_ROOT_PASSWORD: hunter22, MARIADB_DATABASE: shop}\n"
	)
	for name, c := range map[string]struct {
		image func(testing.TB) string
		need  string
		want  []string
	}{
		"PostgreSQL":         {postgresImage, postgres + "seed: [1.sql, 2.sql, 3.sql]", []string{"2.sql, line 3: exit code 3", "02-2.sql:3: ERROR:  syntax error"}},
		"PostgreSQL, zipped": {postgresImage, postgres + "seed: [1.sql, 2.sql.gz, 3.sql]", []string{"2.sql.gz: exit code 3", "LINE 1: INSERTT INTO b"}},
		"PostgreSQL, script": {postgresImage, postgres + "seed: [1.sql, 2.sh, 3.sql]", []string{"2.sh: exit code 7", "missing table"}},
		"PostgreSQL, exit 0": {postgresImage, postgres + "seed: [1.sql, exit.sh, 3.sql]", []string{"exit.sh: exit code 0"}},
		"MariaDB":            {mariadbImage, mariadb + "seed: [1.sql, 2.sql, 3.sql]", []string{"2.sql, line 3: exit code 1", "ERROR 1064 (42000) at line 3"}},
		"MariaDB, exit 0":    {mariadbImage, mariadb + "seed: [1.sql, exit.sh, 3.sql]", []string{"exit.sh: exit code 0"}},
		"PostgreSQL, command": {postgresImage, postgres + "seed: [1.sql, {command: [psql, -U, postgres, -f, /seed/2.sql, -v, ON_ERROR_STOP=1]}]",
			[]string{"command psql -U postgres -f /seed/2.sql", "psql:/seed/2.sql:3: ERROR:  syntax error"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := observe(t, c.image(t), "")
			dir := o.profile(t, "client", c.need, "")
			const bad = "CREATE TABLE b (i int);\n\nINSERTT INTO b;\n"
			for file, text := range map[string]string{
				"1.sql": "CREATE TABLE a (i int);\n", "2.sql": bad, "2.sql.gz": zipped(t, bad),
				"2.sh": "echo missing table\nexit 7\n", "exit.sh": "exit 0\n", "3.sql": "CREATE TABLE c (i int);\n",
			} {
				writeFile(t, filepath.Join(dir, file), text)
			}
			testenv.OK(t, os.Chmod(filepath.Join(dir, "exit.sh"), 0o644)) // it is read in
			o.run(t, dir, 1, append(c.want, "db: seed failed")...)
			testenv.Equal(t, len(o.outputs()), 1, "starts")
		})
	}
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	testenv.OK(t, errors.Join(err, w.Close()))
	return b.String()
}

// watch is an entrypoint that hashes the files of a folder, with owners and rights, before the
// server starts.
const watch = `cd "$1" && shift
{ find . -type f -print0 | sort -z | xargs -0r sha256sum; find . -printf '%y %p %u %g %m\n' | sort; } | sha256sum >/tmp/files
exec "$@"
`

// TestRestore: before each trial the files of a database are the same, and so is its dump, whatever
// the trials before have written. The copy of 100 MB takes 3 s at most.
func TestRestore(t *testing.T) {
	for name, c := range map[string]struct {
		image          func(testing.TB) string
		folder, server string
		dump           string // prints it if the server is ready
		mode           string
		seed, need     string
		rounds         int
		megabytes      int // of its files
	}{
		"PostgreSQL": {postgresImage, "/var/lib/postgresql/data", "docker-entrypoint.sh, postgres",
			"pg_isready -q -h db && pg_dump -h db -U postgres shop | grep -v restrict", "",
			`CREATE TABLE books (id serial PRIMARY KEY, title text NOT NULL);
INSERT INTO books (title) SELECT 'book ' || n FROM generate_series(1, 1000) n;
CREATE TABLE pages (n int, text text);
INSERT INTO pages SELECT n, repeat(md5(n::text), 30) FROM generate_series(1, 60000) n;
`, "seed: [seed.sql, {command: [psql, -U, postgres, -c, CHECKPOINT]}]", 6, 160},
		"MariaDB": {mariadbImage, "/var/lib/mysql", "docker-entrypoint.sh, mariadbd",
			"healthcheck.sh --connect --innodb_initialized && mariadb-dump -h db --skip-dump-date shop", "mariadb",
			"CREATE TABLE books (id int AUTO_INCREMENT PRIMARY KEY, title text);\nINSERT INTO books (title) SELECT seq FROM seq_1_to_1000;\n",
			"environment: {MARIADB_ALLOW_EMPTY_ROOT_PASSWORD: \"1\", MARIADB_DATABASE: shop}\nseed: [seed.sql]", 3, 120},
		"Redis": {redisImage, "/data", "docker-entrypoint.sh, redis-server, --appendonly, \"yes\"",
			"redis-cli -h db ping | grep -q PONG && redis-cli -h db get count", "redis", "",
			"seed: [{command: [redis-cli, set, count, \"7\"]}]", 3, 0},
	} {
		t.Run(name, func(t *testing.T) {
			o := observe(t, c.image(t), "until [ -s /tmp/dump ]; do sleep 0.1; done; cat /tmp/files /tmp/dump")
			need := c.need + "\nentrypoint: [bash, /watch.sh, " + c.folder + "]\ncommand: [" + c.server + "]\nvolumes: [./watch.sh:/watch.sh:ro]\n" +
				// The contender starts when this has succeeded.
				"ready: {command: [bash, -o, pipefail, -c, '[ -s /tmp/dump ] || { " + c.dump + " | sha256sum >/tmp/new && mv /tmp/new /tmp/dump; }'], timeout: 2m}"
			var dir string
			if c.mode == "" {
				dir = o.books(t, need, fmt.Sprintf("rounds: %d\nruntime: process\n", c.rounds))
				editFile(t, filepath.Join(dir, "p.yaml"), "contenders: [books]", "contenders: [books, 'books:again']", "steps: [1, 4]", "steps: [4]")
				editFile(t, filepath.Join(dir, "svc/books/service.yaml"), "process:", "variants: [{name: again}]\nprocess:")
			} else {
				dir = o.profile(t, c.mode, need, fmt.Sprintf("rounds: %d\n", c.rounds))
				editFile(t, filepath.Join(dir, "p.yaml"), "rounds: 2\n", "")
			}
			writeFile(t, filepath.Join(dir, "watch.sh"), watch)
			writeFile(t, filepath.Join(dir, "seed.sql"), c.seed)
			_, trials := o.run(t, dir, 0)
			for _, trial := range trials {
				testenv.Check(t, trial.State == bench.TrialComplete && trial.Steps[0].Load.Succeeded > 0, "%s", states(trials))
			}
			want := c.rounds
			if c.mode == "" {
				want *= 2
			}
			testenv.Equal(t, len(trials), want, "trials")
			all := o.outputs()[1:] // without the first start
			if len(all) < want || len(slices.Compact(slices.Clone(all))) != 1 || strings.Count(all[0], "\n") != 2 {
				t.Errorf("%d trials began with %q", want, all)
			}
			took := o.copies()
			t.Logf("%v; from the copy to the start: %v; restored and ready: %v", all[0], took, restores(t, filepath.Join(dir, "out")))
			// Other work on the machine makes some of them slower.
			if fastest := slices.Min(took); c.megabytes > 0 && fastest > 3*time.Second*time.Duration(c.megabytes)/100 {
				t.Errorf("a copy takes %v", fastest)
			}
		})
	}
}

// restores returns how long the restores of a run took, with the starts until the need is ready.
func restores(t *testing.T, out string) (all []time.Duration) {
	t.Helper()
	testenv.OK(t, eachEvent(out, func(r bench.Record) error {
		if e, ok := r.Event.(bench.PhaseEnded); ok && e.Phase == bench.PhaseRestore {
			all = append(all, e.Took.Round(10*time.Millisecond))
		}
		return nil
	}))
	return all
}

// TestExternal: a database that runs already is the same after a run whose contender only reads. A
// seed for it is refused.
func TestExternal(t *testing.T) {
	for _, runtime := range []string{"process", "docker"} {
		t.Run(runtime, func(t *testing.T) {
			t.Parallel()
			o := observe(t, postgresImage(t), "")
			dir := o.books(t, "limits: {cpus: 1}", "rounds: 2\nruntime: "+runtime+"\n")
			id := dockerDo(t, "run", "-d", "-p", "127.0.0.1::5432", "-e", "POSTGRES_HOST_AUTH_METHOD=trust", "-e", "POSTGRES_DB=shop",
				"-v", filepath.Join(dir, "schema.sql")+":/docker-entrypoint-initdb.d/schema.sql:ro", o.image)
			t.Cleanup(func() { dockerDo(t, "rm", "-fv", id) })
			testenv.Until(t, 2*time.Minute, "it is ready", func() bool {
				return exec.Command("docker", "exec", id, "sh", "-c", "pg_isready -q -h $HOSTNAME").Run() == nil
			})
			at := dockerDo(t, "port", id, "5432")
			dump := func() string {
				return dockerDo(t, "exec", id, "sh", "-c", `pg_dump -U postgres shop | grep -v restrict; psql -U postgres -At shop `+
					`-c "select last_value, is_called from books_id_seq" -c "select n_tup_ins, n_tup_upd, n_tup_del from pg_stat_user_tables"`)
			}
			testenv.Until(t, time.Minute, "its counters are up to date", func() bool {
				before := dump()
				time.Sleep(2 * time.Second)
				return before == dump()
			})
			before := dump()
			testenv.Contains(t, before, "CREATE TABLE public.books", "book 1000")

			profile := readFile(t, filepath.Join(dir, "p.yaml"))
			begin, end := strings.Index(profile, "  db:\n"), strings.Index(profile, "setup:")
			external := "  db: {external: 'postgres://postgres@" + at + "/shop'}\n"
			read := profile[:begin] + external + strings.Replace(profile[end:], "  - {post: /books, expect: {status: 201}}\n", "", 1)
			writeFile(t, filepath.Join(dir, "p.yaml"), read)
			_, trials := o.run(t, dir, 0)
			testenv.Check(t, len(trials) == 2 && trials[1].State == bench.TrialComplete && trials[1].Steps[1].Load.Succeeded > 0, "%s", states(trials))
			testenv.Equal(t, dump(), before, "dump")
			testenv.Equal(t, dockerDo(t, "inspect", "-f", "{{.State.Running}} {{.RestartCount}}", id), "true 0")

			other := t.TempDir()
			writeFile(t, filepath.Join(other, "schema.sql"), "DROP TABLE books;\n")
			writeFile(t, filepath.Join(other, "p.yaml"), strings.Replace(read, external,
				"  db: {external: 'postgres://postgres@"+at+"/shop', seed: [schema.sql]}\n", 1))
			code, _, stderr := locbench(t, other, "run", "--headless", "-p", "p.yaml", "-o", "out")
			testenv.Equal(t, code, 2)
			testenv.Contains(t, stderr, "external", "seed")
			testenv.Equal(t, dump(), before, "dump")
		})
	}
}

// TestNeed_EachPhase ends locbench while its database starts, is seeded, kept, restored and used.
// After a signal nothing is left, after SIGKILL clean leaves nothing, and --resume completes the
// run.
func TestNeed_EachPhase(t *testing.T) {
	started := func(n int) func(*observer, *disturbed) {
		return func(o *observer, d *disturbed) {
			o.until(d, "the container starts", func() bool { return o.count("start") >= n })
		}
	}
	event := func(match func(bench.Record) bool) func(*observer, *disturbed) {
		return func(_ *observer, d *disturbed) { d.waitEvent(d.out, match) }
	}
	for i, c := range []struct {
		name    string
		reach   func(*observer, *disturbed)
		resumed bool
	}{
		{"start", started(1), false},
		{"seed of its image", func(o *observer, d *disturbed) {
			o.until(d, "it is seeded", func() bool { return strings.Contains(strings.Join(o.outputs(), ""), "seeding") })
		}, false},
		{"seed", event(phaseStarted(bench.PhaseSeed)), false},
		{"keep", event(phaseStarted(bench.PhaseRestore)), false},
		{"copy", func(o *observer, d *disturbed) {
			o.until(d, "it is copied", func() bool { return o.count("destroy") >= 1 && o.count("create") >= 3 })
		}, true},
		{"start again", started(2), false},
		{"launch", event(phaseStarted(bench.PhaseLaunch)), false},
		{"load", event(stepStarted(1)), true},
		{"stop", event(phaseStarted(bench.PhaseStop)), false},
		{"restore", event(when(func(e bench.PhaseEnded) bool { return e.Phase == bench.PhaseStop })), false},
		{"start of the second round", started(3), false},
	} {
		for k, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
			t.Run(c.name+" "+signal.String(), func(t *testing.T) {
				t.Parallel()
				o := observe(t, postgresImage(t), "until [ -e /tmp/seeding ]; do sleep 0.1; done; echo seeding")
				dir := o.profile(t, "connect", "environment: {POSTGRES_HOST_AUTH_METHOD: trust}\n"+
					"seed: [slow.sh, {command: [sleep, \"3\"]}]", "")
				editFile(t, filepath.Join(dir, "p.yaml"), "[1 for 300ms]", "[1 for 300ms, 1 for 2s]")
				if (i+k)%2 == 1 {
					editFile(t, filepath.Join(dir, "p.yaml"), "runtime: process", "runtime: docker")
				}
				writeFile(t, filepath.Join(dir, "slow.sh"), "touch /tmp/seeding\nsleep 2\n")
				d := disturbIn(t, dir, nil, "run", "--headless", "-p", "p.yaml")
				c.reach(o, d)
				d.endsBy(signal, strings.ReplaceAll(c.name, "load", "load of a need"))
				o.nothingLeft(t)
				if c.resumed {
					d.resumes()
					o.nothingLeft(t)
				}
			})
		}
	}
}

// until waits for something outside of locbench while it runs.
func (o *observer) until(d *disturbed, what string, is func() bool) {
	d.t.Helper()
	testenv.Until(d.t, 3*time.Minute, what, func() bool {
		select {
		case <-d.done:
			d.t.Fatalf("it ended before %s; it said:\n%s", what, d.stderr.String())
		default:
		}
		return is()
	})
}

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

// TestNeed_OtherMachine: seeds, an env file, a file and a folder reach a need whose engine has none of them, but
// others at the same paths, as if it were on another machine. Its contender finds what they say in each trial.
func TestNeed_OtherMachine(t *testing.T) {
	t.Parallel()
	unshare := testenv.Program(t, "docker", "unshare")
	if os.Getuid() != 0 {
		t.Skip("needs root, for a mount namespace")
	}
	o := observe(t, postgresImage(t), "")
	dir := o.books(t, `env_file: db.env
command: [postgres, -c, config_file=/etc/own/postgresql.conf, -c, hba_file=/etc/hba.conf]
volumes: ["./own:/etc/own:ro", "./hba.conf:/etc/hba.conf:ro"]
seed: [schema.sql, {command: [sh, -c, 'psql -U postgres -d shop -v who="$$WHO" -f /seed/more.sql']}]`, "rounds: 2\nruntime: docker\n")
	editFile(t, filepath.Join(dir, "p.yaml"), "count: 1000", "count: 1001",
		"  - {post: /books", "  - {get: /books/1001, expect: {json: {title: \"a book by the env file\"}}}\n  - {post: /books")
	for name, text := range map[string]string{
		"db.env": "WHO=the env file\n", "own/postgresql.conf": "listen_addresses = '*'\n", "own/deep/title": "a book by ",
		"hba.conf": "local all all trust\nhost all all all trust\n",
		"more.sql": "INSERT INTO books (title) VALUES (pg_read_file('/etc/own/deep/title') || :'who');\n",
	} {
		writeFile(t, filepath.Join(dir, name), text)
	}
	parent, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	theirs := filepath.Join(parent, "job")
	testenv.OK(t, os.CopyFS(theirs, os.DirFS(dir)))
	for _, name := range []string{"own/postgresql.conf", "own/deep/title", "hba.conf", "more.sql", "schema.sql"} {
		writeFile(t, filepath.Join(theirs, name), "of the engine's machine\n")
	}
	const script = `mount -t tmpfs tmpfs "$1" && cp -r "$2" "$1/job" && cd "$1/job" && shift 2 && exec "$@"`
	c := begin(t, exec.Command(unshare, "--mount", "sh", "-c", script, "sh", parent, dir, testenv.Locbench(t), "run", "--headless", "-p", "p.yaml", "-o", out))
	c.succeeds(5 * time.Minute)
	o.nothingLeft(t)
	_, trials := readClean(t, out)
	testenv.Equal(t, len(trials), 2, "trials")
	for _, trial := range trials {
		testenv.Check(t, trial.State == bench.TrialComplete && trial.Steps[0].Load.FailedTotal() == 0, "%s", states(trials))
	}
	t.Logf("restored and ready: %v", restores(t, out))
}
