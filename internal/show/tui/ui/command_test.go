package ui

import (
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func TestRepeatCommand(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"locbench|run", "locbench run --seed 7"},
		{"/usr/bin/locbench|run|--seed|3|a", "locbench run --seed 3 a"},
		{"locbench|run|--seed=3|a", "locbench run --seed=3 a"},
		{"locbench|run|-o|dir|--controlled|a:b|--out=x|--out|y|-odir", "locbench run a:b --seed 7"},
		{"locbench|run|--target|http://h/?a=1&b=$(id)", `locbench run --target 'http://h/?a=1&b=$(id)' --seed 7`},
		{"locbench|run|it's; rm -rf ~", `locbench run 'it'\''s; rm -rf ~' --seed 7`},
		{"locbench|run|", "locbench run '' --seed 7"},
	} {
		t.Run(c.args, func(t *testing.T) {
			got, err := RepeatCommand(bench.Run{Command: strings.Split(c.args, "|"), Seed: 7})
			testenv.Check(t, err == nil && got == c.want, "%s: %q, %v; want %q", c.args, got, err, c.want)
		})
	}
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"nothing", nil, "not a locbench run"},
		{"another program", []string{"rm", "run", "-rf"}, "not a locbench run"},
		{"another command", []string{"locbench", "clean"}, "not a locbench run"},
		{"an escape", []string{"locbench", "run", "\x1b[201~"}, `\x1b`},
		{"a new line", []string{"locbench", "run", "a\nid"}, "invisible characters"},
		{"right to left", []string{"locbench", "run", "a\u202eb"}, "invisible characters"},
		{"no text", []string{"locbench", "run", "\xff"}, "invisible characters"},
		{"too long", []string{"locbench", "run", strings.Repeat("x", 5000)}, "longer than"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := RepeatCommand(bench.Run{Command: c.args}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %q, %v; want %q in the error", c.name, got, err, c.want)
			}
		})
	}
}

func TestAgain(t *testing.T) {
	args, command, err := Again(bench.Run{Given: []string{"locbench", "run", "--rounds=2", "a b"}})
	testenv.OK(t, err)
	testenv.Equal(t, []string{strings.Join(args, "|"), command}, []string{"--rounds=2|a b", "locbench run --rounds=2 'a b'"})
	for given, want := range map[string]string{
		"": "no command of 'locbench run'", "locbench|calibrate": "no command of 'locbench run'",
		"rm|run|-rf": "no command of 'locbench run'", "locbench|run|--header=a: ***": "a secret",
		"locbench|run|a\u202eb": "invisible characters",
	} {
		t.Run(given, func(t *testing.T) {
			_, _, err := Again(bench.Run{Given: strings.Split(given, "|")})
			testenv.Fails(t, err, want)
		})
	}
}

func TestCompareCommand(t *testing.T) {
	got, err := CompareCommand("-old", "new one", "--force")
	testenv.OK(t, err)
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
