package jsonpath

import (
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

func TestSameNumber(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"10", "10.0", true}, {"10", "1e1", true}, {"10", "100E-1", true}, {"0.1", "1e-1", true}, {"0", "-0.000", true},
		{"0", "0e400", true}, {"10", "-10", false}, {"10", "1", false}, {"1e400", "1e399", false}, {"0.5", "0.51", false},
		{"18446744073709551615", "18446744073709551615.00", true}, {"18446744073709551615", "18446744073709551616", false},
		{"9007199254740993", "9007199254740992", false}, {"0.1", "0.1000000000000000055511151231257827", false},
	} {
		testenv.Equal(t, SameNumber(tt.a, tt.b), tt.same, tt.a, tt.b)
		testenv.Equal(t, SameNumber(tt.b, tt.a), tt.same, tt.b, tt.a)
	}
}

func TestIsNumber(t *testing.T) {
	for text, want := range map[string]bool{
		"1": true, "-0.5e+3": true, "": false, "01": false, "1.": false, " 1": false, "1 ": false, "0x1F": false, "1_000": false, "1e401": false, ".5": false,
	} {
		testenv.Equal(t, IsNumber(text), want, text)
	}
}
