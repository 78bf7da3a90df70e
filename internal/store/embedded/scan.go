package embedded

import (
	"errors"
	"iter"
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
	for i++; b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// skipValue returns the index after the value that starts at i.
func skipValue(b []byte, i int) int {
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		for depth := 0; ; i++ {
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
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
	}
	for i < len(b) && b[i] > ' ' && b[i] != ',' && b[i] != ']' && b[i] != '}' {
		i++
	}
	return i
}

// members returns the keys of an object, with their quotes, and their values. Another value has
// none.
func members(b []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		i := skipSpace(b, 0)
		if b[i] != '{' {
			return
		}
		for i = skipSpace(b, i+1); b[i] != '}'; i = skipSpace(b, i) {
			if b[i] == ',' {
				i = skipSpace(b, i+1)
			}
			end := skipString(b, i)
			key := b[i:end]
			i = skipSpace(b, skipSpace(b, end)+1)
			end = skipValue(b, i)
			if !yield(key, b[i:end]) {
				return
			}
			i = end
		}
	}
}

// number reads the number at i and returns its end.
func number(b []byte, i int) (f float64, end int, err error) {
	end = skipValue(b, i)
	if f, err = strconv.ParseFloat(string(b[i:end]), 64); err != nil {
		err = errors.New("not a number: " + shorten(string(b[i:end])))
	}
	return f, end, err
}
