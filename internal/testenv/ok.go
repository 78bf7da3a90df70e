package testenv

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// OK ends the test if a step that the test needs has failed.
func OK(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// Fails reports an err that is nil or lacks one of the parts; or, with "", an err that is not nil.
func Fails(t testing.TB, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if part == "" && err != nil || part != "" && (err == nil || !strings.Contains(err.Error(), part)) {
			t.Errorf("error %v, want %q", err, part)
		}
	}
}

// Err returns the error of a call with two results.
func Err[T any](_ T, err error) error { return err }

// Equal reports a got that is not deeply equal to want; about says what it is of.
func Equal[T any](t testing.TB, got, want T, about ...any) {
	if !reflect.DeepEqual(got, want) {
		t.Helper()
		t.Errorf("%sgot %s, want %s", fmt.Sprintln(about...), shown(got), shown(want))
	}
}

// shown is %v of what can print itself, such as a duration, else %#v.
func shown(v any) string {
	if s, ok := v.(fmt.Stringer); ok {
		return s.String()
	}
	return fmt.Sprintf("%#v", v)
}
