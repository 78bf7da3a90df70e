package jsonpath

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"unicode/utf8"
)

// Bounds of a document that Decode accepts. Whatever reads the document later may rely on them.
const (
	MaxDepth     = 200     // objects and lists within each other
	MaxValues    = 250_000 // values of all kinds
	MaxDigits    = 1000    // bytes of a number
	MaxExponent  = 400     // of a number, positive or negative
	maxExponents = 100_000 // sum of all exponents: each costs time wherever numbers are compared
)

// The errors of a document that is JSON and beyond a bound.
var (
	ErrNumber = errors.New("a number that is too large: at most 1,000 digits and an exponent from -400 to 400")
	ErrDepth  = fmt.Errorf("JSON that is nested too deeply: at most %d levels", MaxDepth)
	ErrValues = errors.New("JSON with too many values: at most 250,000")
)

// Decode reads a JSON document: map[string]any, []any, json.Number, string, bool or nil. It bounds
// depth, number of values and size of numbers, and refuses an object that repeats a key, which
// readers understand in different ways.
func Decode(body []byte) (any, error) {
	d := decoder{body: body}
	doc, err := d.value(0)
	if err != nil {
		return nil, err
	}
	if d.blanks(); d.at < len(body) {
		return nil, errors.New("extra content after the JSON document")
	}
	return doc, nil
}

type decoder struct {
	body   []byte
	at     int
	values int
	powers int // sum of all exponents, without their signs
}

// next returns the next byte that is not blank, without reading it; 0 at the end.
func (d *decoder) next() byte {
	d.blanks()
	if d.at == len(d.body) {
		return 0
	}
	return d.body[d.at]
}

func (d *decoder) blanks() {
	for ; d.at < len(d.body); d.at++ {
		if c := d.body[d.at]; c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return
		}
	}
}

// unexpected says what is wrong at the current place.
func (d *decoder) unexpected() error {
	if d.at >= len(d.body) {
		return io.ErrUnexpectedEOF
	}
	r, _ := utf8.DecodeRune(d.body[d.at:])
	return fmt.Errorf("invalid character %s at byte %d", strconv.QuoteRune(r), d.at+1)
}

func (d *decoder) value(depth int) (any, error) {
	if d.values++; d.values > MaxValues {
		return nil, ErrValues
	}
	switch c := d.next(); {
	case c == '{' || c == '[':
		if depth == MaxDepth {
			return nil, ErrDepth
		}
		d.at++
		if c == '{' {
			return d.object(depth + 1)
		}
		return d.list(depth + 1)
	case c == '"':
		return d.text()
	case c == '-' || c >= '0' && c <= '9':
		return d.number()
	case d.word("true"):
		return true, nil
	case d.word("false"):
		return false, nil
	case d.word("null"):
		return nil, nil
	}
	return nil, d.unexpected()
}

func (d *decoder) word(word string) bool {
	if len(d.body)-d.at < len(word) || string(d.body[d.at:d.at+len(word)]) != word {
		return false
	}
	d.at += len(word)
	return true
}

func (d *decoder) object(depth int) (any, error) {
	object := map[string]any{}
	if d.next() == '}' {
		d.at++
		return object, nil
	}
	for {
		if d.next() != '"' {
			return nil, d.unexpected()
		}
		key, err := d.text()
		if err != nil {
			return nil, err
		}
		if d.next() != ':' {
			return nil, d.unexpected()
		}
		d.at++
		value, err := d.value(depth)
		if err != nil {
			return nil, err
		}
		before := len(object)
		if object[key] = value; len(object) == before {
			return nil, fmt.Errorf("an object that repeats the key %q", key[:min(len(key), 60)])
		}
		if more, err := d.more('}'); !more {
			return object, err
		}
	}
}

func (d *decoder) list(depth int) (any, error) {
	list := []any{}
	if d.next() == ']' {
		d.at++
		return list, nil
	}
	for {
		value, err := d.value(depth)
		if err != nil {
			return nil, err
		}
		list = append(list, value)
		if more, err := d.more(']'); !more {
			return list, err
		}
	}
}

// more reads a comma, or the end of an object or a list.
func (d *decoder) more(end byte) (bool, error) {
	switch d.next() {
	case ',':
		d.at++
		return true, nil
	case end:
		d.at++
		return false, nil
	}
	return false, d.unexpected()
}

// text reads a string.
func (d *decoder) text() (string, error) {
	from, plain := d.at, true
	for d.at++; d.at < len(d.body); d.at++ {
		switch c := d.body[d.at]; {
		case c == '"':
			d.at++
			if inner := d.body[from+1 : d.at-1]; plain {
				return string(inner), nil
			}
			var text string
			if err := json.Unmarshal(d.body[from:d.at], &text); err != nil {
				return "", fmt.Errorf("invalid text at byte %d", from+1)
			}
			return text, nil
		case c == '\\':
			plain = false
			d.at++
		case c < ' ':
			return "", d.unexpected()
		case c >= utf8.RuneSelf:
			plain = false // encoding/json replaces what is not UTF-8
		}
	}
	d.at = len(d.body)
	return "", d.unexpected()
}

// number reads a number, with its text unchanged.
func (d *decoder) number() (any, error) {
	token := d.body[d.at:]
	if n := bytes.IndexAny(token, delimiters); n >= 0 {
		token = token[:n]
	}
	power, err := exponent(token)
	if d.powers += power; err != nil || d.powers > maxExponents {
		return nil, cmp.Or(err, ErrNumber)
	}
	d.at += len(token)
	return json.Number(token), nil
}

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
