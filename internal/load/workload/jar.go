package workload

import (
	"bytes"
	"slices"
	"strings"
	"time"
)

// Bounds of the cookies of one user: the contender may be hostile.
const (
	maxCookies     = 60
	maxCookie      = 4096 // bytes of name and value, as in browsers
	maxCookiesSize = 16 << 10
)

// Jar has the cookies of one user at one contender (RFC 6265). Its buffers are used again. The zero
// value is empty.
type Jar struct {
	cookies []cookie // those with longer paths first, then the older ones
	size    int      // bytes of all
	made    int      // cookies so far
}

// cookie is a kept cookie. Its texts are in one buffer: name=value, path, domain.
type cookie struct {
	text             []byte
	name, pair, path int // ends of the parts
	expires          int64
	order            int // the older one has the lower number
	hostOnly, secure bool
}

func (c *cookie) pathText() []byte   { return c.text[c.pair:c.path] }
func (c *cookie) domainText() []byte { return c.text[c.path:] }

// clear makes the jar empty.
func (j *Jar) clear() { j.cookies, j.size = j.cookies[:0], 0 }

// copy makes the jar one with the same cookies. from may be nil.
func (j *Jar) copy(from *Jar) {
	j.clear()
	if from == nil {
		return
	}
	for i := range from.cookies {
		c := j.add()
		text := append(c.text[:0], from.cookies[i].text...)
		*c = from.cookies[i]
		c.text = text
	}
	j.size, j.made = from.size, from.made
}

// add returns one more cookie at the end, with a buffer of before.
func (j *Jar) add() *cookie {
	if n := len(j.cookies); n < cap(j.cookies) {
		j.cookies = j.cookies[:n+1]
	} else {
		j.cookies = append(j.cookies, cookie{})
	}
	return &j.cookies[len(j.cookies)-1]
}

// remove removes a cookie. Its buffer moves to the end.
func (j *Jar) remove(i int) {
	c := j.cookies[i]
	j.size -= len(c.text)
	n := copy(j.cookies[i:], j.cookies[i+1:])
	j.cookies[i+n] = c
	j.cookies = j.cookies[:i+n]
}

// keep keeps the cookies that a response sets. target is that of its request.
func (j *Jar) keep(head, target []byte, from *origin) {
	now := time.Time{}
	for text, rest, ok := nextHeader(head, "Set-Cookie"); ok; text, rest, ok = nextHeader(rest, "Set-Cookie") {
		if now.IsZero() {
			now = time.Now()
		}
		if c, ok := parseSetCookie(text, now); ok {
			j.set(&c, target, from, now)
		}
	}
}

func (j *Jar) set(c *setCookie, target []byte, from *origin, now time.Time) {
	hostOnly := len(c.domain) == 0
	if !hostOnly && !within(from.host, c.domain) || len(c.name)+len(c.value) > maxCookie || len(c.path) > maxCookie {
		return
	}
	path := c.path
	if path == nil {
		path = defaultPath(target)
	}
	domain := c.domain
	if hostOnly {
		domain = from.domain
	}
	at := slices.IndexFunc(j.cookies, func(old cookie) bool {
		return bytes.Equal(old.text[:old.name], c.name) && bytes.Equal(old.pathText(), path) &&
			bytes.EqualFold(old.domainText(), domain)
	})
	if c.over(now) {
		if at >= 0 {
			j.remove(at)
		}
		return
	}
	isNew := at < 0
	if isNew {
		j.made++
		j.add().order = j.made
		at = len(j.cookies) - 1
	} else {
		j.size -= len(j.cookies[at].text)
	}
	k := &j.cookies[at]
	text := append(append(append(k.text[:0], c.name...), '='), c.value...)
	k.name, k.pair = len(c.name), len(text)
	text = append(text, path...)
	k.path = len(text)
	text = append(text, domain...)
	k.text, k.expires, k.hostOnly, k.secure = text, c.expires, hostOnly, c.secure
	j.size += len(text)
	for ; isNew && at > 0 && len(j.cookies[at-1].pathText()) < len(path); at-- {
		j.cookies[at-1], j.cookies[at] = j.cookies[at], j.cookies[at-1]
	}
	for len(j.cookies) > maxCookies || j.size > maxCookiesSize {
		j.remove(j.oldest())
	}
}

