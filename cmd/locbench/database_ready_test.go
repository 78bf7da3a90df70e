//go:build acceptance && database && linux

package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"testing"

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
		strict = `HEALTHCHECK --interval=5s --retries=2 CMD ["/backing", "sign-in", "strict"]`
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

		"R5 PostgreSQL": {image: postgresImage, need: "environment: {POSTGRES_USER: app, POSTGRES_PASSWORD: first}\nseed: [postgres.sql]",
			want: `responds, but refuses user app: `},
		"R5 MariaDB": {image: mariadbImage, need: "environment: {MARIADB_RANDOM_ROOT_PASSWORD: \"1\", MARIADB_USER: app, MARIADB_PASSWORD: first, " +
			"MARIADB_DATABASE: shop}\nseed: [mariadb.sql]", want: `responds, but refuses user app: ERROR 1045 (28000): Access denied for user 'app'`},
		"R5 a ping that counts a refusal as success": {need: "command: [refuse]\nready: {command: [/backing, sign-in]}",
			want: "responds, but refuses the user of /backing sign-in: ERROR: Access denied for user 'app'"},
		"R5 a refusal": {need: "command: [refuse]\nready: {command: [/backing, sign-in, strict]}",
			want: "responds, but refuses the user of /backing sign-in strict: ERROR: Access denied"},

		"R6 slower than its health check allows": {build: []string{strict}, need: "command: [slow]"},

		"R8 its health check is not in the image": {build: []string{curl}, need: "command: [serve]",
			want: "its image does not have this command"},
		"R8 checked from outside": {build: []string{curl}, need: "command: [serve]\nready: {http: {path: /health}}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			image := c.image
			if image == nil {
				c.need += "\nseed: [{command: [/backing, sign-in, strict]}]"
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
				"postgres.sql": "ALTER USER app PASSWORD 'second';\n", "mariadb.sql": "SET PASSWORD FOR app = PASSWORD('second');\n",
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
			if starts := len(o.outputs()); starts < 3 {
				t.Errorf("%d starts", starts)
			}
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
