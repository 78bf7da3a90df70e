package safe

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// ZeroWidth is the invisible space that keeps an @ in summary.md from mentioning a user.
const ZeroWidth = '\u200b'

// Text returns s with the replacements of Line, but keeps line ends, tabs and ZeroWidth.
func Text(s string) string {
	if plainText(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 8)
	for i, r := range s {
		switch {
		case r == '\n' || r == '\t' || r == ZeroWidth:
			b.WriteRune(r)
		case r == '\r':
			if !strings.HasPrefix(s[i:], "\r\n") { // alone it lets later text overwrite the line
				b.WriteRune('␍')
			} else {
				b.WriteRune(r)
			}
		default:
			b.WriteRune(shown(r))
		}
	}
	return b.String()
}

func plainText(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 && c != '\n' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}

// shown returns the replacement for r.
func shown(r rune) rune {
	switch {
	case r < 0x20:
		return '␀' + r // the Unicode control pictures
	case r == 0x7f:
		return '␡'
	case unsafe(r):
		return utf8.RuneError
	}
	return r
}

// JSON returns the JSON data with all characters escaped that Line replaces; encoding/json escapes
// only those below U+0020. The meaning stays the same.
func JSON(data []byte) []byte {
	harmless := func(r rune) bool { return r < 0x7f || r == utf8.RuneError || !unsafe(r) }
	if bytes.IndexFunc(data, func(r rune) bool { return !harmless(r) }) < 0 {
		return data
	}
	var b bytes.Buffer
	for _, r := range string(data) {
		switch hi, lo := utf16.EncodeRune(r); {
		case harmless(r):
			b.WriteRune(r)
		case hi != utf8.RuneError:
			fmt.Fprintf(&b, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
}

// Writer edits text and passes it on to another writer in the form of Text. Each Write is edited
// separately, so it should contain complete lines. A character split between two Writes stays
// intact. A Writer is safe for concurrent use.
type Writer struct {
	to   io.Writer
	edit func(string) string // may be nil

	mu   sync.Mutex
	half []byte // the beginning of a split character
}

// NewWriter returns a Writer to w that edits text with edit, which may be nil.
func NewWriter(w io.Writer, edit func(string) string) *Writer { return &Writer{to: w, edit: edit} }

// Unwrap returns the writer that gets the text.
func (w *Writer) Unwrap() io.Writer { return w.to }

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	data := append(w.half, p...)
	n := len(data)
	for back := 1; back < utf8.UTFMax && back <= len(data); back++ {
		if utf8.RuneStart(data[len(data)-back]) {
			if !utf8.FullRune(data[len(data)-back:]) {
				n -= back
			}
			break
		}
	}
	text := string(data[:n])
	w.half = append([]byte(nil), data[n:]...)
	if w.edit != nil {
		text = w.edit(text)
	}
	if _, err := io.WriteString(w.to, Text(text)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// JSONWriter returns a Writer to w for JSON. It does not change the meaning of the JSON.
func JSONWriter(w io.Writer) *Writer {
	return NewWriter(w, func(s string) string { return string(JSON([]byte(s))) })
}
