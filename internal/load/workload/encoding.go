package workload

import (
	"net/url"
	"unicode/utf8"
)

// encoding is how a value is written at its place in a request.
type encoding uint8

const (
	plain encoding = iota
	inPath
	inQuery
	inHeader // unchanged: values with control characters are refused before
	inJSON   // within quotes
	inQuotes // within quotes in the head of a part of a multipart body
	asLink   // the path and query of a link: unchanged
)

// append appends a value to dst.
func (e encoding) append(dst, value []byte) []byte {
	switch e {
	case inPath, inQuery:
		for i, c := range value {
			if !unreserved(c) {
				return append(append(dst, value[:i]...), e.escaped(value[i:])...)
			}
		}
	case inJSON:
		return appendJSON(dst, value)
	case inQuotes:
		return append(dst, quotedName.Replace(string(value))...)
	}
	return append(dst, value...)
}

func (e encoding) escaped(value []byte) string {
	if e == inPath {
		return url.PathEscape(string(value))
	}
	return url.QueryEscape(string(value))
}

// unreserved reports whether a character means the same everywhere in a URL (RFC 3986, 2.3).
func unreserved(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' ||
		c == '.' || c == '~'
}

// appendJSON appends a text as the inside of a JSON string.
func appendJSON(dst, value []byte) []byte {
	const hex = "0123456789abcdef"
	for len(value) > 0 {
		switch c := value[0]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		case c < utf8.RuneSelf:
			dst = append(dst, c)
		default:
			r, n := utf8.DecodeRune(value)
			dst = utf8.AppendRune(dst, r)
			value = value[n:]
			continue
		}
		value = value[1:]
	}
	return dst
}
