package screens

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/locbench/locbench/internal/run/worker"
)

// browserWait is how long the opening program may take to report a failure.
const browserWait = 2 * time.Second

// browser is a program that opens a file in the user's default application.
type browser struct {
	path string
	args []string // before the file
}

// browserOn finds the opening program of a system; ok is false without a display or without the
// program.
func browserOn(system string, getenv func(string) string, look func(string) (string, error)) (b browser, ok bool) {
	remote := getenv("SSH_CONNECTION") != "" || getenv("SSH_TTY") != ""
	name := "xdg-open"
	switch system {
	case "darwin":
		name = "open"
	case "windows":
		// Not "start": that is a command of the shell, which would interpret the file's name.
		name, b.args = "rundll32", []string{"url.dll,FileProtocolHandler"}
	default:
		remote = getenv("DISPLAY") == "" && getenv("WAYLAND_DISPLAY") == ""
	}
	if remote {
		return browser{}, false
	}
	path, err := look(name)
	if err != nil {
		return browser{}, false
	}
	b.path = path
	return b, true
}

// open starts the program, without a shell and without this terminal. A program that still runs
// after browserWait is the browser itself: it outlives this process.
func (b browser) open(file string) error {
	file, err := filepath.Abs(file) // begins with a slash or a drive, so it is never read as an option
	if err != nil {
		return err
	}
	cmd := exec.Command(b.path, append(append([]string(nil), b.args...), file)...)
	worker.OwnSession(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	// This goroutine ends with the browser, or with this process. It needs no clean-up, so nothing
	// waits for it.
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		if ended, ok := errors.AsType[*exec.ExitError](err); ok {
			return fmt.Errorf("%s: exit code %d", filepath.Base(b.path), ended.ExitCode())
		}
		return err
	case <-time.After(browserWait):
		return nil
	}
}
