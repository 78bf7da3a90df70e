package console_test

import (
	"errors"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

// TestAppend: words follow an error in its line, or in a line after several, and its exit code
// remains.
func TestAppend(t *testing.T) {
	err := console.Append(console.Usagef("seed failed"), "nothing ran")
	testenv.Equal(t, err.Error(), "seed failed; nothing ran")
	testenv.Equal(t, console.ExitCode(t.Context(), err), console.ExitUsage)
	err = console.Append(errors.New("seed failed:\n  ERROR at line 3"), "nothing ran")
	testenv.Equal(t, err.Error(), "seed failed:\n  ERROR at line 3\nnothing ran")
}
