package needs

import (
	"fmt"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// TestOrder: a need follows those that it comes after; otherwise the order remains.
func TestOrder(t *testing.T) {
	need := func(name string, after ...string) Named { return Named{Name: name, After: after} }
	for name, c := range map[string]struct {
		all       []Named
		want, err string
	}{
		"none":             {nil, "[]", ""},
		"as written":       {[]Named{need("b"), need("a")}, "[b a]", ""},
		"after a later":    {[]Named{need("topics", "schema"), need("schema", "broker"), need("broker"), need("db")}, "[broker schema topics db]", ""},
		"after an unknown": {[]Named{need("a", "b")}, "", `need a comes after "b", which is not a need of this run`},
		"in a circle":      {[]Named{need("c"), need("a", "b"), need("b", "a")}, "", "need a comes after itself"},
		"after itself":     {[]Named{need("a", "a")}, "", "need a comes after itself"},
	} {
		t.Run(name, func(t *testing.T) {
			err := Order(c.all)
			if c.err != "" {
				testenv.Fails(t, err, c.err)
				return
			}
			testenv.OK(t, err)
			names := []string{}
			for _, n := range c.all {
				names = append(names, n.Name)
			}
			testenv.Equal(t, fmt.Sprint(names), c.want, name)
		})
	}
}
