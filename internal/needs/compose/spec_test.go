package compose

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// TestRead: keys have the meanings of compose files, and survive writing.
func TestRead(t *testing.T) {
	for name, c := range map[string]struct{ yaml, want string }{
		"image":     {"image: postgres:17", `{"image":"postgres:17"}`},
		"by digest": {"image: 'pg@sha256:abc'", `{"image":"pg@sha256:abc"}`},
		"command": {"image: a\ncommand: postgres -c 'max_connections=20 0' \"x\\\"y\" a\\ b",
			`{"image":"a","command":["postgres","-c","max_connections=20 0","x\"y","a b"]}`},
		"words": {"image: a\ncommand: [a b, '1', 'true']\nentrypoint: e", `{"image":"a","entrypoint":["e"],"command":["a b","1","true"]}`},
		"environment": {"image: a\nenvironment: {A: '1.10', B: on, C: 644, D: true, E: 2:30, F: $X, G: null, H: p@$$w/0rd#%, I: 'a ${X:-d}'}",
			`{"image":"a","environment":{"A":"1.10","B":"on","C":"644","D":"true","E":"2:30","F":"${X}","G":"${G}","H":"p@$$w/0rd#%","I":"a ${X:-d}"}}`},
		"limits": {"image: a\nlimits: {cpus: '0.75', memory: 460MB, pids: 50}",
			`{"image":"a","limits":{"cpus":0.75,"memory":482344960,"pids":50}}`},
		"port":  {"image: a\nports: 5432", `{"image":"a","ports":{"main":5432}}`},
		"ports": {"image: a\nports: {main: 9092, admin: '8080'}", `{"image":"a","ports":{"admin":8080,"main":9092}}`},
		"ready": {"image: a\nready: {command: [pg_isready, -U, postgres], times: 3, timeout: 90s}",
			`{"image":"a","ready":{"command":["pg_isready","-U","postgres"],"times":3,"timeout_ns":90000000000}}`},
		"in a shell": {"image: a\nready: {command: a | b}", `{"image":"a","ready":{"command":["sh","-c","a | b"]}}`},
		"of compose": {"image: a\nready: {command: [CMD, a, b]}", `{"image":"a","ready":{"command":["a","b"]}}`},
		"its shell":  {"image: a\nready: {command: [CMD-SHELL, a b]}", `{"image":"a","ready":{"command":["sh","-c","a b"]}}`},
		"tcp":        {"image: a\nready: {tcp: 1}", `{"image":"a","ready":{"tcp":1}}`},
		"http": {"image: a\nready: {http: {port: 9000, path: /h, status: 204}}",
			`{"image":"a","ready":{"http":{"port":9000,"path":"/h","status":204}}}`},
		"log":         {"image: a\nready: {log: {line: ready to, times: 2}}", `{"image":"a","ready":{"log":{"line":"ready to","times":2}}}`},
		"healthcheck": {"image: a\nready: healthcheck", `{"image":"a","ready":{"healthcheck":true}}`},
		"seed": {"image: postgres\nseed: [schema.sql, {command: psql -f /seed/rows.sql}]",
			`{"image":"postgres","seed":[{"file":"DIR/schema.sql"},{"command":["sh","-c","psql -f /seed/rows.sql"],` +
				`"volumes":[{"source":"DIR/rows.sql","target":"/seed/rows.sql"}]}]}`},
		"of a seed": {"image: postgres\nseed: [schema.sql, {command: [psql, -f, /seed/schema.sql]}]",
			`{"image":"postgres","seed":[{"file":"DIR/schema.sql"},{"command":["psql","-f","/seed/schema.sql"],` +
				`"volumes":[{"source":"DIR/schema.sql","target":"/seed/schema.sql"}]}]}`},
		"volumes": {"image: a\nvolumes: [/data, ./pw.txt:/run/pw:ro]",
			`{"image":"a","volumes":[{"target":"/data"},{"source":"DIR/pw.txt","target":"/run/pw"}]}`},
		"tmpfs": {"image: a\ntmpfs: /run", `{"image":"a","tmpfs":["/run"]}`},
		"the rest": {"image: a\nhostname: h.x\nuser: 1000:0\ninit: true\nstop_grace_period: 1m30s\nstop_signal: SIGINT\n" +
			"after: [x]\nkeep: true\nlike: mongo\nenv_file: vars.env",
			`{"image":"a","like":"mongo","env_file":["DIR/vars.env"],"hostname":"h.x","user":"1000:0","init":true,"stop_signal":"SIGINT",` +
				`"stop_grace_period_ns":90000000000,"after":["x"],"keep":true}`},
		"external": {"external: 10.0.0.5:5432\nlike: postgres\nports: {main: 1, admin: 8080}",
			`{"like":"postgres","ports":{"admin":8080,"main":1}} external 10.0.0.5:5432`},
		"external's URL": {"external: 'postgres://app:${PW}@10.0.0.5/shop'", ` external postgres://app:${PW}@10.0.0.5/shop`},
	} {
		t.Run(name, func(t *testing.T) {
			n, dir, err := parsed(t, c.yaml)
			testenv.OK(t, err)
			got := strings.ReplaceAll(n.Of.String(), dir, "DIR")
			if n.From != bench.NeedContainer {
				got += " " + string(n.From) + " " + n.URL
			}
			testenv.Equal(t, got, c.want)
			Complete(&n)
			again := n
			Complete(&again)
			testenv.Equal(t, again.Of.String(), n.Of.String(), "completed twice")
		})
	}
}

