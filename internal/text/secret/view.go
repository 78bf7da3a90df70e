package secret

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// view is a text without some of its escapes. The zero offsets are those of the text itself.
type view struct {
	text     string
	from, to []int32 // of each byte: the part of the original text that it stands for
}

// span returns the part of the original text for v.text[from:to].
func (v view) span(from, to int) span {
	if v.from == nil {
		return span{from, to}
	}
	return span{int(v.from[from]), int(v.to[to-1])}
}

// escape is one way to escape characters.
type escape struct {
	mark byte // each escape begins with it
	// read returns the character that an escape at the beginning of a text stands for, and the length
	// of the escape; 0: it is not one.
	read func(string) (char string, length int)
	// begins reports whether a text is the beginning of an escape, cut off.
	begins func(string) bool
}

var escapes = []escape{
	{'\\', readQuoted, func(s string) bool {
		return len(s) < 10 && (len(s) < 2 || strings.IndexByte("uUx", s[1]) >= 0) && areHex(s[min(2, len(s)):])
	}},
	{'%', readPercent, func(s string) bool { return len(s) < 3 && areHex(s[1:]) }},
	{'&', readEntity, func(s string) bool { return len(s) < maxEntity && !strings.ContainsAny(s, " ;") }},
}

const maxEntity = 12 // bytes; entities with longer names are of rare characters

// Bounds of views: a value may be escaped in a text that is escaped again, as JSON in a JSON text.
const (
	maxDepth = 3
	maxViews = 16
	maxDeep  = 64 << 10 // bytes of a text that is looked at below the first depth
)

// eachView calls f for a text and for its views.
func eachView(text string, f func(view)) {
	views := 0
	var look func(v view, depth int)
	look = func(v view, depth int) {
		views++
		f(v)
		if depth == maxDepth || depth > 0 && len(text) > maxDeep {
			return
		}
		for _, e := range escapes {
			if next, ok := e.undo(v); ok && views < maxViews {
				look(next, depth+1)
			}
		}
	}
	look(view{text: text}, 0)
}

// undo returns a view without the escapes of one kind. ok is false if there are none.
func (e escape) undo(v view) (out view, ok bool) {
	if strings.IndexByte(v.text, e.mark) < 0 {
		return v, false
	}
	text := make([]byte, 0, len(v.text))
	out.from, out.to = make([]int32, 0, len(v.text)), make([]int32, 0, len(v.text))
	for i := 0; i < len(v.text); {
		char, length := v.text[i:i+1], 1
		if v.text[i] == e.mark {
			if c, n := e.read(v.text[i:]); n > 0 {
				char, length, ok = c, n, true
			} else if n := strings.Index(v.text[i:min(len(v.text), i+maxEntity+len(cutMark))], cutMark); n > 0 && e.begins(v.text[i:i+n]) {
				char, length, ok = "", n, true
			}
		}
		at := v.span(i, i+length)
		for range len(char) {
			out.from, out.to = append(out.from, int32(at.from)), append(out.to, int32(at.to))
		}
		text = append(text, char...)
		i += length
	}
	out.text = string(text)
	return out, ok
}

// readQuoted reads an escape of JSON, or of a quoted text in a programming language.
func readQuoted(s string) (char string, length int) {
	if len(s) < 2 {
		return "", 0
	}
	switch s[1] {
	case 'u':
		r, ok := hexAt(s, 2, 4)
		switch {
		case !ok:
			return "", 0
		case !utf16.IsSurrogate(rune(r)):
			return string(rune(r)), 6
		case strings.HasPrefix(s[6:], `\u`):
			if low, ok := hexAt(s, 8, 4); ok {
				return string(utf16.DecodeRune(rune(r), rune(low))), 12
			}
		}
		if rest, _, cut := strings.Cut(s[6:min(len(s), 12+len(cutMark))], cutMark); cut && strings.HasPrefix(`\u`, rest[:min(2, len(rest))]) {
			return "", 6 // one half of a character before the place where the text was cut
		}
		return string(utf8.RuneError), 6
	case 'U':
		if r, ok := hexAt(s, 2, 8); ok {
			return string(rune(r)), 10
		}
		return "", 0
	case 'x':
		if b, ok := hexAt(s, 2, 2); ok {
			return string([]byte{byte(b)}), 4
		}
		return "", 0
	}
	if i := strings.IndexByte(`"\/'nrtbf`, s[1]); i >= 0 {
		return "\"\\/'\n\r\t\b\f"[i : i+1], 2
	}
	return "", 0
}

// readPercent reads an escape of a URL or a form.
func readPercent(s string) (char string, length int) {
	if b, ok := hexAt(s, 1, 2); ok {
		return string([]byte{byte(b)}), 3
	}
	return "", 0
}

// readEntity reads a character reference of HTML.
func readEntity(s string) (char string, length int) {
	end := strings.IndexByte(s[:min(len(s), maxEntity)], ';')
	if end < 0 {
		return "", 0
	}
	entity := s[:end+1]
	if char = html.UnescapeString(entity); char == entity {
		return "", 0
	}
	return char, len(entity)
}

// hexAt returns the number of n hexadecimal digits.
func hexAt(s string, from, n int) (uint64, bool) {
	if len(s) < from+n || !areHex(s[from:from+n]) {
		return 0, false
	}
	x, err := strconv.ParseUint(s[from:from+n], 16, 32)
	return x, err == nil
}

func areHex(s string) bool { return strings.Trim(s, "0123456789abcdefABCDEF") == "" }
