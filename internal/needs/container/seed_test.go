package container

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// oneShots makes containers of seeds end at once with an exit; the others are as before.
func (f fixture) oneShots(exit bench.Exit) {
	service := f.engine.started
	f.engine.started = func(c *fakeServed) {
		if c.spec.Name != "db-seed" {
			service(c)
			return
		}
		c.log("migrating with p@y/ 100%#1")
		c.end(exit)
	}
}

// TestSeed_Once: a container of another image runs once, in order with commands, with the address
// of the service, and is removed.
func TestSeed_Once(t *testing.T) {
	f := database(t, `seed:
- command: [psql, -c, one]
- image: flyway:11
  command: migrate -url='{{.Needs.db.URL}}' -q "a b" -locations=filesystem:/seed/rows.sql
  entrypoint: /flyway
  user: 7:8
  environment: {HOST: "{{.Needs.db.Host}}:{{.Needs.db.Port}}", TOKEN: "${PW}", LEVEL: "1"}
  volumes: [./pw.txt:/pw:ro]
- command: [psql, -c, two]`)
	f.oneShots(bench.Exit{})
	f.open(t)
	f.engine.since()
	var said []string
	note, err := f.Seed(t.Context(), func(p bench.Progress) { said = append(said, fmt.Sprintf("%d %s", p.Done, p.Text)) })
	testenv.OK(t, err)
	testenv.Equal(t, note, "2 commands, 1 container")
	testenv.Equal(t, f.engine.since(), "exec psql -c one\nrun db-seed pw.txt:/pw rows.sql:/seed/rows.sql\nkill\nexec psql -c two")
	got := f.last().spec
	testenv.Equal(t, strings.Join(got.Command, "|"),
		"migrate|-url=postgres://postgres:p%40y%2F%20100%25%231@db:5432/postgres|-q|a b|-locations=filesystem:/seed/rows.sql")
	testenv.Equal(t, fmt.Sprintln(got.Image, got.Entrypoint, got.User, got.Env, got.Port),
		"flyway:11 [/flyway] 7:8 map[HOST:db:5432 LEVEL:1 TOKEN:p@y/ 100%#1] 0\n")
	testenv.Equal(t, len(said), 3, said)
	testenv.Check(t, !strings.Contains(strings.Join(said, ""), "100%"), "%q", said)
}

// TestSeed_OnceFails: with its exit code and last lines, and nothing of it is left.
func TestSeed_OnceFails(t *testing.T) {
	for name, c := range map[string]struct {
		exit bench.Exit
		want string
	}{
		"exit code": {bench.Exit{Code: 3}, "exit code 3; its last lines:\n  migrating with "},
		"killed":    {bench.Exit{Code: 137, Signal: "SIGKILL", OOMKilled: true}, "killed by SIGKILL (out of memory)"},
	} {
		t.Run(name, func(t *testing.T) {
			f := database(t, "seed: [{image: 'flyway:11', command: migrate}, {command: [psql]}]")
			f.oneShots(c.exit)
			f.open(t)
			_, err := f.Seed(t.Context(), func(bench.Progress) {})
			testenv.Fails(t, err, "db: seed failed: container of flyway:11 migrate: "+c.want)
			testenv.Check(t, !strings.Contains(f.engine.since(), "psql"), "the next step was run")
		})
	}
	f := database(t, "seed: [{image: a}]")
	f.engine.failing = "run db-seed"
	f.open(t)
	testenv.Fails(t, testenv.Err(f.Seed(t.Context(), func(bench.Progress) {})), "db: seed failed: container of a: run db-seed failed")

	f = database(t, "seed: [{image: a}]")
	service := f.engine.started
	f.engine.started = func(c *fakeServed) {
		if service(c); c.spec.Name == "db-seed" {
			f.engine.running[0].end(bench.Exit{Code: 1})
		}
	}
	f.open(t)
	testenv.Fails(t, testenv.Err(f.Seed(t.Context(), func(bench.Progress) {})), "the service has ended meanwhile")
}