// TestSize: sizes are those of compose files, within bounds.
func TestSize(t *testing.T) {
	for text, want := range map[string]int64{
		"512M": 512 << 20, "512m": 512 << 20, "512MB": 512 << 20, "6291456": 6 << 20, "6m": 6 << 20, "1P": 1 << 50,
		"5MB": 0, "512": 0, "512Mi": 0, "x": 0, "1025T": 0,
	} {
		n, _, err := parsed(t, "image: a\nlimits: {memory: "+text+"}")
		testenv.Equal(t, int64(specOf(n).Limits.Memory), want, text)
		testenv.Equal(t, err == nil, want != 0, text, err)
	}
}

// TestMistakes: each mistake has its line, and what to write.
func TestMistakes(t *testing.T) {
	for name, c := range map[string]struct {
		yaml string
		line int
		want []string
	}{
		"neither":            {"limits: {cpus: 1}", 2, []string{"`image` is missing", "external: 10.0.0.5:5432"}},
		"both":               {"image: a\nexternal: h:1", 2, []string{"both `image` and `external`"}},
		"unknown key":        {"image: a\nimages: b", 3, []string{"unknown key `db.images`"}},
		"no Dockerfile":      {"dockerfile: x", 2, []string{"`x` does not exist"}},
		"a folder":           {"dockerfile: .", 2, []string{"the path of a Dockerfile"}},
		"dockerfile, image":  {"image: a\ndockerfile: notes.txt", 3, []string{"both `image` and `dockerfile`"}},
		"external's build":   {"dockerfile: notes.txt\nexternal: h:1", 2, []string{"both `dockerfile` and `external`"}},
		"seed of a build":    {"dockerfile: notes.txt\nseed: [schema.sql]", 3, []string{"/notes.txt runs no files", "like: postgres"}},
		"no value":           {"image: a\nports:", 3, []string{"has no value"}},
		"published ports":    {"image: a\nports: ['5432:5432']", 3, []string{"no port is published"}},
		"no main":            {"image: a\nports: {admin: 1}", 3, []string{"no port is named `main`"}},
		"no port":            {"image: a\nports: 70000", 3, []string{"from 1 to 65535"}},
		"name of a port":     {"image: a\nports:\n  main: 1\n  Web-UI: 2", 5, []string{"lower-case letters"}},
		"name of a variable": {"image: a\nenvironment: {'A B': 1}", 3, []string{"wrong name"}},
		"number of limits":   {"image: a\nlimits: {memory: 512}", 3, []string{"from 6M"}},
		"cpus":               {"image: a\nlimits: {cpus: 0}", 3, []string{"0.01 to 1024"}},
		"several rules":      {"image: a\nready: {tcp: 1, command: [x]}", 3, []string{"several rules: command, tcp"}},
		"unknown rule":       {"image: a\nready: postgres", 3, []string{"healthcheck"}},
		"no path":            {"image: a\nready: {http: {port: 1}}", 3, []string{"ready.http.path` is missing"}},
		"path":               {"image: a\nready: {http: {path: health}}", 3, []string{"begins with /"}},
		"CMD-SHELL":          {"image: a\nready: {command: [CMD-SHELL, pg_isready, -U, x]}", 3, []string{"only the word after it"}},
		"empty command":      {"image: a\ncommand: []", 3, []string{"a program"}},
		"no file":            {"image: postgres\nseed:\n- schema.sql\n- none.sql", 5, []string{"`none.sql` does not exist"}},
		"outside":            {"image: postgres\nseed: [../x.sql]", 3, []string{"outside of the folder"}},
		"not run":            {"image: redis:7\nseed: [rows.sql]", 3, []string{"redis runs no files of a seed", "/seed/rows.sql"}},
		"ending":             {"image: postgres\nseed: [notes.txt]", 3, []string{"does not run notes.txt", ".sql, .sql.gz, .sh"}},
		"order":              {"image: postgres\nseed:\n- {command: [x]}\n- schema.sql", 5, []string{"after another step"}},
		"start of another":   {"image: postgres\nseed:\n- start: db", 4, []string{"`start: service`"}},
		"start and more":     {"image: postgres\nseed:\n- {start: service, command: x}", 4, []string{"`start` with another key"}},
		"start's timeout":    {"image: postgres\nseed: [{start: service, timeout: 1s}]", 3, []string{"`timeout` with `start`"}},
		"second start":       {"image: postgres\nseed:\n- start: service\n- start: service", 5, []string{"a second `start`"}},
		"start, kept":        {"image: postgres\nkeep: true\nseed:\n- start: service", 5, []string{"remove `keep`"}},
		"empty step":         {"image: postgres\nseed: [{}]", 3, []string{"{start: service}"}},
		"not a step":         {"image: postgres\nseed: [{comand: x}]", 3, []string{"unknown key"}},
		"step's environment": {"image: postgres\nseed: [{command: x, environment: {A: 1}, user: u}]", 3, []string{"`environment`, `user` without `image`"}},
		"volume of a step":   {"image: postgres\nseed: [{image: a, volumes: [/data]}]", 3, []string{"has no state"}},
		"another template":   {"image: postgres\nseed: [{image: a, command: ['{{.Needs.cache.URL}}']}]", 3, []string{"{{.Needs.db.URL}}"}},
		"file after a step":  {"image: postgres\nseed:\n- {image: x}\n- schema.sql", 5, []string{"after another step"}},
		"missing in command": {"image: a\nseed: [{command: [x, /seed/none.sql]}]", 3, []string{"`none.sql` does not exist"}},
		"socket":             {"image: a\nvolumes: ['/var/run/docker.sock:/x:ro']", 3, []string{"outside of the folder"}},
		"relative":           {"image: a\nvolumes: [data]", 3, []string{"absolute path"}},
		"root":               {"image: a\nvolumes: [/]", 3, []string{"absolute path"}},
		"data in /dev/shm":   {"image: postgres\nenvironment: {PGDATA: /dev/shm/pgdata}\nseed: [schema.sql]", 4, []string{"its data are in memory (PGDATA=/dev/shm/pgdata), and lost", "`keep: true`"}},
		"data below a tmpfs": {"image: postgres\nenvironment: {PGDATA: /mem/pgdata}\ntmpfs: [/mem]\nseed: [schema.sql]", 5, []string{"in memory (PGDATA=/mem/pgdata)"}},
		"file in a tmpfs":    {"image: a\ntmpfs: ['/run/x:size=1m']\nvolumes:\n- /y\n- ./notes.txt:/run/x/a:ro", 6, []string{"/run/x is in memory, which hides the copy of a file at /run/x/a", "a path outside of it, or a folder"}},
		"file in /dev":       {"image: a\nseed: [{image: b, volumes: ['./notes.txt:/dev/shm/a:ro']}]", 3, []string{"/dev is in memory"}},
		"seed in a tmpfs":    {"image: postgres\ntmpfs: /docker-entrypoint-initdb.d\nseed: [schema.sql]", 4, []string{"/docker-entrypoint-initdb.d is in memory"}},
		"/seed is a tmpfs":   {"image: a\ntmpfs: /seed\nseed: [{command: 'x /seed/rows.sql'}]", 4, []string{"/seed is in memory"}},
		"file in a folder":   {"image: a\nvolumes: [.:/etc/x:ro, './notes.txt:/etc/x/y/a:ro']", 3, []string{"/etc/x/y/a is in /etc/x, which is read-only", "put the file into the folder"}},
		"seed in a folder":   {"image: postgres\nvolumes: ['.:/docker-entrypoint-initdb.d:ro']\nseed: [schema.sql]", 4, []string{"01-schema.sql is in /docker-entrypoint-initdb.d"}},
		"mounted twice":      {"image: a\nvolumes: [/x]\ntmpfs: [/x]", 4, []string{"/x is mounted twice"}},
		"tmpfs":              {"image: a\ntmpfs: run", 3, []string{"absolute path"}},
		"like":               {"image: a\nlike: postgre", 3, []string{"postgres"}},
		"hostname":           {"image: a\nhostname: a_-", 3, []string{"not a host name"}},
		"alias":              {"image: a\naliases: [mq, 'a b']", 3, []string{"not a host name"}},
		"alias of itself":    {"image: a\naliases: [mq, LocalHost]", 3, []string{"leads elsewhere in a container"}},
		"alias of the host":  {"image: a\naliases: [host.docker.internal]", 3, []string{"leads elsewhere in a container"}},
		"name of itself":     {"image: a\nhostname: localhost", 3, []string{"leads elsewhere in a container"}},
		"external's seed":    {"external: h:1\nseed: [{command: [x]}]", 3, []string{"has no `seed`", "give the service its data before the run"}},
		"external's limits":  {"external: h:1\nlimits: {cpus: 1}", 3, []string{"has no `limits`"}},
		"one per service":    {"image: a\nper_service: true", 3, []string{"unknown key `db.per_service`"}},
		"external's keep":    {"external: h:1\nkeep: true", 3, []string{"has no `keep`"}},
		"external's port":    {"external: host", 2, []string{"`external` is not an address"}},
		"external's scheme":  {"external: 'x://host'", 2, []string{"`external` has no port"}},
		"external's user":    {"external: 'app:secret@host:1'", 2, []string{"`external` is not an address"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := parsed(t, c.yaml)
			testenv.Fails(t, err, c.want...)
			mistakes, _ := err.(strictyaml.Mistakes)
			testenv.Check(t, len(mistakes) == 1 && mistakes[0].Line == c.line,
				"want one mistake in line %d, got %v", c.line, err)
			testenv.Check(t, err == nil || !strings.Contains(err.Error(), "secret"), "shows a password: %v", err)
		})
	}
}

