package embedded

import (
	"bytes"
	"errors"
	"iter"
	"math"
	"strconv"
)

// The functions of this file walk valid JSON. They copy and allocate nothing: most of a document is
// its geometry, and decoding that into maps would cost more than the rest of the store.

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// skipString returns the index after the string that starts at i.
func skipString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// skipValue returns the index after the value that starts at i.
func skipValue(b []byte, i int) int {
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		depth := 0
		for ; i < len(b); i++ {
			c := b[i]
			if c != '"' && c|0x20 != '{' && c|0x20 != '}' { // brackets of both kinds
				continue
			}
			switch c {
			case '"':
				i = skipString(b, i) - 1
			case '{', '[':
				depth++
			case '}', ']':
				depth--
				if depth == 0 {
					return i + 1
				}
			}
		}
		return len(b)
	}
	if n := bytes.IndexAny(b[i:], ",}] \n\t\r"); n >= 0 {
		return i + n
	}
	return len(b)
}

// span is a part of a document: b[start:end].
type span struct{ start, end int }

func (s span) of(b []byte) []byte { return b[s.start:s.end] }

// members returns the keys (without quotes) and values of the object at i, the elements of an
// array, or nothing for another value.
func members(b []byte, i int) iter.Seq2[span, span] {
	return func(yield func(key, value span) bool) {
		isObject := b[i] == '{'
		if !isObject && b[i] != '[' {
			return
		}
		for i := skipSpace(b, i+1); b[i] != '}' && b[i] != ']'; i = skipSpace(b, i) {
			if b[i] == ',' {
				i = skipSpace(b, i+1)
			}
			var key span
			if isObject {
				end := skipString(b, i)
				key = span{i + 1, end - 1}
				i = skipSpace(b, skipSpace(b, end)+1)
			}
			value := span{i, skipValue(b, i)}
			if !yield(key, value) {
				return
			}
			i = value.end
		}
	}
}

// elements calls f with the start of each element of the array at i. f returns the element's end,
// and elements the array's end, so no byte is read twice. Without an array, problem is the error.
func elements(b []byte, i int, problem string, f func(i int) (end int, err error)) (end int, err error) {
	if b[i] != '[' {
		return i, errors.New(problem)
	}
	for i = skipSpace(b, i+1); b[i] != ']'; i = skipSpace(b, i) {
		if b[i] == ',' {
			i = skipSpace(b, i+1)
		}
		if i, err = f(i); err != nil {
			return i, err
		}
	}
	return i + 1, nil
}

// number reads the number at i and returns its end. With few digits, as in coordinates, both the
// digits and the power of ten are exact, so their quotient equals the result of strconv.
func number(b []byte, i int) (f float64, end int, err error) {
	start, point, digits := i, -1, uint64(0)
	if b[i] == '-' {
		i++
	}
	for ; i < len(b) && (b[i] == '.' || '0' <= b[i] && b[i] <= '9'); i++ {
		if b[i] == '.' {
			point = i
			continue
		}
		digits = digits*10 + uint64(b[i]-'0')
	}
	const exact = 15
	if i == start || i-start > exact || i < len(b) && b[i]|0x20 == 'e' {
		end = skipValue(b, start)
		f, err = strconv.ParseFloat(string(b[start:end]), 64)
		if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
			err = errors.New("not a number: " + shorten(string(b[start:end])))
		}
		return f, end, err
	}
	f = float64(digits)
	if point >= 0 {
		f /= math.Pow10(i - point - 1)
	}
	if b[start] == '-' {
		f = -f
	}
	return f, i, nil
}
