package testenv

import (
	"strings"
	"testing"
)

// Check reports what format and args say if ok is false.
func Check(t testing.TB, ok bool, format string, args ...any) {
	if !ok {
		t.Helper()
		t.Errorf(format, args...)
	}
}

// Need is Check for what the rest of the test needs: it ends the test.
func Need(t testing.TB, ok bool, format string, args ...any) {
	if !ok {
		t.Helper()
		t.Fatalf(format, args...)
	}
}

// Contains reports each part that text lacks; and, of a part that begins with "!", that text has
// the rest of it.
func Contains(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		without, not := strings.CutPrefix(part, "!")
		if strings.Contains(text, without) == not {
			t.Errorf("want %q in:\n%s", part, text)
		}
	}
}

// Must returns the first result of a call for a test, which it ends if the second one is an error:
// testenv.Must(call())(t).
func Must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		OK(t, err)
		return v
	}
}
