package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/text/console"
)

// A mistyped option or command is wrong usage, and the nearest one is named.
func TestMistypedFlagsHaveASuggestion(t *testing.T) {
	for args, want := range map[string]string{
		"run --rouns 3":                   "unknown flag: --rouns; did you mean --rounds?",
		"run --durration=3s":              "unknown flag: --durration; did you mean --duration?",
		"compare --fial-on throughput<-5": "did you mean --fail-on?",
		"run --hedless":                   "did you mean --headless?",
		"profiles new --hlep":             "did you mean --help?",
		"rnu":                             "did you mean 'locbench run'?",
		"profiles lst":                    "did you mean 'locbench profiles list'?",
	} {
		var out, errs bytes.Buffer
		env := Env{Args: strings.Fields(args), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
			Getenv: func(string) string { return "" }}
		code := command(t.Context(), env)
		if code != console.ExitUsage || !strings.Contains(errs.String(), want) || out.Len() > 0 {
			t.Errorf("%s: exit code %d, %q; want %q", args, code, errs.String(), want)
		}
	}
}

// Nothing is suggested where nothing is near, and no option that is not in the help.
func TestFarFlagsHaveNoSuggestion(t *testing.T) {
	for _, args := range []string{"run --xylophone 3", "run --worke", "run -z", "foobarbaz"} {
		var errs bytes.Buffer
		env := Env{Args: strings.Fields(args), Stdin: strings.NewReader(""), Stdout: &errs, Stderr: &errs,
			Getenv: func(string) string { return "" }}
		if code := command(t.Context(), env); code != console.ExitUsage || strings.Contains(errs.String(), "did you mean") {
			t.Errorf("%s: exit code %d, %q", args, code, errs.String())
		}
	}
}
