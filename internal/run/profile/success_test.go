package profile

import (
	"fmt"
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
		testenv.Equal(t, fmt.Sprint(p.Requests[0].Rejections()), want, text)
		written, err := Format(p)
		testenv.OK(t, err)
		again, err := Parse("p.yaml", written)
		testenv.OK(t, err)
		testenv.Equal(t, fmt.Sprint(again.Requests[0].Rejections()), want, text, again.Requests)
	}
}
