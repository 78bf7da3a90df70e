package targets

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

const (
	maxBody = 64 << 20 // bytes of the file of a body, as of a request's `file`
	maxWord = 60       // bytes of a text of the file in a mistake
)

// version matches what follows the URL in a request of HTTP/1.1.
var version = regexp.MustCompile(`[ \t]HTTP/[0-9.]+$`)

// address returns path and query of a URL, as vegeta sends them, and its user. Its host must be
// that of the other targets. ok is false if it has reported a mistake that leaves no path.
func (r *reader) address(raw string, line int) (path string, user *url.Userinfo, ok bool) {
	switch {
	case version.MatchString(raw):
		r.Add(line, "the URL ends with a version of HTTP, which vegeta sends as a part of the path", "remove it")
		return
	case strings.ContainsAny(raw, " \t"):
		r.Add(line, "the URL has a blank", "write `%20` for it, and nothing after the URL")
		return
	case strings.Contains(raw, "#"):
		r.Add(line, "the URL has a fragment (`#…`), which vegeta never sends", "remove it, or write `%23` for `#`")
		return
	}
	u, err := secret.ParseURL(raw)
	if err != nil {
		what, hint, _ := strings.Cut(err.Error(), "; ")
		r.Add(line, what, hint)
		return
	}
	if u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		r.Add(line, "the URL has no scheme and host", "write a whole one, such as `http://127.0.0.1:8080/items`")
		return
	}
	base := u.Scheme + "://" + strings.ToLower(u.Host)
	base = strings.TrimSuffix(base, map[string]string{"http": ":80", "https": ":443"}[u.Scheme])
	switch {
	case r.file.Base == "":
		r.file.Base, r.first = base, line
	case base != r.file.Base && !r.hosts[base]:
		r.hosts[base] = true
		r.Add(line, fmt.Sprintf("another host than %s in line %d: %s", word(r.file.Base), r.first, word(base)),
			"write one file for each: all requests go to the contender, or to --target URL")
	}
	return encoded(u.RequestURI()), u.User, true
}

// encoded escapes what a path of a profile may not have. vegeta does the same in the path, and
// sends the query unchanged, which means the same to the service.
func encoded(path string) string {
	var b strings.Builder
	for i := range len(path) {
		if c := path[i]; c <= ' ' || c >= 0x7f || c == '{' || c == '}' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// header returns the headers of a target, which have one value each.
func (r *reader) header(t vegeta.Target, p place) map[string]string {
	header := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(t.Header)) {
		canonical, line := textproto.CanonicalMIMEHeaderKey(name), p.part("header."+textproto.CanonicalMIMEHeaderKey(name))
		_, twice := header[canonical]
		switch values := t.Header[name]; {
		case len(values) == 0:
			r.Add(line, fmt.Sprintf("the header %q has no value", word(name)), `write one, such as {"Accept": ["text/html"]}`)
		case Repeats(canonical) && twice:
			header[canonical] += "; " + strings.Join(values, "; ")
		case Repeats(canonical):
			header[canonical] = strings.Join(values, "; ")
		case len(values) > 1 || twice:
			r.Add(line, fmt.Sprintf("the header %q is given twice", word(name)), "write one, with commas between its values")
		default:
			header[canonical] = values[0]
		}
	}
	if len(header) > maxHeader {
		r.Add(p.line, fmt.Sprintf("%d headers", len(header)), fmt.Sprintf("write at most %d", maxHeader))
	}
	return header
}

// Repeats reports whether a header that is given several times is one with all values, joined by "; ":
// commas would be part of a cookie (RFC 6265, 5.4).
func Repeats(name string) bool { return strings.EqualFold(name, "Cookie") }

// word returns a text of the file for a mistake.
func word(text string) string { return safe.Line(text, maxWord) }

// bodyFile returns the whole path of the file of a body: in the folder of the target file, or in
// the working folder, as for vegeta. If both have such a file, either may be meant.
func (r *reader) bodyFile(name string, line int) string {
	if path, known := r.bodies[name]; known {
		return path
	}
	path, what, hint := r.findBody(name)
	if what != "" {
		r.Add(line, what, hint)
	}
	r.bodies[name] = path
	return path
}

func (r *reader) findBody(name string) (path, what, hint string) {
	places := []string{filepath.Join(r.dir, name), name}
	if filepath.IsAbs(name) {
		places = places[1:]
	}
	var found []fs.FileInfo
	var failed error
	for _, at := range places {
		info, err := regular(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			failed = errors.Join(failed, err)
		case len(found) == 0:
			path = at
			found = append(found, info)
		case !os.SameFile(found[0], info):
			return path, fmt.Sprintf("`@%s` is two files: in the folder of this file, and in the working folder, "+
				"which vegeta takes", word(name)), "write the whole path of the one that you mean"
		}
	}
	switch {
	case len(found) == 0 && failed != nil:
		return "", fmt.Sprintf("`@%s`: %s", word(name), safe.Line(failed.Error(), 300)), "write the path of a file"
	case len(found) == 0:
		return "", fmt.Sprintf("`@%s`: file not found", word(name)),
			"write its path from the folder of this file, or from the working folder"
	case found[0].Size() > maxBody:
		return path, fmt.Sprintf("`@%s` is larger than 64 MiB", word(name)), "shorten it"
	}
	if whole, err := filepath.Abs(path); err == nil {
		path = whole
	}
	what, hint = strictyaml.Outside("@"+name, path, r.dir, r.allowed)
	return path, what, hint
}

// regular returns what is known of a regular file that can be opened.
func regular(path string) (fs.FileInfo, error) {
	f, err := safe.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Stat()
}
