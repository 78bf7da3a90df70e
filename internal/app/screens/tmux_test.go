package screens

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// Within tmux a text goes into tmux's buffer, with versions without -w too.
func TestTmux(t *testing.T) {
	for name, test := range map[string]struct {
		env     string
		missing bool
		refuses string // arguments that tmux refuses
		want    string
		ran     string
	}{
		"outside":       {"", false, "", "the terminal", ""},
		"inside":        {"/tmp/tmux-0/default,1,0", false, "", "prefix ] of tmux pastes it <nil>", "/bin/tmux load-buffer -w - < a b;"},
		"older":         {"x", false, "-w", "prefix ] of tmux pastes it <nil>", "/bin/tmux load-buffer -w - < a b;/bin/tmux load-buffer - < a b;"},
		"no server":     {"x", false, "load-buffer", "prefix ] of tmux pastes it no server", "/bin/tmux load-buffer -w - < a b;/bin/tmux load-buffer - < a b;"},
		"not installed": {"x", true, "", " not found", ""},
	} {
		ran := ""
		fill := tmuxOn(func(name string) string {
			testenv.Equal(t, name, "TMUX")
			return test.env
		}, func(name string) (string, error) {
			if test.missing {
				return "", errors.New("not found")
			}
			return "/bin/" + name, nil
		}, func(path, text string, args ...string) error {
			ran += fmt.Sprint(path, " ", strings.Join(args, " "), " < ", text, ";")
			if test.refuses != "" && strings.Contains(strings.Join(args, " "), test.refuses) {
				return errors.New("no server")
			}
			return nil
		})
		got := "the terminal"
		if fill != nil {
			where, err := fill("a b")
			got = fmt.Sprint(where, " ", err)
		}
		testenv.Check(t, got == test.want && ran == test.ran, "%s: %q, ran %q", name, got, ran)
	}
}
