package embedded

import (
	"bytes"
	"encoding/json"
	"iter"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// sourceFilter says which parts of a source an answer holds. The zero value holds all of it.
type sourceFilter struct {
	off                bool // no source at all
	includes, excludes []pattern
}

const maxPatterns = 100

var (
	sourceKeys = []string{"_source", "_source_includes", "_source_excludes"}
	searchKeys = append([]string{"from", "size", "track_total_hits"}, sourceKeys...)
)

// sourceParams reads the query parameters sourceKeys. The result is nil where none of them is given.
func sourceParams(q url.Values) (*sourceFilter, error) {
	if !slices.ContainsFunc(sourceKeys, q.Has) {
		return nil, nil
	}
	f := &sourceFilter{}
	list := func(key string) []string { return strings.Split(strings.Join(q[key], ","), ",") }
	includes := list("_source_includes")
	switch on := q.Get("_source"); on {
	case "", "true":
	case "false":
		f.off = true
	default:
		includes = append(includes, strings.Split(on, ",")...)
	}
	return f, f.set(includes, list("_source_excludes"))
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
		in.fail(errOr(err, f.set(list, nil)))
		return f
	}
	o := in.object("_source", raw)
	o.fail(f.set(o.list("includes", "_source.includes"), o.list("excludes", "_source.excludes")))
	o.rest()
	return f
}

// set makes patterns of texts, of which empty ones say nothing.
func (f *sourceFilter) set(includes, excludes []string) error {
	for to, list := range map[*[]pattern][]string{&f.includes: includes, &f.excludes: excludes} {
		for _, text := range list {
			if text != "" {
				*to = append(*to, newPattern(text))
			}
		}
	}
	if len(f.includes)+len(f.excludes) > maxPatterns {
		return unsupported("more than %d patterns of source fields", maxPatterns)
	}
	return nil
}

func errOr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *sourceFilter) all() bool { return f == nil || (len(f.includes) == 0 && len(f.excludes) == 0) }

// apply appends the filtered source of d to out; order of keys and spelling of values stay.
func (f *sourceFilter) apply(out []byte, d *stored) []byte {
	if f.all() {
		return append(out, d.source...)
	}
	return f.object(out, d.source, d.parts(), nil, len(f.includes) == 0)
}

// parts are the keys and values of the top level.
func (d *stored) parts() iter.Seq2[span, span] {
	return func(yield func(key, value span) bool) {
		for _, m := range d.members {
			key := span{int(m.start) + 1, skipString(d.source, int(m.start)) - 1}
			value := span{skipSpace(d.source, skipSpace(d.source, key.end+1)+1), int(m.end)}
			if !yield(key, value) {
				return
			}
		}
	}
}

// object filters the parts of an object whose keys begin with prefix; included: a pattern holds it all.
func (f *sourceFilter) object(
	out, doc []byte, parts iter.Seq2[span, span], prefix []byte, included bool,
) []byte {
	out = append(out, '{')
	first := true
	for key, value := range parts {
		path := key.of(doc)
		if len(prefix) > 0 || bytes.IndexByte(path, '\\') >= 0 {
			path = append(prefix[:len(prefix):len(prefix)], keyText(path)...)
		}
		in := included || matchesAny(f.includes, path)
		isObject := doc[value.start] == '{'
		if matchesAny(f.excludes, path) || !in && !(isObject && reachesInto(f.includes, path)) {
			continue
		}
		before := len(out)
		if !first {
			out = append(out, ',')
		}
		out = append(out, doc[key.start-1:value.start]...)
		if isObject && (!in || reachesInto(f.excludes, path)) {
			start, below := len(out), append(path[:len(path):len(path)], '.')
			out = f.object(out, doc, members(doc, value.start), below, in)
			if !in && len(out) == start+len("{}") { // nothing in it was asked for
				out = out[:before]
				continue
			}
		} else {
			out = append(out, value.of(doc)...)
		}
		first = false
	}
	return append(out, '}')
}

// pattern is the path of a field, in which * stands for any text.
type pattern struct {
	text string
	wild *regexp.Regexp // where there is a *
}

func newPattern(text string) pattern {
	p := pattern{text: text}
	if strings.Contains(text, "*") {
		p.wild = regexp.MustCompile(`(?s)^` + strings.ReplaceAll(regexp.QuoteMeta(text), `\*`, `.*`) + `(\.|$)`)
	}
	return p
}

// matchesAny reports whether a pattern is the path, or stands for something that holds it.
func matchesAny(patterns []pattern, path []byte) bool {
	return slices.ContainsFunc(patterns, func(p pattern) bool {
		if p.wild != nil {
			return p.wild.Match(path)
		}
		n := len(p.text)
		return n <= len(path) && string(path[:n]) == p.text && (n == len(path) || path[n] == '.')
	})
}

// reachesInto reports whether a pattern may name something below path.
func reachesInto(patterns []pattern, path []byte) bool {
	return slices.ContainsFunc(patterns, func(p pattern) bool {
		n := len(path)
		return p.wild != nil || len(p.text) > n && p.text[n] == '.' && p.text[:n] == string(path)
	})
}
