package workload

import (
	"bytes"
	"strings"
	"time"
)

// setCookie is what one Set-Cookie header says (RFC 6265, 5.2). Its slices are parts of the header.
type setCookie struct {
	name, value  []byte
	path, domain []byte // nil: not given
	expires      int64  // Unix time in ms; 0: with the session
	secure       bool
}

// never is the end of a cookie that is removed at once.
const never = 1

// longestAge is how many seconds a cookie lasts at most, as in browsers.
const longestAge = 400 * 24 * 60 * 60

// parseSetCookie reads the value of a Set-Cookie header. HttpOnly and SameSite mean nothing here.
func parseSetCookie(text []byte, now time.Time) (c setCookie, ok bool) {
	pair, rest, _ := bytes.Cut(text, []byte{';'})
	if c.name, c.value, ok = bytes.Cut(pair, []byte{'='}); !ok {
		return c, false
	}
	c.name, c.value = bytes.TrimSpace(c.name), bytes.TrimSpace(c.value)
	aged := false // Max-Age precedes Expires
	for len(rest) > 0 {
		pair, rest, _ = bytes.Cut(rest, []byte{';'})
		key, value, _ := bytes.Cut(pair, []byte{'='})
		key, value = bytes.TrimSpace(key), bytes.TrimSpace(value)
		switch {
		case fold(key, "path"):
			if c.path = nil; len(value) > 0 && value[0] == '/' {
				c.path = value
			}
		case fold(key, "domain"):
			c.domain = bytes.TrimPrefix(value, []byte{'.'})
		case fold(key, "secure"):
			c.secure = true
		case fold(key, "max-age"):
			if age, ok := maxAge(value); ok {
				c.expires, aged = never, true
				if age > 0 {
					c.expires = now.UnixMilli() + age*1000
				}
			}
		case fold(key, "expires") && !aged:
			if t, ok := cookieDate(value); ok {
				c.expires = max(t.UnixMilli(), never)
			}
		}
	}
	return c, len(c.name) > 0
}

func (c *setCookie) over(now time.Time) bool { return c.expires != 0 && c.expires <= now.UnixMilli() }

func fold(b []byte, lower string) bool {
	return len(b) == len(lower) && strings.EqualFold(string(b), lower)
}

// maxAge reads a number of seconds, which may be negative.
func maxAge(text []byte) (seconds int64, ok bool) {
	digits := bytes.TrimPrefix(text, []byte{'-'})
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		seconds = min(seconds*10+int64(c-'0'), longestAge)
	}
	if len(digits) < len(text) {
		seconds = 0
	}
	return seconds, len(digits) > 0
}

// cookieDate reads a date in the forms that services send: RFC 9110's, and with dashes, also with two
// digits of the year (nginx, Netscape's).
func cookieDate(text []byte) (t time.Time, ok bool) {
	for _, form := range []string{
		"Mon, 02 Jan 2006 15:04:05 GMT", "Mon, 02-Jan-2006 15:04:05 GMT", "Mon, 02-Jan-06 15:04:05 GMT", "Monday, 02-Jan-06 15:04:05 GMT",
	} {
		if t, err := time.Parse(form, string(text)); err == nil {
			return t, true
		}
	}
	return t, false
}

// nextHeader returns the value of the first header with a name in a head, and what follows it.
func nextHeader(head []byte, name string) (value, rest []byte, ok bool) {
	for len(head) > 0 {
		var line []byte
		line, head, _ = bytes.Cut(head, []byte{'\n'})
		if key, value, ok := bytes.Cut(line, []byte{':'}); ok && fold(key, name) {
			return bytes.TrimSpace(value), head, true
		}
	}
	return nil, nil, false
}

// cookieValue returns the value of a cookie after a response: that of the last Set-Cookie, unless
// it removes the cookie. set reports whether there was one at all.
func cookieValue(head []byte, name string, now time.Time) (value []byte, set bool) {
	var path []byte
	for text, rest, more := nextHeader(head, "Set-Cookie"); more; text, rest, more = nextHeader(rest, "Set-Cookie") {
		c, ok := parseSetCookie(text, now)
		switch {
		case !ok || string(c.name) != name:
		case !c.over(now):
			value, path, set = c.value, c.path, true
		case !set || bytes.Equal(c.path, path): // one for another path stays
			value, path, set = nil, c.path, true
		}
	}
	return value, set
}