// TestFiles: all files that a service uses are named by their places, and what it runs is listed.
func TestFiles(t *testing.T) {
	n, dir, err := parsed(t, "image: postgres\nseed: [schema.sql, {command: [psql, -f, /seed/rows.sql, -f, /seed/schema.sql]}, "+
		"{image: tool, command: run, volumes: [./pw.txt:/pw:ro]}]\nenv_file: vars.env\nvolumes: [./notes.txt:/n:ro, /data]")
	testenv.OK(t, err)
	var got []string
	for _, f := range Files(n) {
		name, err := filepath.Rel(dir, f.Path)
		testenv.OK(t, err)
		got = append(got, fmt.Sprint(f.Key, " ", name, " ", f.Built))
	}
	testenv.Equal(t, strings.Join(got, "\n"), "seed[0] schema.sql false\nseed[1].volumes[0] rows.sql false\n"+
		"seed[2].volumes[0] pw.txt false\nenv_file[0] vars.env false\nvolumes[0] notes.txt false")
	testenv.Equal(t, strings.Join(Runs(n), "\n"), "image postgres\nready command pg_isready -q -h db -p 5432\n"+
		"seed command psql -f /seed/rows.sql -f /seed/schema.sql\nseed image tool\nseed command run")
	n, dir, err = parsed(t, "dockerfile: Dockerfile\nentrypoint: [a]\ncommand: [b, c]")
	testenv.OK(t, err)
	testenv.Equal(t, Files(n), []needs.File{{Key: "dockerfile", Path: filepath.Join(dir, "Dockerfile"), Built: true}})
	testenv.Contains(t, strings.Join(Runs(n), "\n"), "Dockerfile "+filepath.Join(dir, "Dockerfile")+"\ncommand a b c")
}

