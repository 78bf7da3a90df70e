package secret

import (
	"encoding/base64"
	"encoding/hex"
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Bounds of what is looked for. Escapes take no room here: a text is looked at without them too.
const (
	minLength  = 6       // bytes; shorter values are part of too many words
	maxEncoded = 2 << 20 // bytes of all encoded forms
	maxDepth   = 4       // escapes in one another, as JSON in a JSON text
)

// Where a text was cut, and the shortest beginning of a known value that is masked there.
const (
	cutMark = "…"
	minCut  = 4
)

const digits = "0123456789"

// index has the forms of known values, by their first minCut bytes.
type index map[string][]string

// New returns a Masker that knows values. It does not look for those below minLength.
func New(values ...string) Masker {
	all, seen, encoded := index{}, map[string]bool{Mask: true}, 0
	for pass, forms := range []func(string) []string{plainForms, encodedForms} {
		for _, v := range values {
			if len(v) < minLength {
				continue
			}
			for _, form := range forms(v) {
				size := pass * len(form)
				if len(form) < minLength || seen[form] || size > 0 && encoded+size > maxEncoded {
					continue
				}
				encoded += size
				seen[form] = true
				all[form[:minCut]] = append(all[form[:minCut]], form)
			}
		}
	}
	return Masker{all}
}

// plainForms returns a value in the forms that it has in a text without escapes.
func plainForms(v string) []string {
	oneLine := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, v)
	forms := []string{v, strings.TrimSpace(v), oneLine, strings.ReplaceAll(v, " ", "+"),
		strings.ReplaceAll(v, "'", "''"), strings.ReplaceAll(v, `"`, `""`)} // as in SQL
	at := view{text: v}
	for range maxDepth { // it may have escapes, as in a URL
		at, _ = at.unescaped()
		forms = append(forms, at.text)
	}
	forms = append(forms, latin1(v)...)
	if strings.Contains(v, "\n") { // a private key, which may come back line by line
		for line := range strings.SplitSeq(v, "\n") {
			if line = strings.TrimSpace(line); !strings.HasPrefix(line, "-----") {
				forms = append(forms, line)
			}
		}
	}
	return forms
}

// latin1 returns a value in ISO 8859-1, and what is left of that in UTF-8; nothing for a value with other
// characters.
func latin1(v string) []string {
	var bytes []byte
	for _, c := range v {
		if bytes = append(bytes, byte(c)); c > 0xff {
			return nil
		}
	}
	return []string{string(bytes), strings.Map(func(c rune) rune {
		if c >= utf8.RuneSelf {
			return utf8.RuneError
		}
		return c
	}, v)}
}

// encodedForms returns a value in base64 and in hexadecimal digits. In base64 a text such as
// user:password may be around it: it then begins at one of three offsets, and its first and last
// characters depend on that text.
func encodedForms(v string) (forms []string) {
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		forms = append(forms, encoding.EncodeToString([]byte(v)))
		for offset, first := range []int{0, 2, 3} {
			text := encoding.EncodeToString(append(make([]byte, offset), v...))
			forms = append(forms, text[first:(offset+len(v))*8/6])
		}
	}
	digits := hex.EncodeToString([]byte(v))
	return append(forms, digits, strings.ToUpper(digits))
}

// in returns the places of a text that are known: whole values, those of digits alone only as whole
// numbers, and the beginning of a value where the text was cut.
func (k index) in(text string) (all []span) {
	if len(k) == 0 {
		return nil
	}
	v, ok := view{text: text}, true
	for depth := 0; ok && depth <= maxDepth; depth++ {
		all = k.inView(v, all)
		v, ok = v.unescaped()
	}
	return all
}

func (k index) inView(v view, all []span) []span {
	isDigit := func(i int) bool { return i >= 0 && i < len(v.text) && strings.IndexByte(digits, v.text[i]) >= 0 }
	cut := -1
	for i := range max(0, len(v.text)-minCut+1) {
		if cut < i {
			if cut = len(v.text); strings.Contains(v.text[i:], cutMark) {
				cut = i + strings.Index(v.text[i:], cutMark)
			}
		}
		for _, form := range k[v.text[i:i+minCut]] {
			to := i + len(form)
			switch {
			case strings.HasPrefix(v.text[i:], form):
				if strings.Trim(form, digits) != "" || !isDigit(i-1) && !isDigit(to) {
					all = append(all, v.span(i, to))
				}
			case cut-i >= minCut && cut < len(v.text) && strings.HasPrefix(form, v.text[i:cut]):
				all = append(all, v.span(i, cut)) // with an escape that was cut off
			}
		}
	}
	return all
}

