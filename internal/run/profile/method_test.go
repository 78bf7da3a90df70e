package profile_test

import (
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/testenv"
)

// Any token is a method.
func TestMethods(t *testing.T) {
	const short = "write up to 40 letters, such as `GET` or `PURGE`"
	for method, want := range map[string]string{
		"PURGE": "", "PROPFIND": "", "M-SEARCH": "", "x!y": "", "TRACE": "", "GETS": "", "Get2": "",
		strings.Repeat("X", 40): "", strings.Repeat("X", 41): short, "G T": short, "A/B": short, "GÉT": short,
		"CONNECT": "write another one: CONNECT opens a tunnel, which has no responses to measure",
		"get":     "write `GET`: services tell `GET` and `get` apart", "Delete": "write `DELETE`: services tell `DELETE` and `Delete` apart",
	} {
		text := "requests: [{method: " + method + ", path: /a}]\nsteps: [1]\n"
		p, err := profile.Parse("p.yaml", []byte(text))
		if want == "" {
			testenv.OK(t, err)
			testenv.Equal(t, p.Requests[0].Method, method)
		} else if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v", method, err)
		}
	}
}
