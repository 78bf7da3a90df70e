//go:build acceptance && database && linux

package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

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
