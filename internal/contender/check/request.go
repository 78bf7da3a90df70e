package check

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/locbench/locbench/internal/text/safe"
)

// Request is what a check sends.
type Request struct {
	Method string
	Target string // escaped path and query, beginning with a slash
	Header http.Header
	Body   string
}

// String returns the method and the target: "GET /city/v1/get?id=1".
func (r Request) String() string { return r.Method + " " + r.Target }

func (r Request) build(ctx context.Context, base string) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, r.Method, base+r.Target, strings.NewReader(r.Body)) // "" sends no body
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	req.Header.Set("User-Agent", "locbench-check")
	for name, values := range r.Header {
		req.Header[name] = values
		if name == "Host" {
			req.Host = values[0]
		}
	}
	return req, nil
}

// parseRequest reads "GET /path?query". The method may be left out.
func parseRequest(s string) (Request, error) {
	method, target, ok := strings.Cut(strings.TrimSpace(s), " ")
	if !ok {
		method, target = http.MethodGet, method
	}
	target = strings.TrimSpace(target)
	if !strings.HasPrefix(target, "/") {
		return Request{}, errors.New("write a method and a path, such as `GET /city/v1/get?id=1`")
	}
	if strings.ContainsFunc(method, func(c rune) bool { return c < 'A' || c > 'Z' }) {
		return Request{}, fmt.Errorf("write the method in capitals, such as `GET %s`", safe.Line(target, 60))
	}
	u, err := url.ParseRequestURI(target)
	if err != nil || strings.ContainsAny(target, " #") {
		return Request{}, errors.New("escape the characters that a URL cannot have, or write the parameters under `query`")
	}
	// The file may have letters beyond ASCII. Escapes in it are kept.
	path := u.EscapedPath()
	if u.RawQuery != "" {
		path += "?" + escapeWide(u.RawQuery)
	}
	return Request{Method: method, Target: path}, nil
}

// escapeWide escapes the bytes of s that are not ASCII.
func escapeWide(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if s[i] >= 0x80 {
			fmt.Fprintf(&b, "%%%02X", s[i])
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// addQuery appends a parameter, escaped.
func (r *Request) addQuery(name, value string) {
	sep := "?"
	if strings.Contains(r.Target, "?") {
		sep = "&"
	}
	r.Target += sep + url.QueryEscape(name) + "=" + url.QueryEscape(value)
}
