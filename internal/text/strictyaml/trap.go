package strictyaml

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/locbench/locbench/internal/text/secret"
)

// trap is a place where YAML reads a text otherwise than its writer means it.
type trap struct {
	at, line   int // offset, and line from 1
	what, hint string
	from, to   int // the text that needs quotes, if known
}

// scanner finds traps. It reads as much of YAML as that takes, and continues after each one.
type scanner struct {
	data  []byte
	at    int
	line  int
	block int    // indentation around the block text that is read; -1: none
	flow  []flow // open braces and brackets
	key   string // the last key
	traps []trap
	open  *trap // what is not closed at the end
	hash  *trap // a value in braces that is a comment
}

type flow struct {
	bracket  byte
	at, line int
	inValue  bool // after the colon of an entry
}

func notClosed(at int, f flow) trap {
	what := "`" + string(f.bracket) + "` is not closed"
	return trap{at: at, line: f.line, what: what, hint: "close it, or put the text in quotes"}
}

func (s *scanner) run() {
	for s.at < len(s.data) {
		if len(s.flow) > 0 {
			s.inFlow()
		} else {
			s.inBlock()
		}
	}
	if n := len(s.flow); n > 0 {
		one := notClosed(s.flow[0].at, s.flow[0])
		s.open = &one
	}
}

var (
	blockHeader = regexp.MustCompile(`^[|>][-+0-9]{0,2}\s*(#.*)?$`)
	noSpace     = regexp.MustCompile(`^[a-z_]+:/[^/]`)
	wholePath   = regexp.MustCompile(`^(?:/|%2F|\{[a-z_]+\}|\*/\*|\?[a-z_]+=)[^\s'"\\]{0,100}$`)
)

// near is how much of a line is looked at, in bytes: a file may be one line.
const near = 1000

// rest returns the rest of the line, up to near.
func (s *scanner) rest() string {
	line, _, _ := bytes.Cut(s.data[s.at:min(len(s.data), s.at+near)], []byte("\n"))
	return strings.TrimRight(string(line), "\r")
}

// skipLine goes to the next line.
func (s *scanner) skipLine() {
	i := bytes.IndexByte(s.data[s.at:], '\n')
	if i < 0 {
		s.at = len(s.data)
		return
	}
	s.at, s.line = s.at+i+1, s.line+1
}

// inBlock reads a line outside of braces and brackets, up to the first of these.
func (s *scanner) inBlock() {
	rest := s.rest()
	text := strings.TrimLeft(rest, " \t")
	blanks := rest[:len(rest)-len(text)]
	if s.block >= 0 && (text == "" || len(blanks) > s.block) {
		s.skipLine()
		return
	}
	if s.block = -1; text == "" || text[0] == '#' {
		s.skipLine()
		return
	}
	if strings.Contains(blanks, "\t") {
		s.found(s.at, "a tab in the indentation", "write spaces")
	}
	start, indent := s.at, len(blanks)
	s.at += len(blanks)
	for value := false; ; {
		s.blanks()
		text := s.rest()
		switch {
		case text == "" || text[0] == '#':
			s.skipLine()
			return
		case !value && (text == "-" || strings.HasPrefix(text, "- ")):
			indent = s.at - start
			s.at++
			continue
		case text[0] == '"' || text[0] == '\'':
			from := s.at
			if !s.quoted() || s.after(from, "the closing quote", false) {
				s.skipLine()
				return
			}
			if value = strings.HasPrefix(s.rest(), ":"); value {
				s.at++
			}
			continue
		case text[0] == '{' || text[0] == '[':
			s.push()
			return
		case (text[0] == '|' || text[0] == '>') && blockHeader.MatchString(text):
			s.block = indent
			s.skipLine()
			return
		case s.special(text):
			s.skipLine()
			return
		}
		key, _, isKey := cutKey(text)
		switch {
		case isKey && value:
			s.text(s.at+len(key), s.at, plainEnd(text), "`: ` begins a value here")
			fallthrough
		case !isKey:
			if m := noSpace.FindString(text); m != "" && !value {
				s.found(s.at, "no value", "write a space after `"+m[:strings.IndexByte(m, ':')+1]+"`")
			}
			s.skipLine()
			return
		}
		s.key, value, indent = key, true, s.at-start
		s.at += len(key) + 1
	}
}

