package embedded

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// sourceFilter says which parts of a source an answer holds. The zero value holds all of it.
type sourceFilter struct {
	off      bool // no source at all
	deep     bool // a pattern may reach into objects; set by check
	includes []string
	excludes []string
}

const maxPatterns = 100

var (
	sourceKeys = []string{"_source", "_source_includes", "_source_excludes"}
	searchKeys = append([]string{"from", "size", "track_total_hits"}, sourceKeys...)
)

// sourceParams reads the query parameters sourceKeys. The result is nil where none of them is given.
func sourceParams(q url.Values) (*sourceFilter, error) {
	var f sourceFilter
	given := false
	if v := q["_source"]; len(v) > 0 {
		given = true
		switch v[0] {
		case "", "true":
		case "false":
			f.off = true
		default:
			f.includes = strings.Split(v[0], ",")
		}
	}
	for key, to := range map[string]*[]string{"_source_includes": &f.includes, "_source_excludes": &f.excludes} {
		if list, ok := q[key]; ok {
			given = true
			*to = append(*to, strings.Split(strings.Join(list, ","), ",")...)
		}
	}
	if !given {
		return nil, nil
	}
	return &f, f.check()
}

func sourceBody(in object, raw json.RawMessage) *sourceFilter {
	f := &sourceFilter{}
	var on bool
	if json.Unmarshal(raw, &on) == nil {
		f.off = !on
		return f
	}
	if raw[0] != '{' {
		list, err := stringOrList("_source", raw)
		f.includes = list
		in.fail(errOr(err, f.check()))
		return f
	}
	o := in.object("_source", raw)
	f.includes = o.list("includes", "_source.includes")
	f.excludes = o.list("excludes", "_source.excludes")
	o.fail(errOr(o.rest(), f.check()))
	return f
}

func errOr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *sourceFilter) check() error {
	drop := func(s string) bool { return s == "" }
	f.includes, f.excludes = slices.DeleteFunc(f.includes, drop), slices.DeleteFunc(f.excludes, drop)
	if len(f.includes)+len(f.excludes) > maxPatterns {
		return unsupported("more than %d patterns of source fields", maxPatterns)
	}
	reaches := func(p string) bool { return strings.ContainsAny(p, ".*") }
	f.deep = slices.ContainsFunc(f.includes, reaches) || slices.ContainsFunc(f.excludes, reaches)
	return nil
}

func (f *sourceFilter) all() bool { return f == nil || (len(f.includes) == 0 && len(f.excludes) == 0) }

// apply appends the filtered source of d to out; order of keys and spelling of values stay.
func (f *sourceFilter) apply(out []byte, d *stored) []byte {
	if f.all() {
		return append(out, d.source...)
	}
	if f.deep {
		return f.object(out, d.source, skipSpace(d.source, 0), nil, len(f.includes) == 0)
	}
	start := len(out)
	out = append(out, '{')
	first := true
	for _, m := range d.members {
		part := d.source[m.start:m.end]
		name := part[1:]
		for i, c := range name {
			if c == '\\' { // a name that needs decoding: never seen, but right
				return f.object(out[:start], d.source, skipSpace(d.source, 0), nil, len(f.includes) == 0)
			}
			if c == '"' || c == '.' { // a pattern holds for all that follows a dot
				name = name[:i]
				break
			}
		}
		if (len(f.includes) > 0 && !names(f.includes, name)) || names(f.excludes, name) {
			continue
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = append(out, part...)
	}
	return append(out, '}')
}

func names(list []string, name []byte) bool {
	return slices.ContainsFunc(list, func(s string) bool { return s == string(name) })
}

// object filters an object whose keys begin with prefix; included: an include pattern holds it all.
func (f *sourceFilter) object(out, doc []byte, at int, prefix []byte, included bool) []byte {
	out = append(out, '{')
	first := true
	for key, value := range members(doc, at) {
		path := appendKey(prefix, key.of(doc))
		in := included || matchesAny(f.includes, path)
		isObject := doc[value.start] == '{'
		if matchesAny(f.excludes, path) || !in && !(isObject && reachesInto(f.includes, path)) {
			continue
		}
		before := len(out)
		if !first {
			out = append(out, ',')
		}
		out = append(out, doc[key.start-1:key.end+1]...)
		out = append(out, ':')
		if isObject && (!in || reachesInto(f.excludes, path)) {
			start := len(out)
			if out = f.object(out, doc, value.start, append(path, '.'), in); !in && len(out) == start+len("{}") {
				out = out[:before] // nothing in it was asked for
				continue
			}
		} else {
			out = append(out, value.of(doc)...)
		}
		first = false
	}
	return append(out, '}')
}

// appendKey appends the text of a key, of which nearly all need no decoding.
func appendKey(b, raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') >= 0 {
		return append(b, keyText(raw)...)
	}
	return append(b, raw...)
}

// matchesAny tells whether a pattern is the path, or stands for something that holds it.
func matchesAny(patterns []string, path []byte) bool {
	for _, p := range patterns {
		if len(p) <= len(path) && string(path[:len(p)]) == p && (len(p) == len(path) || path[len(p)] == '.') {
			return true
		}
		if strings.IndexByte(p, '*') < 0 {
			continue
		}
		for i := range len(path) + 1 {
			if (i == len(path) || path[i] == '.') && wildcard(p, string(path[:i])) {
				return true
			}
		}
	}
	return false
}

// reachesInto tells whether a pattern may name something below path.
func reachesInto(patterns []string, path []byte) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		return strings.Contains(p, "*") || len(p) > len(path) && p[len(path)] == '.' && p[:len(path)] == string(path)
	})
}

// wildcard matches s against a pattern in which * stands for any text.
func wildcard(pattern, s string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == s
	}
	if !strings.HasPrefix(s, parts[0]) {
		return false
	}
	s = s[len(parts[0]):]
	for _, p := range parts[1 : len(parts)-1] {
		i := strings.Index(s, p)
		if i < 0 {
			return false
		}
		s = s[i+len(p):]
	}
	return strings.HasSuffix(s, parts[len(parts)-1])
}