// TestInMemory: the data of a service are where its environment or its command says; the mount that
// has them decides, and sockets and temporary files do not count.
func TestInMemory(t *testing.T) {
	for text, want := range map[string]string{
		"environment: {PGDATA: /dev/shm/a}":                                         "PGDATA=/dev/shm/a",
		"environment: {PGDATA: /dev/shm/../../a}":                                   "",
		"environment: {PGDATA: /var/lib/pg}":                                        "",
		"environment: {PGDATA: /m/a/b}\ntmpfs: [/m]":                                "PGDATA=/m/a/b",
		"environment: {PGDATA: /m}\ntmpfs: ['/m:size=1g']":                          "PGDATA=/m",
		"environment: {PGDATA: /mem}\ntmpfs: [/m]":                                  "",
		"environment: {PGDATA: /m/a/b}\ntmpfs: [/m]\nvolumes: [/m/a]":               "",
		"environment: {PGDATA: /m/a/b}\ntmpfs: [/m/a]\nvolumes: [/m]":               "PGDATA=/m/a/b",
		"environment: {MYSQL_DATA_DIR: /m/a}\ntmpfs: [/m]":                          "MYSQL_DATA_DIR=/m/a",
		"environment: {TMPDIR: /m/a, SOCKET: /m/s}\ntmpfs: [/m]":                    "",
		"command: [mysqld, --datadir=/dev/shm/my]":                                  "--datadir=/dev/shm/my",
		"command: [mysqld, --datadir, /dev/shm/my]":                                 "--datadir /dev/shm/my",
		"command: [postgres, -D, /dev/shm/pg]":                                      "-D /dev/shm/pg",
		"command: [postgres, -c, data_directory=/dev/shm/pg]":                       "data_directory=/dev/shm/pg",
		"command: [mongod, --dbpath, /m/db]\ntmpfs: [/m]":                           "--dbpath /m/db",
		"command: [redis-server, --dir, /m]\ntmpfs: [/m]":                           "--dir /m",
		"command: [postgres, -c, unix_socket_directories=/m, -D]\ntmpfs: [/m]":      "",
		"command: [mysqld, --tmpdir=/m, --socket=/m/s, --pid-file=/m/p]\ntmpfs: /m": "",
	} {
		n, _, err := parsed(t, "image: a\n"+text)
		testenv.OK(t, err)
		s := specOf(n)
		testenv.Equal(t, s.InMemory(s.Environment), want, text)
	}
	_, _, err := parsed(t, "image: postgres\nenvironment: {PGDATA: /dev/shm/a}\nseed: [schema.sql]\nkeep: true")
	testenv.OK(t, err)
	_, _, err = parsed(t, "image: postgres\nenvironment: {PGDATA: /dev/shm/a}")
	testenv.OK(t, err)
}

