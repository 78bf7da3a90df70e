package profile_test

import (
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/testenv"
)

// The default of compare_bodies may cost 1% of a CPU, a share that the user chose any time, even if
// it is the same. A profile that is written and read again keeps which it is.
func TestDefaultShareOfComparedBodies(t *testing.T) {
	const expects = "requests: [{path: /x, expect: {present: [id]}}]\nsteps: [3]\n"
	for text, want := range map[string]struct {
		share   float64
		bounded bool
	}{
		expects:                                {.01, true},
		"compare_bodies: 1%\n" + expects:       {.01, false},
		"compare_bodies: 100%\n" + expects:     {1, false},
		"compare_bodies: none\n" + expects:     {0, false},
		"requests: [{path: /x}]\nsteps: [3]\n": {0, false},
	} {
		p, err := profile.Parse("x.yaml", []byte(text))
		testenv.OK(t, err)
		if p.CompareBodies != want.share || p.CompareBounded != want.bounded {
			t.Errorf("%q: share %g, bounded %t", text, p.CompareBodies, p.CompareBounded)
		}
		written, err := profile.Format(p)
		if err != nil || strings.Contains(string(written), "compare_bodies") == want.bounded {
			t.Errorf("%q: %v, written as\n%s", text, err, written)
		}
		roundTrip(t, p)
	}
}
