package embedded

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// sourceFilter says which keys of a source a response contains. The zero value keeps all keys.
type sourceFilter struct {
	off                bool     // no source at all
	includes, excludes []string // paths: a key, or the part of a key before a dot
}

var sourceKeys = []string{"_source", "_source_includes", "_source_excludes"}

// sourceParams reads the query parameters sourceKeys.
func sourceParams(q url.Values) (f sourceFilter, err error) {
	f.includes = strings.Split(q.Get("_source_includes"), ",")
	f.excludes = strings.Split(q.Get("_source_excludes"), ",")
	switch on := q.Get("_source"); on {
	case "", "true":
	case "false":
		f.off = true
	default:
		f.includes = append(f.includes, strings.Split(on, ",")...)
	}
	return f, f.check()
}

// sourceBody reads _source of a search: true, false, a path, a list of them, or an object.
func sourceBody(p *parser, raw json.RawMessage) (f sourceFilter) {
	switch text := string(raw); {
	case text == "true" || text == "false":
		f.off = text == "false"
	case raw[0] == '{':
		o := p.object("_source", raw)
		o.decode("includes", (*texts)(&f.includes))
		o.decode("excludes", (*texts)(&f.excludes))
		o.end()
	default:
		p.decode("_source", raw, (*texts)(&f.includes))
	}
	p.fail(f.check())
	return f
}

const maxPaths = 100

// check drops empty paths, which have no effect.
func (f *sourceFilter) check() error {
	empty := func(path string) bool { return path == "" }
	f.includes, f.excludes = slices.DeleteFunc(f.includes, empty), slices.DeleteFunc(f.excludes, empty)
	all := slices.Concat(f.includes, f.excludes)
	if i := slices.IndexFunc(all, func(path string) bool { return strings.Contains(path, "*") }); i >= 0 {
		return unsupported("the pattern %s of source fields", shorten(all[i]))
	}
	if len(all) > maxPaths {
		return unsupported("more than %d source fields", maxPaths)
	}
	return nil
}

// apply appends the filtered source of d to out. It keeps the order of keys and the text of values.
func (f *sourceFilter) apply(out []byte, d *stored) ([]byte, error) {
	if len(f.includes)+len(f.excludes) == 0 {
		return append(out, d.source...), nil
	}
	out = append(out, '{')
	first := true
	for _, m := range d.members {
		end := skipString(d.source, int(m.start))
		key := d.source[m.start+1 : end-1]
		if bytes.IndexByte(key, '\\') >= 0 {
			key = []byte(keyText(key))
		}
		if into := cmp.Or(below(f.includes, key), below(f.excludes, key)); into != "" &&
			d.source[skipSpace(d.source, skipSpace(d.source, end)+1)] == '{' {
			return out, unsupported("a part of an object (%s) as a source field", shorten(into))
		}
		if len(f.includes) > 0 && !covers(f.includes, key) || covers(f.excludes, key) {
			continue
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = append(out, d.source[m.start:m.end]...)
	}
	return append(out, '}'), nil
}

// covers reports whether one of the paths is the key, or the part of the key before a dot.
func covers(paths []string, key []byte) bool {
	return slices.ContainsFunc(paths, func(p string) bool {
		n := len(p)
		return n <= len(key) && string(key[:n]) == p && (n == len(key) || key[n] == '.')
	})
}

// below returns the path that leads into the value of key; "" if there is none.
func below(paths []string, key []byte) string {
	n := len(key)
	i := slices.IndexFunc(paths, func(p string) bool { return len(p) > n && p[n] == '.' && p[:n] == string(key) })
	if i < 0 {
		return ""
	}
	return paths[i]
}
