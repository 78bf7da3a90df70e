package docker

import (
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// Images with other layers or another configuration have other contents.
func TestContents(t *testing.T) {
	type labels = map[string]string
	of := func(layer, user string, l labels) string {
		return contents([]string{layer}, map[string]any{"User": user, "Labels": l})
	}
	plain := of("a", "u", nil)
	testenv.Equal(t, of("a", "u", nil), plain)
	for name, other := range map[string]string{"layer": of("b", "u", nil), "user": of("a", "v", nil), "label": of("a", "u", labels{"team": "x"})} {
		testenv.Check(t, other != plain, "another %s, the same contents", name)
	}
	testenv.Equal(t, contents(nil, labels{}), "")
	testenv.Equal(t, contents([]string{"a"}, nil), "")
}
