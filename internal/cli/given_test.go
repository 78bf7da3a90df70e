package cli

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/profiles"
)

// read returns what given returns of the arguments of 'locbench run', and its flags.
func read(t *testing.T, args ...string) ([]string, *pflag.FlagSet) {
	t.Helper()
	var f runFlags
	cmd := &cobra.Command{Use: "run"}
	bindRun(cmd, &f)
	testenv.OK(t, cmd.ParseFlags(args))
	return given(cmd.Flags(), cmd.Flags().Args()), cmd.Flags()
}

// Each option of a run is in its record in a form that sets the same value, but those of the output.
func TestGiven_Options(t *testing.T) {
	texts := map[string][]string{
		"int": {"7"}, "uint64": {"7"}, "float64": {"1.5"}, "duration": {"7s"}, "bool": {"true"}, "string": {"a b"},
		"stringSlice": {"1,8", `"a,b"`}, "stringArray": {"a: b,c", "d=e"},
	}
	_, all := read(t)
	all.VisitAll(func(f *pflag.Flag) {
		t.Run(f.Name, func(t *testing.T) {
			var args []string
			for _, text := range texts[f.Value.Type()] {
				args = append(args, "--"+f.Name+"="+text)
			}
			testenv.Need(t, len(args) > 0, "a flag of type %s", f.Value.Type())
			record, flags := read(t, append(args, "a", "b:lto")...)
			if slices.Contains(ofOutput, f.Name) {
				testenv.Equal(t, strings.Join(record, " "), "locbench run a b:lto")
				return
			}
			again, back := read(t, record[2:]...)
			testenv.Equal(t, strings.Join(again, "|"), strings.Join(record, "|"))
			testenv.Equal(t, back.Lookup(f.Name).Value.String(), flags.Lookup(f.Name).Value.String())
			testenv.Check(t, back.Changed(f.Name), "%q lost it", record)
		})
	})
}

// The record repeats the run, and so does what is suggested next. No output that is passed on has
// the folders of the machine, or a password.
func TestGiven_Run(t *testing.T) {
	s, _ := recorder(t, func(http.ResponseWriter, *http.Request) {})
	here := t.TempDir()
	t.Chdir(here)
	dir := t.TempDir()
	for name, text := range map[string]string{
		filepath.Join(here, "near.yaml"):  "requests: [{post: /x, file: a.json}]\nservices: svc\n" + twenty,
		filepath.Join(here, "a.json"):     "{}",
		filepath.Join(dir, "mine.yaml"):   "requests: [{path: /x}]\nservices: svc\n" + twenty,
		filepath.Join(dir, "targets.txt"): "GET http://h/x\n",
	} {
		testenv.OK(t, os.WriteFile(name, []byte(text), 0o600))
	}
	for _, parent := range []string{here, dir} {
		folder := filepath.Join(parent, "svc", "mine")
		testenv.OK(t, os.MkdirAll(folder, 0o700))
		testenv.OK(t, os.WriteFile(filepath.Join(folder, "service.yaml"), []byte("language: Go\nframework: x\nversion: \"1\"\nprocess: {command: [x]}\n"), 0o600))
	}
	address := strings.Replace(s.URL, "://", "://me:hunter2hunter2@", 1)
	for name, c := range map[string]struct {
		args []string
		want string // ADDRESS is that of the service
	}{
		"in the working directory": {[]string{"-p", filepath.Join(here, "near.yaml"), "--target", address, "--rounds=1"},
			"locbench run --profile near.yaml --rounds 1 --target ADDRESS"},
		"outside": {[]string{"--profile", filepath.Join(dir, "mine.yaml"), "--services", filepath.Join(dir, "svc"), "--allow-files", dir, "--target", address, "-v", "--threshold=errors<1%"},
			"locbench run --allow-files " + filepath.Base(dir) + " --profile mine.yaml --services svc --target ADDRESS --threshold 'errors<1%'"},
		"a request": {[]string{"--target", address + "/x?a=b", "-m", "PUT", "-d", "@" + filepath.Join(here, "a.json"), "-H", "Authorization: Bearer hunter2hunter2", "--connections=1", "--duration=1s"},
			"locbench run --body @a.json --connections 1 --duration 1s --header 'Authorization: Bearer ***' --method PUT --target 'ADDRESS/x?a=b'"},
		"vegeta's targets": {[]string{"--targets", filepath.Join(dir, "targets.txt"), "--target", address, "--connections=1", "--duration=1s", "-q"},
			"locbench run --connections 1 --duration 1s --target ADDRESS --targets targets.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			out := outOf(t)
			text := says(t, 0, "", into(out, c.args...)...)
			run, trials := readResults(t, out)
			testenv.Equal(t, conclusion.Command(run.Given), strings.ReplaceAll(c.want, "ADDRESS", s.URL))
			next := conclusion.Of(analysis.Of(run, trials), nil).Command
			testenv.Check(t, strings.HasPrefix(next, "locbench run "), "next: %q", next)
			has(t, "next", next, "--target")
			for _, file := range []string{"summary.md", "report.html", results.RunFile, "events.jsonl"} {
				data := testenv.Must(os.ReadFile(filepath.Join(out, file)))(t)
				lacks(t, file, string(data), "hunter2")
				if strings.HasPrefix(file, "summary") || strings.HasPrefix(file, "report") {
					lacks(t, file, string(data), here, dir)
				}
			}
			lacks(t, "text", text, "hunter2")
		})
	}
}

// The options of suggestions (conclusion, failures.go and facts.go) can be given with each bundled
// profile.
func TestSuggestions(t *testing.T) {
	names := testenv.Must(profiles.FS.ReadDir("."))(t)
	for _, entry := range names {
		name, ok := strings.CutSuffix(entry.Name(), ".yaml")
		if !ok {
			continue
		}
		for _, options := range []string{"--rounds=1 --connections=1 --duration=1s", "--duration=30m", "--memory=768MiB", "--cpus=0.75", "--connections=64,256", "--rounds=6"} {
			_, err := planOf(t, append(strings.Fields(options), "--profile", name, "--store", "embedded")...)
			testenv.Check(t, err == nil, "%s %s: %v", name, options, err)
		}
	}
}
