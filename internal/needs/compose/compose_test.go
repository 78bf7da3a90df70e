package compose

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"

	"github.com/locbench/locbench/internal/testenv"
)

// known are the variables of locbench in these tests.
var known = map[string]string{"X": "xval", "PW": "p@y/ 100%#1"}

// byCompose returns what compose makes of a service, with its environment in full.
func byCompose(t *testing.T, dir, text string) (string, error) {
	lines := "services:\n  db:\n    " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ") + "\n"
	project, err := loader.LoadWithContext(t.Context(), types.ConfigDetails{WorkingDir: dir, Environment: known,
		ConfigFiles: []types.ConfigFile{{Filename: filepath.Join(dir, "compose.yaml"), Content: []byte(lines)}}},
		func(o *loader.Options) { o.SetProjectName("p", true); o.SkipConsistencyCheck = true })
	if err != nil {
		return "", err
	}
	s := project.Services["db"]
	env := map[string]string{}
	for name, value := range s.Environment {
		if value != nil {
			env[name] = *value
		}
	}
	var mounted []string
	for _, v := range s.Volumes {
		mounted = append(mounted, v.Source+" "+v.Target)
	}
	limits := map[string]ulimit{}
	for name, u := range s.Ulimits {
		limits[name] = ulimit{int64(u.Soft + u.Single), int64(u.Hard + u.Single)} // either a single one, or two
	}
	grace := types.Duration(0)
	if s.StopGracePeriod != nil {
		grace = *s.StopGracePeriod
	}
	return fmt.Sprintf("%q %q %q %q %q %q %d %q %q %q %v %v %v", s.Image, s.Entrypoint, s.Command, s.User, s.Hostname, s.StopSignal, s.ShmSize, env,
		mounted, []string(s.Tmpfs), limits, grace, s.Init != nil && *s.Init), nil
}

// byLocbench returns the same of what the container of a need would have.
func byLocbench(t *testing.T, text string, files map[string]string) (string, string, error) {
	n, dir, err := parsedWith(t, text, files)
	if err != nil {
		return "", dir, err
	}
	f := &Filler{Getenv: func(name string) string { return known[name] }, Hide: func(...string) {}}
	var env map[string]string
	s, err := specOf(n).Filled(f)
	if err == nil {
		env, err = s.Environ(f)
	}
	var mounted []string
	for _, v := range s.Volumes {
		mounted = append(mounted, v.Source+" "+v.Target)
	}
	return fmt.Sprintf("%q %q %q %q %q %q %d %q %q %q %v %v %v", s.Image, s.Entrypoint, s.Command, s.User, s.Hostname, s.StopSignal, s.ShmSize, env,
		mounted, s.Tmpfs, s.Ulimits, s.StopGracePeriod, s.Init), dir, err
}

