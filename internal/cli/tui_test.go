package cli

import (
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/text/console"
)

// An option of 'locbench run' on the command line of tui belongs after the dashes.
func TestTUIOptionsOfRun(t *testing.T) {
	for args, want := range map[string]string{
		"--profile x.yaml":  "unknown flag: --profile: an option of 'locbench run'; write it after --: locbench tui -- --profile NAME",
		"-p x.yaml":         "write it after --: locbench tui -- --profile NAME",
		"--rounds=3":        "write it after --: locbench tui -- --rounds INT",
		"--no-checks":       "write it after --: locbench tui -- --no-checks",
		"--servces x":       "did you mean --services?",
		"--nosuchthingever": "unknown flag: --nosuchthingever (see 'locbench tui --help')",
		"-x":                "unknown shorthand flag: 'x' in -x (see 'locbench tui --help')",
	} {
		code, text := locbench(t, nil, append([]string{"tui"}, strings.Fields(args)...)...)
		if code != console.ExitUsage || !strings.Contains(text, want) {
			t.Errorf("%s: exit code %d, want %q\n%s", args, code, want, text)
		}
	}
}