// TestMigrated: each contender gets the state that its start and the steps after it have made of
// that of all; the others do not see it. All states are removed.
func TestMigrated(t *testing.T) {
	f := database(t, "seed: [schema.sql, {start: service}, {command: [psql, -c, ANALYZE, -f, /seed/schema.sql]}]")
	f.engine.exec = func(c *fakeServed, command []string) (string, int, error) {
		if command[0] == "psql" {
			c.write("analyzed,")
		}
		return "", 0, nil
	}
	f.open(t)
	testenv.Check(t, strings.HasPrefix(f.seed(t), "1 file at its start"), "note")
	other := bench.Selection{Contender: "bookings", Variant: "pooled"}
	inUse := func() string { return f.engine.volumes[f.last().spec.Mounts[0].Volume] }
	files := func() (targets string) {
		for _, m := range f.last().spec.Mounts[1:] {
			targets += m.Target
		}
		return targets
	}
	migrate := func(of bench.Selection, writes string) {
		t.Helper()
		testenv.Equal(t, f.Unmigrated(of), true)
		testenv.OK(t, testenv.Err(f.Restore(t.Context(), of)))
		testenv.Equal(t, files(), "/seed/schema.sql", "files of the steps that follow")
		f.Address()
		f.last().write(writes)
		note, err := f.Migrated(t.Context(), of, func(bench.Progress) {})
		testenv.OK(t, err)
		testenv.Equal(t, note, "1 command")
		testenv.Equal(t, f.Unmigrated(of), false)
	}
	migrate(contender, "v1,")
	for of, want := range map[bench.Selection]string{contender: "++v1,analyzed,+", other: "++"} {
		testenv.OK(t, testenv.Err(f.Restore(t.Context(), of)))
		testenv.Equal(t, inUse(), want, of)
		testenv.Equal(t, files() == "", of == contender, "files of a restored one")
		f.engine.since()
		testenv.OK(t, testenv.Err(f.Restore(t.Context(), of)))
		testenv.Equal(t, f.engine.since(), "", "again, though no contender has used it")
	}
	migrate(other, "v2,")
	for range 2 {
		for of, want := range map[bench.Selection]string{contender: "++v1,analyzed,+", other: "++v2,analyzed,+"} {
			testenv.OK(t, testenv.Err(f.Restore(t.Context(), of)))
			testenv.Equal(t, inUse(), want, of)
			f.last().write("orders")
			f.Address()
		}
	}
	testenv.Equal(t, len(f.engine.volumes), 4, "that of all, one each, and the one in use")
}

// TestMigrated_Fails: what a step or a stop has spoiled is not a state; the next contender begins
// with that of all.
func TestMigrated_Fails(t *testing.T) {
	for failing, want := range map[string]string{
		"exec psql": "db: seed failed: command psql: exec psql failed", "end": "db: end failed",
	} {
		f := database(t, "seed: [{start: service}, {command: [psql]}]")
		f.open(t)
		f.seed(t)
		f.restore(t)
		f.Address()
		f.last().write("half")
		f.engine.failing = failing
		_, err := f.Migrated(t.Context(), contender, func(bench.Progress) {})
		testenv.Fails(t, err, want)
		testenv.Equal(t, f.Unmigrated(contender), true)
		f.engine.failing = ""
		f.restore(t)
		testenv.Equal(t, f.engine.volumes[f.last().spec.Mounts[0].Volume], "++", failing)
	}
}