// TestCompose: each spelling means what compose makes of it, or is refused at its line with what to
// write. want is part of the sentence; "": it is accepted.
func TestCompose(t *testing.T) {
	for text, want := range map[string]string{
		// variables of locbench
		`environment: {A: "$X"}`: "", `environment: {A: "a${X}b"}`: "", `environment: {A: "$$X", B: "p@$$w"}`: "", `environment: {A: "${NO:-d}"}`: "",
		`environment: {A: "${NO:-}"}`: "", `environment: {A: "${X:+y}"}`: "", `environment: {A: "${X:?no}"}`: "", `environment: [X, A=1]`: "",
		`environment: {X: null}`: "", `environment: {A: "${X:-a b} ${X:-c}"}`: "", `environment: {A: '{"a": "b"}'}`: "",
		`environment: {A: "${NO:?give it}"}`: "give it", `environment: {A: "$NO"}`: "unset or empty: NO", `environment: [NO]`: "unset or empty: NO",
		`environment: {A: "${X-d}"}`: "3: locbench does not read ${X-d}", `environment: {A: "${NO:-$X}"}`: "3: locbench does not read ${NO:-$X}",
		`environment: {A: "5$"}`: "3: locbench does not read $ in a text; write ${NAME}", `environment: [MY-VAR]`: "3: variable MY-VAR has no value; write NAME=VALUE",
		`command: [a, "$X", "$$X", "${NO:-d}"]`: "", `command: 'a $X "$$X" ${NO:-d}'`: "", `entrypoint: [sh, -c, "echo $$(id -u)"]`: "",
		`command: [sh, -c, "echo $(id -u)"]`: "3: locbench does not read $ in a text", `image: "x:${TAG:-17}"`: "", `user: "${X}:0"`: "",
		`image: "${X}:17"`: "the name of an image cannot be a variable", `hostname: $X`: "not a host name", `shm_size: $X`: "write a number and its unit",
		`tmpfs: [/a$X]`: "no variables in `tmpfs`", `volumes: ["/a$X"]`: "not a path in the container",
		// texts
		"environment: {A: a=b, B: yes, C: on, D: '22:30', E: 12345678901234567890, F: true, G: 1, H: 1.5, I: ' x '}": "",
		"environment: [A=b=c, B=, 'A=2', C=010]": "", "environment: {A: ~, X: null}": "unset or empty: A",
		"environment: {A: 2024-01-31}": "3: `A: 2024-01-31` without quotes is 2024-01-31 00:00:00 +0000 UTC in compose; put it in quotes: \"2024-01-31\"",
		"environment: {A: 1.10}":       "without quotes is 1.1 in compose", "environment: {A: 010}": "is 8 in compose", "environment: {A: 0x1F}": "is 31",
		"environment: {A: 1_000}": "is 1000", "environment: {A: 1e3}": "is 1000", "environment: {A: .5}": "is 0.5", "environment: {A: True}": "is true",
		"environment: {A: '1.10', B: \"010\", C: '2024-01-31'}": "", "environment: {A: {b: c}}": "must be a boolean, null, number or string",
		"command: postgres -c 'a b' \"x\\\"y\" a\\ b \"\"": "", "command: a `b` # c": "", "command: >\n  a\n  b": "", "command: [a, '1', \"\"]": "",
		"command: ./migrate && ./serve": "3: compose drops all of `command` from \"&& ./serve\" on; a shell runs it: `command: [sh, -c, \"./migrate && ./serve\"]`",
		"command: a; b":                 `from "; b" on`, "command: a | b": `from "| b"`, "command: a > b": `from "> b"`, "command: a < b": `from "< b"`,
		"entrypoint: a & b": "`entrypoint` from \"& b\"", "command: 'a \"&& b\"'": "", "command: echo (a)": "invalid command line string", "command: a 'b": "quotes closed",
		"command: [echo, 1]": "must be a string", "command: 5": "must be", "command: []": "write a program", "entrypoint: ''": "write a program",
		// files with variables
		"env_file: a.env": "", "env_file: [a.env, {path: none.env, required: false}]": "", "env_file: {path: a.env}": "must be", "env_file: none.env": "`none.env` does not exist",
		"env_file: [a.env]\nenvironment: {A: z}": "", "env_file: [{path: a.env, format: raw}]": "remove `format`",
		// the rest
		"shm_size: 256mb": "", "shm_size: 67108864": "", "shm_size: 1.5GB": "", "shm_size: x": "write a number and its unit",
		"ulimits: {nofile: 1024, memlock: -1, core: {soft: 1, hard: 2}, nproc: '5'}": "", "ulimits: {nofile: {soft: 1}}": "`db.ulimits.nofile.hard` is missing", "ulimits: {a: b}": "-1 for no limit",
		"stop_grace_period: 1m30s": "", "stop_grace_period: 1.5m": "", "stop_grace_period: 1d": "write a number and its unit", "stop_grace_period: 90": "add a unit",
		"stop_signal: SIGUSR1": "", "stop_signal: SIGBOGUS": "is not a signal", "user: '1000'": "", "hostname: db_1": "", "init: true": "", "init: 'true'": "write `true` or `false`",
		"tmpfs: /run": "", "tmpfs: [/run, '/x:size=64m,mode=1777']": "", "volumes: [/data, ./pw.txt:/y:ro]": "", "volumes: ['./pw.txt:/y:ro,z']": "in a way that locbench does not do",
		"volumes: [{type: bind, source: ./pw.txt, target: /y, read_only: true}]": "", "volumes: ['data:/y']": "a volume with a name", "volumes: [./pw.txt:/y]": "does not write to folders",
		"volumes: [./pw.txt:/y:ro, ./rows.sql:/y:ro]": "mounted twice", "volumes: [{type: tmpfs, target: /y}]": "does not do", "volumes: ['~/x:/y:ro']": "does not exist",
		"healthcheck: {disable: true}": "write `ready: {command: […]}`", "healthcheck: {test: [NONE]}": "write the program", "healthcheck: {test: [CMD-SHELL, a, b]}": "only the word after it",
		"restart: always": "unknown key `db.restart`", "read_only: true": "unknown key `db.read_only`", "build: .": "unknown key `db.build`", "extends: {service: a}": "unknown key",
	} {
		t.Run(text, func(t *testing.T) {
			if !strings.HasPrefix(text, "image:") {
				text = "image: a\n" + text
			}
			same(t, text, map[string]string{"a.env": "# c\nA=1\nexport B='two words'\n"}, want)
		})
	}
}

