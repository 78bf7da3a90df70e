package profile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

func TestSuccess(t *testing.T) {
	for text, want := range map[string]string{
		"expect: {status: [200, 429]}":                      "[429]",
		"expect: {status: [200, 429]}, success: [200, 429]": "[]",
		"expect: {status: [200, 404, 429]}, success: [200]": "[404 429]",
		"expect: {status: 404}":                             "[]",
	} {
		p, err := Parse("p.yaml", []byte("requests:\n  - {get: /, "+text+"}\nsteps: [1]\n"))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := fmt.Sprint(p.Requests[0].Rejections()); got != want {
			t.Errorf("%s: rejections %s, want %s", text, got, want)
		}
		written, err := Format(p)
		testenv.OK(t, err)
		again, err := Parse("p.yaml", written)
		if err != nil || fmt.Sprint(again.Requests[0].Rejections()) != want {
			t.Errorf("%s: written and read: %v, %v", text, again.Requests, err)
		}
	}
	for text, want := range map[string]string{
		"requests:\n  - {get: /, expect: {status: [200, 404]}, success: [200, 429]}\nsteps: [1]\n": "429 is not an expected status; add it to `expect`, such as `expect: {status: [200, 404, 429]}`",
		"requests:\n  - {get: /, success: [201]}\nsteps: [1]\n":                                    "201 is not an expected status",
		"setup:\n  - {get: /, success: [200]}\nrequests:\n  - {get: /}\nsteps: [1]\n":              "`success` has no effect in setup",
	} {
		if _, err := Parse("p.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
