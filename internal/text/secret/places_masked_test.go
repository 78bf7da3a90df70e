package secret

import (
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// Of a connection string only the settings of its pool and time limits are shown, and nothing of what may be
// a part of a password or a cookie.
func TestMasked(t *testing.T) {
	for v, want := range map[string]string{
		"Host=h;Username=u;Password=hunter22;Maximum Pool Size=2;Pooling=true": "***;Maximum Pool Size=2;Pooling=true",
		"Server=h;Password=123456;":              "***",
		"Server=h;Pwd=1;Timeout=15;":             "***;Timeout=15",
		"Server=h;Key=1234567":                   "***",
		`Password="a;b=1;c=2"`:                   "***",
		"Password='a;b=1;c=2'":                   "***",
		"Password=a;b;Timeout=15":                "***",
		"Timeout=15":                             "***",
		"user=u password=hunter22 host=h pool=2": "***",
		"hunter22":                               "***",
		"a=1; session=123456":                    "***",
		"Server=h;Lucky Number=7":                "***",
	} {
		got, _ := around(v)
		testenv.Equal(t, got, want, v)
	}
}
