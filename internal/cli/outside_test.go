//go:build unix

package cli

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/safe"
)

// readers are the commands that read a file of a user, f.yaml in dir, or that folder: as results, a
// contender, a dump.
func readers(dir string) [][]string {
	file, elastic := filepath.Join(dir, "f.yaml"), []string{"seed", "--elastic", "http://127.0.0.1:1", "--from"}
	return [][]string{
		{"run", "--headless", "--profile", file}, {"profiles", "show", file}, {"profiles", "validate", file},
		{"check", "http://127.0.0.1:1", "--suite", file}, {"services", "validate", dir}, {"report", dir}, {"run", "--resume", dir},
		{"compare", dir, dir}, {"compare", dir, dir, "--floor", file}, {"history", dir}, {"export", dir, "--format", "csv"}, append(elastic, dir),
		{"run", "--headless", "--target", "https://127.0.0.1:1", "--cacert", file, "--out", filepath.Join(dir, "out")},
		// as the folder itself
		{"report", file}, {"compare", file, file}, {"compare", dir, file}, {"export", file, "--format", "csv"}, {"history", file},
		{"run", "--resume", file}, {"capacity", "--resume", file}, {"report", filepath.Join(file, results.RunFile)},
		{"services", "validate", file}, {"services", "list", "--services", file}, append(elastic, file),
	}
}

// TestPipesAndDevicesAreRefused: a command that gets a pipe, a device or a folder instead of a file
// reports it, and does not wait for a writer or an end.
func TestPipesAndDevicesAreRefused(t *testing.T) {
	for kind, place := range map[string]func(path string) error{
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"device": func(path string) error { return os.Symlink("/dev/zero", path) },
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		t.Run(kind, func(t *testing.T) {
			dir := testenv.Folder(t, map[string]string{"city.mapping.json": `{"properties":{}}`})
			for _, name := range []string{"f.yaml", "service.yaml", results.RunFile, "city.ndjson"} {
				testenv.OK(t, place(filepath.Join(dir, name)))
			}
			for _, args := range readers(dir) {
				said := make(chan string, 1)
				go func() { said <- saying(t, args...) }()
				select {
				case text := <-said:
					testenv.Check(t, strings.TrimSpace(text) != "", "%q says nothing", args)
				case <-time.After(30 * time.Second):
					t.Errorf("%q hangs", args)
				}
			}
		})
	}
}

// The error about a wrong file has none of its lines.
func TestSecrets_OtherFiles(t *testing.T) {
	const secret = "hunter2hunter2"
	for name, text := range map[string]string{
		"shadow":     "root:$6$" + secret + ":19000:0:99999:7:::\ndaemon:*:19000:0:99999:7:::\n",
		".env":       "export API=" + secret + "\nPASSWORD=" + secret + "\n",
		"env":        "PASSWORD: " + secret + "\nUSER: *" + secret + "\n",
		"alias":      "password: *" + secret + "\n",
		"anchor":     "password: &" + secret + " x\n",
		"tag":        "password: !" + secret + " x\n",
		"token":      secret + "\n",
		"token:":     secret + "!:\n",
		"list":       "- " + secret + "\n",
		"key":        "-----BEGIN KEY-----\n" + secret + "\n-----END KEY-----\n",
		"json":       `{"auths": {"x": {"auth": "` + secret + `"}}}`,
		"json5":      `{"auths": {"x": {'auth': "` + secret + `" "x"}}}`,
		"netrc":      "machine x login me password " + secret + "\n",
		"binary":     "\x7fELF\x00" + secret,
		"bad string": "a: \"" + secret + "\\q\"\n",
		"tab":        "a:\n\t" + secret + "\n",
	} {
		for _, args := range readers(testenv.Folder(t, map[string]string{"f.yaml": text, "service.yaml": text, results.RunFile: text})) {
			lacks(t, name+": "+strings.Join(args, " "), saying(t, args...), secret)
		}
	}
}

// hostile is appended to texts from outside: an escape sequence, other control characters of both
// sets, bidirectional and invisible marks, and line ends before a forged line.
const hostile = "\x1b[31m\x1b]0;x\x07\x7f\u009b1m\u0085\u202e\u2066\u200e\u061c\u2028\u00ad\nFORGED 1\r\nFORGED 2\rFORGED 3"

// poison appends hostile to each text in v except names of files and histograms.
func poison(v any) {
	testenv.Each(v, func(name string, v reflect.Value) {
		if v.Type() == reflect.TypeFor[string]() && v.Len() > 0 && name != "File" && name != "HDR" && name != "key" {
			v.SetString(v.String() + hostile)
		}
	})
}

// hostileResults returns a results folder of two contenders with all texts poisoned.
func hostileResults(t *testing.T) string {
	t.Helper()
	run, trials, err := results.Read(filepath.Join("..", "..", "testdata", "results", "burst"))
	testenv.OK(t, err)
	run.Trials, trials, run.Profile.Contenders = run.Trials[:2], trials[:2], run.Profile.Contenders[:2]
	run.Command = []string{"locbench", "run"}
	run.Warnings = append(run.Warnings, bench.Warning{Text: "a warning"})
	trials[0].Warnings = append(trials[0].Warnings, bench.Warning{Text: "a warning"})
	trials[0].Checks = append(trials[0].Checks, bench.CheckResult{Group: "g", Name: "n", Status: bench.CheckFailed, Detail: "d"})
	trials[1].State, trials[1].Failure, run.Trials[1].State = bench.TrialFailed, "it failed", bench.TrialFailed
	trials[1].LastLog = []bench.LogLine{{Text: "a line"}}
	trials[0].Steps[0].Load.Kept = []bench.KeptRequest{{Request: "get"}, {Error: bench.ErrOther}}
	trials[0].FirstRequests = &bench.FirstRequests{Started: time.Unix(1, 0), First: bench.RequestPhases{Err: "an error"}}
	poison(&run)
	poison(&trials)
	return writeResults(t, run, trials)
}

