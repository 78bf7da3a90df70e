package screens

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"
)

// browserWait is how long a program that opens files may take to say that it cannot.
const browserWait = 2 * time.Second

// browser is a program that opens a file in whatever the user reads such files with.
type browser struct {
	path string
	args []string // before the file
}

// browserOn finds that program; ok is false where there is no display to open anything on, or no
// such program.
func browserOn(system string, getenv func(string) string, look func(string) (string, error)) (b browser, ok bool) {
	remote := getenv("SSH_CONNECTION") != "" || getenv("SSH_TTY") != ""
	name := "xdg-open"
	switch system {
	case "darwin":
		name = "open"
	case "windows":
		// "start" is a word of the shell, which would read the file's name in its own way.
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

// open starts the program, without a shell and without our terminal. One that is still there after
// a while is the browser itself: it stays, and does not end with us.
func (b browser) open(file string) error {
	file, err := filepath.Abs(file) // begins with a slash or a drive, so it is never taken for an option
	if err != nil {
		return err
	}
	cmd := exec.Command(b.path, append(append([]string(nil), b.args...), file)...)
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	// This goroutine lives as long as the browser does, at most as long as we do; there is nothing
	// in it to be waited for.
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