// TestTold: a line in the form in which a client writes errors ends the run, though the client exits
// with 0; what has the word, or comes from another program, does not.
func TestTold(t *testing.T) {
	const (
		none  = ""
		file  = "psql:/seed/rows.sql:3: ERROR:  relation \"itms\" does not exist"
		plain = "ERROR:  relation \"itms\" does not exist"
		redis = "ERR unknown command 'SETT', with args beginning with: 'a' 'b' "
		mysql = "ERROR 1146 (42S02) at line 3: Table 'shop.itms' doesn't exist"
	)
	for _, c := range []struct{ command, output, want string }{
		{"[psql, -f, /seed/rows.sql]", "CREATE TABLE\n" + file + "\nLINE 1: INSERT\nINSERT 0 60", file},
		{"psql -f /seed/rows.sql", file, file},
		{"cat /seed/rows.sql | /usr/bin/psql -U postgres", plain, plain},
		{"[psql, -c, x]", "psql:a.sql:9: FATAL:  terminating connection", "psql:a.sql:9: FATAL:  terminating connection"},
		{"[psql, -c, x]", " ERROR: a row\nno ERROR: here\nERRORS: 1\npsql:a.sql:1: NOTICE:  a:1: ERROR: no\n error | n", none},
		{"[psql, -f, x]", redis + "\n" + mysql, none},
		{"[redis-cli, sett, a, b]", "OK\n" + redis, redis},
		{"sh -c 'valkey-cli < x'", "1) OK\n2) (error) WRONGTYPE Operation against", "2) (error) WRONGTYPE Operation against"},
		{"[redis-cli, get, a]", "NOAUTH Authentication required.", "NOAUTH Authentication required."},
		{"[redis-cli, get, a]", "an ERR of mine\nERROR\nBUSY street\nLOADING dock\n(error)", none},
		{"[sh, -c, 'mysql --force < /seed/rows.sql; true']", "x\n" + mysql, mysql},
		{"[mariadb, -e, x]", "ERROR in a row\nERROR 12 (1)\n" + plain, none},
		{"[tool, psqlx, my-redis-cli2]", file + "\n" + redis + "\n" + mysql, none},
	} {
		t.Run(c.command+" "+c.output, func(t *testing.T) {
			f := database(t, "seed: [{command: "+c.command+"}]")
			f.engine.exec = func(*fakeServed, []string) (string, int, error) { return c.output, 0, nil }
			f.open(t)
			_, err := f.Seed(t.Context(), func(bench.Progress) {})
			if c.want == none {
				testenv.OK(t, err)
				return
			}
			testenv.Fails(t, err, "db: seed failed: command ", ": "+strings.TrimSpace(c.want)+"\n  (exit code 0", ">/dev/null 2>&1")
		})
	}
	f := database(t, "seed: [{image: tools, command: [psql, -f, x]}]")
	service := f.engine.started
	f.engine.started = func(c *fakeServed) {
		if service(c); c.spec.Name == "db-seed" {
			c.log(file)
			c.end(bench.Exit{})
		}
	}
	f.open(t)
	testenv.Fails(t, testenv.Err(f.Seed(t.Context(), func(bench.Progress) {})), "db: seed failed: container of tools psql -f x: "+file)
}

// TestWithin: a step that takes long says what it waits for, once, and ends at its limit.
func TestWithin(t *testing.T) {
	for name, c := range map[string]struct {
		takes, limit time.Duration
		said         int
		err          string
	}{
		"short":   {9 * time.Second, time.Minute, 0, ""},
		"long":    {50 * time.Second, time.Minute, 1, ""},
		"endless": {time.Hour, stepTimeout, 1, "not done after 10m; a longer one needs `timeout`"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, said := time.Now(), 0
				err := within(t.Context(), c.limit, func() { said++ }, func(ctx context.Context) error {
					select {
					case <-time.After(c.takes):
						return nil
					case <-ctx.Done():
						return ctx.Err()
					}
				})
				synctest.Wait() // for what the timer has begun
				testenv.Equal(t, said, c.said)
				testenv.Equal(t, time.Since(began), min(c.takes, c.limit))
				if c.err == "" {
					testenv.OK(t, err)
				} else {
					testenv.Fails(t, err, c.err)
				}
			})
		})
	}
	f := database(t, "seed: [{command: [sleep], timeout: 1s}]")
	testenv.Equal(t, time.Duration(f.spec.Seed[0].Timeout), time.Second)
}

// TestSeed_OnceLimits: a container that runs once has the limits of its need.
func TestSeed_OnceLimits(t *testing.T) {
	f := database(t, "limits: {cpus: 0.5, memory: 64M, pids: 9}\nseed: [{image: a}]")
	f.oneShots(bench.Exit{})
	f.open(t)
	f.seed(t)
	testenv.Equal(t, f.last().spec.Limits, bench.Limits{CPUs: .5, Memory: 64 << 20, PIDs: 9})
}
