package ui

import (
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func TestAgain(t *testing.T) {
	for given, want := range map[string]string{
		"--rounds=2|a b": "locbench run --rounds=2 'a b'", "--target|http://h/?a=1&b=$(id)": "locbench run --target 'http://h/?a=1&b=$(id)'",
		"it's; rm -rf ~": `locbench run 'it'\''s; rm -rf ~'`, "": "locbench run ''",
	} {
		args, command, err := Again(bench.Run{Given: strings.Split("locbench|run|"+given, "|")})
		testenv.OK(t, err)
		testenv.Equal(t, []string{strings.Join(args, "|"), command}, []string{given, want})
	}
	for given, want := range map[string]string{
		"": "no command of 'locbench run'", "locbench|calibrate": "no command of 'locbench run'",
		"rm|run|-rf": "no command of 'locbench run'", "locbench|run|--header=a: ***": "a secret",
		"locbench|run|a\u202eb": "invisible characters", "locbench|run|\x1b[201~": `\x1b`, "locbench|run|a\nid": "invisible characters",
		"locbench|run|\xff": "invisible characters", "locbench|run|" + strings.Repeat("x", 5000): "longer than",
	} {
		t.Run(given, func(t *testing.T) {
			_, _, err := Again(bench.Run{Given: strings.Split(given, "|")})
			testenv.Fails(t, err, want)
		})
	}
}

func TestCompareCommand(t *testing.T) {
	got := testenv.Must(CompareCommand("-old", "new one", "--force"))(t)
	testenv.Equal(t, got, "locbench compare ./-old 'new one' ./--force")
}

func TestResumeCommand(t *testing.T) {
	for dir, want := range map[string]string{
		"results/a b": "locbench run --resume 'results/a b'",
		"-rf":         "locbench run --resume ./-rf",
	} {
		t.Run(dir, func(t *testing.T) {
			got, err := ResumeCommand(dir)
			testenv.Check(t, err == nil && got == want, "%s: %q, %v", dir, got, err)
		})
	}
	got, err := ResumeCommand("a\x1bb")
	testenv.Check(t, err != nil, "%q", got)
}
