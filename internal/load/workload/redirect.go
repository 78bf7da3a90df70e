package workload

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load/wire"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
)

// maxLink is the length in bytes of a link that is followed.
const maxLink = 8000

// origin is what a request is sent to, as links and cookies see it.
type origin struct {
	base   string   // scheme and host, without the path
	prefix []byte   // the same
	host   string   // for cookies: in lower case, without the port
	domain []byte   // the same
	hosts  []string // with ports: the address, and the header Host
	secure bool     // https
}

// newOrigin returns the origin of a base URL, for requests with a header Host; "": they have none.
func newOrigin(base *url.URL, header string) *origin {
	o := &origin{base: base.Scheme + "://" + base.Host, secure: base.Scheme == "https", hosts: []string{hostPort(base)}}
	o.host = strings.ToLower(base.Hostname())
	if header != "" {
		as := &url.URL{Scheme: base.Scheme, Host: header}
		o.host, o.hosts = strings.ToLower(as.Hostname()), append(o.hosts, hostPort(as))
	}
	o.prefix, o.domain = []byte(o.base), []byte(o.host)
	return o
}

// hostPort returns host and port of a URL in the form in which they are compared.
func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// sent is where a request was sent. Links of its response are relative to that.
type sent struct {
	target []byte // path and query as on the wire
	to     *origin
}

// linkError says why a link cannot be followed.
type linkError string

func (e linkError) Error() string { return string(e) }

// resolve appends the path and query that a link leads to. An absolute link must lead to the
// contender.
func (s sent) resolve(dst, link []byte) ([]byte, error) {
	link, _, _ = bytes.Cut(bytes.TrimSpace(link), []byte{'#'})
	bad := func(why string) ([]byte, error) {
		return dst, linkError(fmt.Sprintf("`%s` %s", safe.Line(string(link[:min(len(link), 200)]), 100), why))
	}
	path := link
	if own, ok := bytes.CutPrefix(link, s.to.prefix); ok {
		path = own
	}
	switch {
	case len(link) == 0 || len(link) > maxLink:
		return bad(fmt.Sprintf("is not a link of 1 to %d bytes", maxLink))
	case bytes.ContainsFunc(link, func(c rune) bool { return c < ' ' || c == 0x7f }):
		return bad("is a link with control characters")
	case len(path) > 0 && path[0] == '/' && !bytes.HasPrefix(path, []byte("//")) && !bytes.Contains(path, []byte("/.")):
		return appendTarget(dst, path), nil // the usual link
	}
	from, err := secret.ParseURL(s.to.base + string(s.target))
	if err != nil {
		return bad("is relative to a path that is not a URL")
	}
	to, err := from.Parse(string(link))
	if err != nil {
		return bad("is not a URL")
	}
	same := to.Scheme == from.Scheme
	if !same || hostPort(to) != s.to.hosts[0] && hostPort(to) != s.to.hosts[len(s.to.hosts)-1] {
		return bad("leads to another host than " + s.to.base)
	}
	return appendTarget(dst, []byte(to.RequestURI())), nil
}

// appendTarget appends a path and query in which spaces and the like are percent-encoded.
func appendTarget(dst, target []byte) []byte {
	const hex = "0123456789ABCDEF"
	for _, c := range target {
		if c <= ' ' || c >= 0x7f || c == '"' || c == '<' || c == '>' || c == '`' {
			dst = append(dst, '%', hex[c>>4], hex[c&15])
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}

// targetOf returns path and query of a request on the wire.
func targetOf(request []byte) []byte {
	_, rest, _ := bytes.Cut(request, []byte{' '})
	target, _, _ := bytes.Cut(rest, []byte{' '})
	return target
}

// isRedirect reports whether a status sends the client to a Location.
func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect:
		return true
	}
	return false
}

// Follows reports whether a response with a status is a redirect that the request follows. One that
// it expects is not followed.
func (r *Request) Follows(status int) bool {
	return r.follow > 0 && isRedirect(status) && !r.Expects(status)
}

// RedirectHint returns what the example of an unexpected response says about its Location; "" if it
// is not a redirect.
func RedirectHint(status int, location []byte) string {
	if !isRedirect(status) || len(location) == 0 {
		return ""
	}
	return "(Location: " + safe.Line(string(location[:min(len(location), 200)]), 100) + "; `follow: true` follows it) "
}

// Follow prepares the user's next request after a redirect. kind is "" if the redirect is followed;
// otherwise example says why not.
func (m *Mix) Follow(u *User, r *Request, a Response) (kind bench.ErrorKind, example string) {
	u.jar.keep(a.Head, u.url, r.to)
	location, _, ok := nextHeader(a.Head, "Location")
	why := ""
	if !ok {
		why = " without a Location"
	} else if u.hops >= r.follow {
		why = fmt.Sprintf(" after %d redirects in a row, Location: %s", u.hops, location)
	}
	kind = wire.Class(a.Status)
	if why == "" {
		var err error
		if u.target, err = (sent{u.url, r.to}).resolve(u.target[:0], location); err != nil {
			kind, why = bench.ErrLink, ": Location "+err.Error()
		}
	}
	if why != "" {
		return kind, wire.Example(fmt.Sprintf("%d %s%s", a.Status, http.StatusText(a.Status), why))
	}
	u.hops, u.hop, u.redirected = u.hops+1, r.hop(a.Status), true
	return "", ""
}

// hop returns the request after a redirect (Fetch, 4.4, HTTP-redirect fetch).
func (r *Request) hop(status int) *Request {
	switch {
	case status == http.StatusSeeOther && r.Method != http.MethodHead,
		(status == http.StatusMovedPermanently || status == http.StatusFound) && r.Method == http.MethodPost:
		return r.get
	}
	return r.again
}

// hops makes the requests that follow the redirects of a request: the same one, and GET without a
// body. raw is what net/http wrote, without the body; only their first line is missing.
func (c *composer) hops(raw, body string) {
	r := c.request
	_, head, _ := strings.Cut(strings.TrimSuffix(raw, "\r\n\r\n"), "\r\n")
	end := c.cookies + "\r\n\r\n"
	head = strings.Replace(head, c.cookies, "", 1)
	same, get := *r, *r
	r.again, r.get = &same, &same
	same.again, same.get = &same, &same
	same.head = nil
	c.split(&same, "\r\n"+head+end+body, body)
	if r.Method == http.MethodGet || r.IsHead {
		return
	}
	var kept []string
	for line := range strings.SplitSeq(head, "\r\n") {
		if name, _, _ := strings.Cut(line, ":"); !strings.HasPrefix(strings.ToLower(name), "content-") {
			kept = append(kept, line)
		}
	}
	r.get, same.get, get.again, get.get = &get, &get, &get, &get
	get.Method, get.Repeatable, get.head, get.body = http.MethodGet, true, nil, nil
	c.split(&get, "\r\n"+strings.Join(kept, "\r\n")+end, "")
}