// cutKey cuts a key from the start of a line.
func cutKey(text string) (key, rest string, ok bool) {
	text = plainEnd(text)
	for i := range len(text) {
		if text[i] == ':' && (i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\t') {
			return text[:i], text[i+1:], true
		}
	}
	return text, "", false
}

// plainEnd returns a text without the comment after it.
func plainEnd(text string) string {
	if i := strings.Index(text, " #"); i >= 0 {
		text = text[:i]
	}
	return strings.TrimRight(text, " \t")
}

func (s *scanner) blanks() {
	for s.at < len(s.data) && (s.data[s.at] == ' ' || s.data[s.at] == '\t') {
		s.at++
	}
}

func (s *scanner) push() {
	s.flow = append(s.flow, flow{bracket: s.data[s.at], at: s.at, line: s.line})
	s.at++
}

// inFlow reads one part of a map in braces or a list in brackets.
func (s *scanner) inFlow() {
	top := &s.flow[len(s.flow)-1]
	switch c := s.data[s.at]; {
	case c == '\n':
		s.line++
		s.at++
	case c == ' ' || c == '\t' || c == '\r':
		s.at++
	case c == '#':
		if next := s.rest(); top.inValue && len(next) > 1 && next[1] != ' ' {
			s.hash = &trap{at: s.at, line: s.line, what: "`#` begins a comment here", hint: "put the text in quotes"}
		}
		s.skipLine()
	case c == '-' && s.first(s.at) && strings.HasPrefix(s.rest()+" ", "- "): // the next item of a list
		f := s.flow[0]
		s.traps = append(s.traps, notClosed(s.at, f))
		s.flow = nil
	case c == ',':
		top.inValue = false
		s.at++
	case c == ':':
		top.inValue = true
		s.at++
	case c == '{' || c == '[':
		s.push()
	case c == '}' || c == ']':
		if (c == '}') != (top.bracket == '{') {
			s.traps = append(s.traps, notClosed(s.at, *top))
		}
		from := top.at
		s.flow = s.flow[:len(s.flow)-1]
		if s.at++; len(s.flow) == 0 && s.after(from, "the closing `"+string(c)+"`", true) {
			s.skipLine()
		}
	case c == '"' || c == '\'':
		from := s.at
		if s.quoted() {
			s.after(from, "the closing quote", false)
		}
	case c == '?':
		s.text(s.at, s.at, s.meant(s.at), "`?` begins a key here")
		s.at++
	case strings.IndexByte(specials, c) >= 0 && s.special(s.rest()):
		s.at += max(len(s.meant(s.at)), 1)
	default:
		s.plainInFlow(top)
	}
}

// plainInFlow reads a text without quotes.
func (s *scanner) plainInFlow(top *flow) {
	from := s.at
	for ; s.at < len(s.data); s.at++ {
		c, next := s.data[s.at], byte('\n')
		if s.at+1 < len(s.data) {
			next = s.data[s.at+1]
		}
		switch {
		case c == '\n' || strings.IndexByte(",}]", c) >= 0 || c == '#' && s.data[s.at-1] == ' ':
			return
		case c == '?' || c == '{' || c == '[':
			what := map[byte]string{'?': "`?` begins a key here", '{': "`{` begins a map here", '[': "`[` begins a list here"}[c]
			whole := s.meant(from)
			s.text(s.at, from, whole, what)
			s.at = max(from+len(whole), s.at+1)
			return
		case c == ':' && strings.IndexByte(" \t\r\n,}]", next) >= 0:
			switch colon := top.inValue && top.bracket == '{'; {
			case colon && s.first(from):
				s.found(s.at, "no comma after the value before", "write `,` at the end of the line above")
			case colon:
				s.text(s.at, from, s.meant(from), "`: ` begins a value here")
			default:
				s.key = strings.TrimSpace(string(s.data[from:s.at]))
			}
			return
		}
	}
}

