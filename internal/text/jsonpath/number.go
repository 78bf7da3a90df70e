package jsonpath

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
)

// delimiters end a value that is neither a text nor an object nor a list.
const delimiters = ",]} \n\t\r"

// exponent returns the exponent of a JSON number, without its sign.
func exponent(number []byte) (int, error) {
	if len(number) > MaxDigits {
		return 0, ErrNumber
	}
	if !json.Valid(number) || number[0] != '-' && (number[0] < '0' || number[0] > '9') {
		return 0, fmt.Errorf("invalid number %q", number[:min(len(number), 60)])
	}
	i := bytes.IndexAny(number, "eE")
	if i < 0 {
		return 0, nil
	}
	n, err := strconv.Atoi(string(number[i+1:]))
	if n = max(n, -n); err != nil || n > MaxExponent {
		return 0, ErrNumber
	}
	return n, nil
}

// IsNumber reports whether a text is a JSON number within the bounds of Decode.
func IsNumber(text string) bool {
	if text == "" || len(text) > MaxDigits || text[len(text)-1] < '0' { // JSON permits blanks around a number
		return false
	}
	_, err := exponent([]byte(text))
	return err == nil
}

// SameNumber reports whether two JSON numbers within the bounds of Decode are equal: 10, 10.0 and
// 1e1 are. It is exact at any size.
func SameNumber(a, b string) bool {
	if a == b {
		return true
	}
	x, ok := new(big.Rat).SetString(a)
	y, also := new(big.Rat).SetString(b)
	return ok && also && x.Cmp(y) == 0
}