// yamlText returns s as an escaped YAML string.
func yamlText(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < 0x20 || r > 0x7e {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}

// clean fails if a text has characters of hostile, or, with forged, one of its lines.
func clean(t *testing.T, where, text string, forged bool) {
	t.Helper()
	for _, r := range text {
		if r != '\n' && r != '\t' && r != '\r' && r != safe.ZeroWidth && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			t.Errorf("%s: %U is not escaped", where, r)
			return
		}
	}
	i := strings.Index(text, "\r")
	testenv.Check(t, i < 0 || strings.HasPrefix(text[i:], "\r\n"), "%s: a lone carriage return is not escaped", where)
	// An indented line belongs to the line before it: an error of several lines.
	testenv.Check(t, !forged || !strings.Contains("\n"+text, "\nFORGED"), "%s: a line is forged: %q", where, text)
}

// TestHostileInput runs every command that reads texts from outside.
func TestHostileInput(t *testing.T) {
	h := yamlText("x" + hostile)
	dir, again, out := hostileResults(t), hostileResults(t), t.TempDir()
	in := testenv.Folder(t, map[string]string{
		"services/good/service.yaml": fmt.Sprintf("title: %[1]s\nlanguage: %[1]s\nframework: %[1]s\nversion: %[1]s\nunverified: %[1]s\n"+
			"env: {TEXT: %[1]s}\ndocker: {image: x}\nprocess: {command: [%[1]s]}\nvariants: [{name: a, title: %[1]s}]\n", h),
		"good.yaml": fmt.Sprintf("title: %[1]s\ndescription: %[1]s\nrequests: [{name: %[1]s, path: /, header: {X-A: %[1]s}}]\n"+
			"steps: [{connections: 1, duration: 1s}]\n", h),
		"broken.yaml": fmt.Sprintf("%[1]s: 1\nrounds: %[1]s\nneeds: %[1]s\nsteps: [%[1]s]\n", h),
		"suite.yaml":  fmt.Sprintf("suite: %[1]s\ngroups: {g: [{name: %[1]s, request: GET /, expect: {status: 200}}]}\n", h),
	})
	for _, line := range []string{
		"--help", "HOSTILE", "--HOSTILE", "services list --services IN/services", "services show good --services IN/services",
		"services validate IN/services", "services show HOSTILE", "services validate HOSTILE",
		"__complete services show --services IN/services ''",
		"profiles list", "profiles show IN/good.yaml", "profiles validate IN/good.yaml", "profiles validate IN/broken.yaml",
		"profiles show HOSTILE", "run --headless --profile IN/broken.yaml", "run --headless --profile HOSTILE", "run --headless HOSTILE",
		"run --headless --target HOSTILE", "run --headless --elastic HOSTILE", "run --resume HOSTILE", "run --resume DIR",
		"check http://127.0.0.1:1 --suite IN/suite.yaml", "check HOSTILE", "check http://127.0.0.1:1 --suite IN/broken.yaml",
		"seed --elastic HOSTILE", "report DIR", "report DIR --format md", "report DIR --format csv", "report DIR --format json",
		"report DIR --format HOSTILE", "report HOSTILE", "report DIR --format md -o OUT/summary.md", "compare DIR AGAIN",
		"compare DIR AGAIN --json", "compare DIR", "compare HOSTILE HOSTILE", "compare DIR HOSTILE HOSTILE", "history DIR AGAIN",
		"history DIR AGAIN --format csv", "history DIR AGAIN --format md", "history HOSTILE", "history DIR --measure HOSTILE",
		"history DIR --format HOSTILE", "export DIR --format csv", "export DIR --format json",
		"export DIR --format hgrm -o OUT", "export DIR --format hlog -o OUT", "export DIR --format csv -o OUT/file.csv", "export DIR --format HOSTILE",
	} {
		args := words(line)
		for i, arg := range args {
			args[i] = strings.NewReplacer("HOSTILE", hostile, "IN/", in+"/", "DIR", dir, "AGAIN", again, "OUT", out).Replace(arg)
		}
		_, stdout, stderr := shell(nil).runs(t, args...)
		clean(t, line+" to standard output", stdout, !strings.Contains(line, "csv")) // a cell may have several lines
		clean(t, line+" to standard error", stderr, true)
	}
	for _, tree := range []string{out, dir} {
		testenv.OK(t, filepath.WalkDir(tree, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			if filepath.Base(path) == results.ReportFile {
				data = pageText(data)
			}
			clean(t, path, string(data), false)
			return err
		}))
	}
}

// pageText returns a page without the library for charts, whose code has such characters.
func pageText(page []byte) []byte {
	var kept [][]byte
	for _, part := range bytes.SplitAfter(page, []byte("</script>")) {
		if len(part) < 100<<10 {
			kept = append(kept, part)
		}
	}
	return bytes.Join(kept, nil)
}