// first reports whether nothing is before an offset in its line.
func (s *scanner) first(at int) bool {
	for at--; at >= 0 && (s.data[at] == ' ' || s.data[at] == '\t'); at-- {
	}
	return at < 0 || s.data[at] == '\n'
}

// specials are what a text cannot begin with.
const specials = "%@`*&|>"

// special reports whether a text begins with a character that has another meaning, and reports it.
func (s *scanner) special(text string) bool {
	if strings.IndexByte(specials, text[0]) < 0 {
		return false
	}
	whole := plainEnd(text)
	if len(s.flow) > 0 {
		whole = s.meant(s.at)
	}
	s.text(s.at, s.at, whole, "a text cannot begin with `"+text[:1]+"`")
	return true
}

// meant returns the text that probably was meant to be one, in braces or brackets: its own ones are
// closed in it.
func (s *scanner) meant(from int) string {
	depth := 0
	end := min(len(s.data), from+near)
	for i := from; i < end; i++ {
		switch c := s.data[i]; {
		case c == '{' || c == '[':
			depth++
		case (c == '}' || c == ']') && depth > 0:
			depth--
		case c == '\n' || c == ',' || c == '}' || c == ']':
			return strings.TrimSpace(string(s.data[from:i]))
		}
	}
	return strings.TrimSpace(string(s.data[from:end]))
}

// quoted reads a text in quotes, and returns false if the file ends in it.
func (s *scanner) quoted() bool {
	quote, from, line := s.data[s.at], s.at, s.line
	for s.at++; s.at < len(s.data); s.at++ {
		switch c := s.data[s.at]; {
		case c == '\n':
			s.line++
		case c == quote && quote == '\'' && s.at+1 < len(s.data) && s.data[s.at+1] == '\'':
			s.at++
		case c == quote:
			s.at++
			return true
		case c == '\\' && quote == '"' && s.at+1 < len(s.data):
			if s.at++; strings.IndexByte("0abt\tnvfre \"/\\N_LPxuU\n\r'", s.data[s.at]) < 0 {
				s.found(s.at, "`\\"+clip(string(s.data[s.at]), 1)+"` is not an escape in double quotes", "write single quotes")
			}
			if s.data[s.at] == '\n' {
				s.line++
			}
		}
	}
	hint := "write " + string(quote) + " at the end of the text"
	s.open = &trap{at: from, line: line, what: "the quote is not closed", hint: hint}
	return false
}

// after reports a text after the end of a value, and returns whether there is one.
func (s *scanner) after(from int, end string, bracket bool) bool {
	text := strings.TrimLeft(s.rest(), " \t")
	blank := len(text) < len(s.rest())
	allowed := ":"
	if len(s.flow) > 0 {
		allowed = ":,}]"
	}
	if text == "" || text[0] == '#' && blank || strings.IndexByte(allowed, text[0]) >= 0 {
		return false
	}
	if bracket && s.at-from < near {
		s.text(s.at, from, plainEnd(string(s.data[from:s.at])+s.rest()), "text after "+end)
	} else {
		s.found(s.at, "text after "+end, "put all of it in quotes")
	}
	return true
}

// quote returns the hint to put a text in quotes, with the text if it is a path: the file may be
// one of another kind, with secrets.
func (s *scanner) quote(text string) string {
	if secret.Name(s.key) || !wholePath.MatchString(text) {
		return "put the text in quotes"
	}
	return "put the text in quotes: `\"" + clip(text, 100) + "\"`"
}

// text reports a text that needs quotes, with its offset.
func (s *scanner) text(at, from int, text, what string) {
	s.found(at, what, s.quote(text))
	if t := &s.traps[len(s.traps)-1]; !strings.Contains(text, "\n") {
		t.from, t.to = from, from+len(text)
	}
}

func (s *scanner) found(at int, what, hint string) {
	s.traps = append(s.traps, trap{at: at, line: s.line, what: what, hint: hint})
}