func (j *Jar) oldest() (at int) {
	for i := range j.cookies {
		if j.cookies[i].order < j.cookies[at].order {
			at = i
		}
	}
	return at
}

// value returns the value of a cookie, the one with the longest path.
func (j *Jar) value(name string) ([]byte, bool) {
	for i := range j.cookies {
		if c := &j.cookies[i]; string(c.text[:c.name]) == name {
			return c.text[c.name+1 : c.pair], true
		}
	}
	return nil, false
}

// append appends the cookies for a request to dst, after a text that begins the header or continues
// it. A cookie whose name is in given, a header of the request, is left out.
func (j *Jar) append(dst []byte, before string, target, given []byte, to *origin) []byte {
	if j == nil {
		return dst
	}
	path, _, _ := bytes.Cut(target, []byte{'?'})
	now := int64(0)
	for i := range j.cookies {
		c := &j.cookies[i]
		if c.expires != 0 && now == 0 {
			now = time.Now().UnixMilli()
		}
		switch domain := c.domainText(); {
		case c.expires != 0 && c.expires <= now, c.secure && !to.secure, !onPath(path, c.pathText()):
		case c.hostOnly && string(domain) != to.host, !c.hostOnly && !within(to.host, domain):
		case names(given, c.text[:c.name]):
		default:
			dst = append(append(dst, before...), c.text[:c.pair]...)
			before = "; "
		}
	}
	return dst
}

// within reports whether a host is a domain or in it (RFC 6265, 5.1.3).
func within(host string, domain []byte) bool {
	n := len(host) - len(domain)
	if n < 0 || !strings.EqualFold(host[n:], string(domain)) {
		return false
	}
	return n == 0 || host[n-1] == '.' && strings.Trim(host, "0123456789.") != "" && !strings.Contains(host, ":")
}

// defaultPath returns the path of a cookie without one (RFC 6265, 5.1.4).
func defaultPath(target []byte) []byte {
	path, _, _ := bytes.Cut(target, []byte{'?'})
	if i := bytes.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return path[:min(len(path), 1)] // a slash
}

// onPath reports whether a cookie with a path is for a request (RFC 6265, 5.1.4).
func onPath(path, of []byte) bool {
	rest, ok := bytes.CutPrefix(path, of)
	return ok && (len(rest) == 0 || len(of) == 0 || of[len(of)-1] == '/' || rest[0] == '/')
}

// names reports whether a Cookie header has a cookie with a name.
func names(header, name []byte) bool {
	for len(header) > 0 {
		pair, rest, _ := bytes.Cut(header, []byte{';'})
		header = rest
		if given, _, _ := bytes.Cut(pair, []byte{'='}); bytes.Equal(bytes.TrimSpace(given), name) {
			return true
		}
	}
	return false
}

// appendCookies appends the cookies of a user, whose request begins at from, to dst.
func (m *Mix) appendCookies(dst []byte, from int, u *User, r *Request, before string) []byte {
	jar := m.cookies
	if u.iteration.cookies {
		jar = &u.jar
	}
	if jar == nil || len(jar.cookies) == 0 {
		return dst
	}
	given := []byte(nil)
	if before == "; " {
		const header = "\r\nCookie:"
		given = bytes.TrimSpace(dst[bytes.LastIndex(dst, []byte(header))+len(header):])
		if len(given) == 0 { // the value of a variable
			before = ""
		}
	}
	return jar.append(dst, before, targetOf(dst[from:]), given, r.to)
}
