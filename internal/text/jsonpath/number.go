package jsonpath

import (
	"strconv"
	"strings"
)

// IsNumber reports whether a text is a JSON number within the bounds of Decode.
func IsNumber(text string) bool {
	if text == "" || len(text) > MaxDigits || text[0] != '-' && (text[0] < '0' || text[0] > '9') {
		return false
	}
	d := decoder{body: []byte(text)}
	_, err := d.number()
	return err == nil && d.at == len(text)
}

// SameNumber reports whether two JSON numbers within the bounds of Decode are equal: 10, 10.0 and
// 1e1 are. It is exact at any size.
func SameNumber(a, b string) bool {
	if a == b {
		return true
	}
	var one, other [64]byte
	x, y := newDecimal(a, one[:0]), newDecimal(b, other[:0])
	return string(x.digits) == string(y.digits) && (len(x.digits) == 0 || x.negative == y.negative && x.power == y.power)
}

// decimal is 0.DIGITS × 10^power. Its digits neither begin nor end with a zero; 0 has none.
type decimal struct {
	negative bool
	digits   []byte
	power    int
}

// newDecimal reads a JSON number, with its digits in space.
func newDecimal(text string, space []byte) (d decimal) {
	text, d.negative = strings.CutPrefix(text, "-")
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		d.power, _ = strconv.Atoi(text[i+1:])
		text = text[:i]
	}
	whole, fraction, _ := strings.Cut(text, ".")
	d.power += len(whole)
	d.digits = append(append(space, whole...), fraction...)
	for len(d.digits) > 0 && d.digits[0] == '0' {
		d.digits = d.digits[1:]
		d.power--
	}
	for n := len(d.digits); n > 0 && d.digits[n-1] == '0'; n-- {
		d.digits = d.digits[:n-1]
	}
	return d
}
