package targets

import (
	"bufio"
	"fmt"
	"net/textproto"
	"regexp"
	"strings"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

// maxLine is the number of bytes in a line from which on vegeta's scanner ends, without an error.
const maxLine = bufio.MaxScanTokenSize - 1

const bodyHint = "write the body to a file, and `@FILE` right after the headers"

// begins matches a line that vegeta takes for the first one of a target.
var begins = regexp.MustCompile(`^[A-Z]+\s`)

// block is a target in the HTTP format.
type block struct {
	place
	text   []string // the lines of request and headers
	body   string   // path of the file of the body
	broken bool     // a mistake in it is reported
}

// state is what may follow in the HTTP format.
type state int

const (
	between   state = iota // a target
	requested              // a header, a body, the end of the target, or the next one
	headers                // a header, a body, or the end of the target
	skipping               // anything up to an empty line or a target: a mistake is reported
)

// http reads the HTTP format. A line belongs to what vegeta takes it for.
func (r *reader) http(lines []string) {
	var b block
	now := between
	end := func() {
		if len(b.text) > 0 && !b.broken {
			r.block(b)
		}
		b, now = block{}, between
	}
	for i, line := range lines {
		n := i + 1
		if len(line) >= maxLine {
			r.Add(n, "a line of 64 KiB or more, at which vegeta ends", "shorten it, or use the JSON format")
			b.broken = true
			continue
		}
		line = strings.TrimSpace(line)
		isRequest := begins.MatchString(line)
		switch {
		case line == "":
			end()
		case now != requested && line[0] == '#', now == skipping && !isRequest:
		case now == requested && line[0] == '#':
			now = headers // for vegeta, a target no longer ends at the next one
		case now == headers && isRequest:
			r.Add(n, "vegeta takes this target for a header of the one before it", "write an empty line before it")
			b.broken = true
			fallthrough
		case now == between || isRequest:
			end()
			b, now = block{place: place{line: n, parts: map[string]int{}}, text: []string{line}}, requested
			if what, hint := wrongRequest(line); what != "" {
				r.Add(n, what, hint)
				b.broken, now = true, skipping
			}
		case line[0] == '@':
			b.body, b.parts["file"] = line[1:], n
			if b.body == "" {
				r.Add(n, "`@` without the path of a file", "write it: `@body.json`")
				b.broken = true
			}
			end()
		default:
			now = headers
			what, hint := b.header(line, n)
			if what != "" {
				r.Add(n, what, hint)
				b.broken = true
			}
		}
	}
	end()
}

// wrongRequest returns what is wrong with the first line of a target; "" if nothing is.
func wrongRequest(line string) (what, hint string) {
	method, address, two := strings.Cut(line, " ")
	switch {
	case begins.MatchString(line):
		if !two || strings.Contains(method, "\t") || strings.TrimLeft(address, " \t") != address {
			return "not one blank between method and URL", "write exactly one"
		}
	case line[0] == '@':
		return "a body without a target", "write `@FILE` right after the headers of its target, once"
	case isBody(line):
		return "a body in place of a target", bodyHint
	case strings.HasPrefix(line, "//"):
		return "neither a target nor a comment", "begin a comment with `#`"
	case strings.Contains(method, "://"):
		return "no method before the URL", "write `GET`, or another one, and a blank before it"
	case strings.Contains(address, "://"):
		return fmt.Sprintf("%q is not a method", word(method)), fmt.Sprintf("write `%s`", word(strings.ToUpper(method)))
	case strings.Contains(line, ":"):
		return "a header without a target", "write it below the first line of its target, above any `@FILE`"
	default:
		return "not a target", "write `METHOD URL`, such as `GET http://127.0.0.1:8080/items`"
	}
	return "", ""
}

// isBody reports whether a line looks like a part of a body.
func isBody(line string) bool { return strings.ContainsRune(`{}[]<"`, rune(line[0])) }

// header adds a line with a header, or returns what is wrong with it.
func (b *block) header(line string, n int) (what, hint string) {
	name, value, ok := strings.Cut(line, ":")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	switch {
	case isBody(line):
		return "a body, which vegeta takes for a header", bodyHint
	case strings.HasPrefix(line, "//"):
		return "neither a header nor a comment", "begin a comment with `#`"
	case !ok || name == "":
		return "not a header", "write `NAME: VALUE`, `@FILE` for the body, or an empty line before the next target; " +
			"a target that is more frequent is repeated"
	case value == "":
		return fmt.Sprintf("the header %q has no value", word(name)), "write one, or remove the line"
	}
	b.text = append(b.text, line)
	b.parts["header."+textproto.CanonicalMIMEHeaderKey(name)] = n
	return "", ""
}

// block adds a target without mistakes in its lines.
func (r *reader) block(b block) {
	lines := strings.Join(b.text, "\n")
	text := lines + "\n@" + b.body
	if r.repeated(text) {
		return
	}
	var t vegeta.Target
	if err := vegeta.NewHTTPTargeter(strings.NewReader(lines), nil, nil).Decode(&t); err != nil {
		_, url, _ := strings.Cut(b.text[0], " ")
		if _, _, ok := r.address(url, b.line); ok { // else it has reported why
			r.Add(b.line, "vegeta does not read this target", "write `METHOD URL`, then `NAME: VALUE` in each line")
		}
		return
	}
	r.add(text, t, b.place, b.body)
}