// span is a part of a text: s[from:to].
type span struct {
	from, to int
	user     bool // of an address, with its password
}

// apart sorts spans and joins those that overlap.
func apart(all []span) []span {
	slices.SortFunc(all, func(a, b span) int { return a.from - b.from })
	out := all[:0]
	for _, x := range all {
		switch last := len(out) - 1; {
		case x.from == x.to:
		case last >= 0 && x.from < out[last].to:
			out[last].to = max(out[last].to, x.to)
		default:
			out = append(out, x)
		}
	}
	return out
}

// view is a text without some of its escapes. The zero offsets are those of the text itself.
type view struct {
	text string
	at   []int32 // of each byte, and of the end: its place in the original text
}

// span returns the part of the original text for v.text[from:to].
func (v view) span(from, to int) span {
	if v.at == nil {
		return span{from: from, to: to}
	}
	return span{from: int(v.at[from]), to: int(v.at[to])}
}

// unescaped returns a view without the outermost escapes. ok is false if there are none.
func (v view) unescaped() (out view, ok bool) {
	if !strings.ContainsAny(v.text, `\%&`) {
		return v, false
	}
	text := make([]byte, 0, len(v.text))
	out.at = make([]int32, 0, len(v.text)+1)
	for i := 0; i < len(v.text); {
		char, length := v.text[i:i+1], 1
		if strings.Contains(`\%&`, char) {
			if c, n := readEscape(v.text[i:]); n > 0 {
				char, length, ok = c, n, true
			} else if n := strings.Index(v.text[i:min(len(v.text), i+maxEscape+len(cutMark))], cutMark); n > 0 &&
				!strings.Contains(v.text[i:i+n], " ") { // the text was cut within it
				char, length, ok = "", n, true
			}
		}
		for range len(char) {
			out.at = append(out.at, int32(v.span(i, i).from))
		}
		text = append(text, char...)
		i += length
	}
	out.text, out.at = string(text), append(out.at, int32(v.span(len(v.text), len(v.text)).from))
	return out, ok
}

const maxEscape = 12 // bytes; entities with longer names are of rare characters

// readEscape returns the character that an escape of JSON or a programming language, of a URL, or of
// HTML at the beginning of a text stands for, and the length of the escape; 0: it is not one.
func readEscape(s string) (char string, length int) {
	switch s[0] {
	case '%':
		if b, ok := hexAt(s, 1, 2); ok {
			return string([]byte{byte(b)}), 3
		}
		return "", 0
	case '&':
		entity := s[:strings.IndexByte(s[:min(len(s), maxEscape)], ';')+1]
		if char = html.UnescapeString(entity); char != entity {
			return char, len(entity)
		}
		return "", 0
	}
	if len(s) < 2 {
		return "", 0
	}
	if i := strings.IndexByte(`"\/'nrtbf`, s[1]); i >= 0 {
		return "\"\\/'\n\r\t\b\f"[i : i+1], 2
	}
	n := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[1]]
	r, ok := hexAt(s, 2, n)
	switch {
	case !ok:
		return "", 0
	case n == 2:
		return string([]byte{byte(r)}), 4
	case !utf16.IsSurrogate(rune(r)):
		return string(rune(r)), 2 + n
	}
	if low, ok := hexAt(s, 8, 4); ok && s[6:8] == `\u` {
		return string(utf16.DecodeRune(rune(r), rune(low))), 12
	}
	return "", 0 // one half of a character
}

// hexAt returns the number of n hexadecimal digits.
func hexAt(s string, from, n int) (uint64, bool) {
	if n == 0 || len(s) < from+n || strings.Trim(s[from:from+n], digits+"abcdefABCDEF") != "" {
		return 0, false
	}
	x, err := strconv.ParseUint(s[from:from+n], 16, 32)
	return x, err == nil
}
