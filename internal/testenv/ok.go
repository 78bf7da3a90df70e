package testenv

import "testing"

// OK ends the test if a step that the test needs has failed.
func OK(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