// TestCompose_Files: each line of a file with variables means what compose makes of it, or is
// refused with its number.
func TestCompose_Files(t *testing.T) {
	for line, want := range map[string]string{
		"A=$$X": "", "A=${X}": "", "A=${NO:-d}": "", `A="a\nb"`: "", `A="a\"b"`: "", `A='a\nb $X'`: "", "A=' x '": "", "A= # c": "", "A=it's": "", " A = b ": "",
		"A=\"a\" # c": "", "a.b-c=1": "", "A: 1": "", "export A=1\r": "", "X": "", "A=1\nB=${A}2": "", "A=1\nA=2": "", `A="p\$w"`: "", "A=#c": "", "\uFEFFA=b": "", "#A": "", "A=": "",
		"A=pa$sw0rd": "a.env:2: compose reads $sw0rd as a variable; put the value in single quotes, or write ${NAME}", "A=$X": "reads $X as", `A="a$X"`: "reads $X as",
		"A=5$": "reads $ as", "A=${X-d}": "reads ${X-d} as", "A=${NO}": "unset or empty: NO", "NO": "unset or empty: NO",
		"A=a # c": "a.env:2: compose drops the value from ` #` on; put it in quotes", `A={"a": "b # c"}`: "compose drops", `A="abc`: "close the quotes on this line",
		`A="a"b`: "after the closing quote", `"A"=1`: "a line NAME=VALUE", "A B=1": "a line NAME=VALUE",
	} {
		t.Run(line, func(t *testing.T) {
			first := "Z=1\n"
			if strings.HasPrefix(line, "\uFEFF") {
				first = ""
			}
			same(t, "image: a\nenv_file: a.env", map[string]string{"a.env": first + line + "\n"}, want)
		})
	}
}

// same fails unless a need is as compose reads it, or refused with a sentence.
func same(t *testing.T, text string, files map[string]string, want string) {
	t.Helper()
	ours, dir, err := byLocbench(t, text, files)
	if want != "" || err != nil {
		testenv.Fails(t, err, want)
		testenv.Check(t, want != "", "%v", err)
		return
	}
	theirs, err := byCompose(t, dir, text)
	testenv.OK(t, err)
	testenv.Equal(t, ours, theirs)
}

// TestHealthcheck: that of compose says when a need is ready, within the time in which compose would
// give up.
func TestHealthcheck(t *testing.T) {
	for text, want := range map[string]string{
		"{test: [CMD, pg_isready, -U, $X]}":                                         `["pg_isready" "-U" "${X}"] 3m0s`,
		"{test: pg_isready || exit 1, interval: 5s, timeout: 3s, retries: 4}":       `["sh" "-c" "pg_isready || exit 1"] 1m0s`,
		"{test: [CMD-SHELL, a b], start_period: 10m, interval: 1s, timeout: 1s}":    `["sh" "-c" "a b"] 10m6s`,
		"{test: [CMD, a], interval: 1h, timeout: 1h, retries: 9000000000000000000}": `["a"] 30m0s`,
	} {
		n, _, err := parsed(t, "image: a\nhealthcheck: "+text)
		testenv.OK(t, err)
		r := specOf(n).Ready
		testenv.Equal(t, fmt.Sprintf("%q %v", []string(r.Command), r.Timeout), want, text)
	}
	for text, want := range map[string]string{"{test: [CMD, a], disable: true}": "has no test", "{interval: 1s}": "has no test",
		"{test: [CMD, a]}\nready: {tcp: 1}": "both `ready` and `healthcheck` given"} {
		_, _, err := parsed(t, "image: a\nhealthcheck: "+text)
		testenv.Fails(t, err, ":3: ", want)
	}
}
