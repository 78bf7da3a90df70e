package profile

import (
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func TestIsolation(t *testing.T) {
	const rest = "contenders: [go-nethttp]\nrequests: [{path: /}]\nsteps: [1]\n"
	for line, want := range map[string]string{"": "", "isolation: auto\n": "", "isolation: off\n": bench.IsolationOff, "isolation: 'off'\n": bench.IsolationOff} {
		t.Run(line, func(t *testing.T) {
			p, err := Parse("x.yaml", []byte(line+rest))
			if err != nil || p.Isolation != want {
				t.Errorf("%q: %q, %v", line, p.Isolation, err)
				return
			}
			written, err := Format(p)
			if err != nil || !strings.Contains(string(written), "isolation: ") {
				t.Errorf("%q: %v\n%s", line, err, written)
			}
			again, err := Parse("x.yaml", written)
			testenv.OK(t, err)
			testenv.Equal(t, again.Isolation, want, line)
		})
	}
}
