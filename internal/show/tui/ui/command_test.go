package ui

import (
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
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

// An error rate that is an estimate has a "~".
func TestValueCellOfAnEstimate(t *testing.T) {
	var l Look
	m := measure.Get(measure.ErrorRate)
	testenv.Contains(t, ValueCell(&l, m, measure.Result{Known: true, Value: 0.026, Estimate: true}, "2.6%"), "~2.6%")
	testenv.Contains(t, ValueCell(&l, m, measure.Result{Known: true, Value: 0.026}, "2.6%"), "!~")
}

func TestWrap(t *testing.T) {
	l := NewLook(LookOptions{})
	for _, c := range []struct {
		in   string
		w, n int
		want []string
	}{
		{"", 5, 0, []string{""}},
		{"one two three", 7, 0, []string{"one two", "three"}},
		{"one two three", 8, 0, []string{"one two", "three"}},
		{"one two three", 80, 1, []string{"one two three"}},
		{"a  b", 3, 0, []string{"a", "b"}},
		{"  indented line", 10, 0, []string{"  indented", "line"}},
		{"first\n  second", 20, 0, []string{"first", "  second"}},
		{"averylongword", 5, 0, []string{"avery", "longw", "ord"}},
		{"is averylongword", 5, 0, []string{"is", "avery", "longw", "ord"}},
		{"世界世界", 3, 0, []string{"世", "界", "世", "界"}},
		{"世界", 1, 0, []string{""}},
		{"one two three four", 7, 2, []string{"one two", "three…"}},
		{"one two three", 7, 1, []string{"one tw…"}},
		{"one two", 0, 0, nil},
	} {
		t.Run(c.in, func(t *testing.T) {
			got := l.Wrap(c.in, c.w, c.n)
			for i := range got {
				if c.n > 0 && i == c.n-1 { // a blank may follow the ellipsis
					for len(got[i]) > 0 && got[i][len(got[i])-1] == ' ' {
						got[i] = got[i][:len(got[i])-1]
					}
				}
			}
			testenv.Equal(t, got, c.want, "Wrap", c.in, c.w, c.n)
		})
	}
}
