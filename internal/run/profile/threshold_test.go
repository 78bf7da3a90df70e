package profile_test

import (
	"testing"

	"github.com/locbench/locbench/internal/run/profile"
)

func FuzzParseThreshold(f *testing.F) {
	f.Add("p99<50ms,errors<0.1% stop=trial from_step=3")
	f.Add("throughput >= 10 stop=true")
	f.Fuzz(func(t *testing.T, text string) {
		th, err := profile.ParseThreshold(text)
		if err != nil {
			return
		}
		if again, err := profile.ParseThreshold(th.Condition); err != nil || again.Condition != th.Condition {
			t.Fatalf("%q is written as %q and read back as %+v: %v", text, th.Condition, again, err)
		}
	})
}
