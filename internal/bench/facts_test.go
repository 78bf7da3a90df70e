package bench

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// fact is what the program returns in a case, and what it should return.
type fact struct {
	name      string
	got, want any
}

// check tests facts. A text is expected of anything that prints as that text.
func check(t *testing.T, facts ...fact) {
	t.Helper()
	for _, f := range facts {
		t.Run(f.name, func(t *testing.T) {
			t.Helper()
			if _, text := f.want.(string); text {
				f.got = fmt.Sprint(f.got)
			}
			testenv.Check(t, reflect.DeepEqual(f.got, f.want), "%+v, want %+v", f.got, f.want)
		})
	}
}

// texts tests texts by what they should be.
func texts(t *testing.T, all map[string]string) {
	t.Helper()
	for want, got := range all {
		check(t, fact{want, got, want})
	}
}

// all returns the values of a function with several, as one text.
func all(values ...any) string { return fmt.Sprint(values...) }
