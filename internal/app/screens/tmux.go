package screens

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// tmuxWait is how long tmux may take to copy a text.
const tmuxWait = 2 * time.Second

// tmuxOn returns how a text is copied within tmux, which lets no sequence of a program through to
// the clipboard of the terminal unless it is configured to; nil outside of it. It goes into tmux's own
// buffer, and from there to the terminal where tmux has a clipboard (-w, from 3.2 on).
func tmuxOn(
	getenv func(string) string, look func(string) (string, error), run func(path, text string, args ...string) error,
) func(text string) (where string, err error) {
	if getenv("TMUX") == "" {
		return nil
	}
	return func(text string) (string, error) {
		path, err := look("tmux")
		if err != nil {
			return "", err
		}
		if run(path, text, "load-buffer", "-w", "-") != nil {
			err = run(path, text, "load-buffer", "-")
		}
		return "prefix ] of tmux pastes it", err
	}
}

// feed runs a program with a text as its input.
func feed(path, text string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), tmuxWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdin, cmd.WaitDelay = strings.NewReader(text), time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("tmux: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}
