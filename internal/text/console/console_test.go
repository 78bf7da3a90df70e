package console_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/secret"
)

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// TestGuarded: writing fails on a full disk, and not after the reader has gone.
func TestGuarded(t *testing.T) {
	r, w, err := os.Pipe()
	testenv.OK(t, err)
	testenv.OK(t, r.Close())
	defer w.Close()
	env := console.Env{Stdout: w, Stderr: full{}}.Guarded()
	testenv.OK(t, testenv.Err(fmt.Fprintln(env.Stdout, "text")))
	testenv.Fails(t, testenv.Err(fmt.Fprintln(env.Stderr, "text")), "no space left")
	testenv.Equal(t, console.Terminal(env.Stdout), io.Writer(w))
	_, err = console.UntilGone(env.Masked(secret.Masker{}).Stdout).Write([]byte("text"))
	testenv.Equal(t, err, console.ErrGone)
	testenv.Equal(t, console.ExitCode(t.Context(), err), console.ExitInterrupted)
	testenv.OK(t, testenv.Err(console.UntilGone(console.Env{Stdout: io.Discard}.Guarded().Stdout).Write(nil)))
	testenv.Equal(t, console.Columns(env.Stdout), 80)
}

// TestAppend: words follow an error in its line, or in a line after several, and its exit code
// remains.
func TestAppend(t *testing.T) {
	err := console.Append(console.Usagef("seed failed"), "nothing ran")
	testenv.Equal(t, err.Error(), "seed failed; nothing ran")
	testenv.Equal(t, console.ExitCode(t.Context(), err), console.ExitUsage)
	err = console.Append(errors.New("seed failed:\n  ERROR at line 3"), "nothing ran")
	testenv.Equal(t, err.Error(), "seed failed:\n  ERROR at line 3\nnothing ran")
}