// TestOwn: a need that locbench starts can be copied, unless its data are in memory only.
func TestOwn(t *testing.T) {
	for text, want := range map[string]string{
		"external: h:1": "is external, and interleaved contenders would share its connections",
		"image: i":      "",
		"image: i\nkeep: true\nseed: [{command: a}]\ntmpfs: /data": "keeps its data in memory (keep), which cannot be copied, " +
			"and interleaved contenders would share it",
		"image: i\nkeep: true\nseed: [{command: a}]\ntmpfs: /run/db": "",
		"image: i\nkeep: true\ntmpfs: /data":                         "",
		"image: i\nkeep: true\nseed: [{command: a}]\nenvironment: {PGDATA: /dev/shm/a}": "keeps its data in memory (keep), which cannot be " +
			"copied, and interleaved contenders would share it",
	} {
		n, _, err := parsed(t, text)
		testenv.OK(t, err)
		shared := Traits(n).Shared
		testenv.Equal(t, shared, want, text)
	}
	n, _, err := parsed(t, "image: i\nlimits: {memory: 64M}")
	testenv.OK(t, err)
	memory := Traits(n).Memory
	testenv.Equal(t, memory, int64(64<<20))
}

// TestSteps: what each contender is started for divides the steps.
func TestSteps(t *testing.T) {
	a, start, b := Seed{File: "a"}, Seed{Start: true}, Seed{Image: "b"}
	for want, steps := range map[string][]Seed{
		"1 0": {a}, "1 1": {a, start, b}, "0 1": {start, b}, "0 0": nil,
	} {
		before, after := Service{Seed: steps}.Steps()
		testenv.Equal(t, fmt.Sprint(len(before), " ", len(after)), want)
		testenv.Check(t, !slices.ContainsFunc(append(before, after...), func(s Seed) bool { return bool(s.Start) }), "the start itself")
	}
}
