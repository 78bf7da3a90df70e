package strictyaml

import (
	"bytes"
	"cmp"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"
)

// anchorName matches the only parser error that quotes the file.
var anchorName = regexp.MustCompile(`unknown anchor '.*' referenced`)

var syntaxLine = regexp.MustCompile(`^line (\d+): `)

// maxLooked bounds the bytes that are parsed to find more mistakes after the first.
const maxLooked = MaxSize

// syntax reports an error of the parser, and continues after each text that only needs quotes. ok
// is false if the file could not be read with them.
func (d *decoder) syntax(err error, data []byte) (root *yaml.Node, ok bool) {
	for looked := 0; looked < maxLooked; looked += len(data) {
		line, t, known := failure(data)
		switch {
		case looked > 0 && line == 0:
			var doc yaml.Node
			if yaml.Unmarshal(data, &doc) == nil && len(doc.Content) == 1 {
				return doc.Content[0], true
			}
			return nil, false
		case known:
			d.Add(t.line, "not YAML: "+t.what, t.hint)
		case looked == 0:
			d.unreadable(err, line)
		}
		if !known || t.to == 0 {
			return nil, false
		}
		quoted := "'" + strings.ReplaceAll(string(data[t.from:t.to]), "'", "''") + "'"
		data = slices.Concat(data[:t.from], []byte(quoted), data[t.to:])
	}
	return nil, false
}

// unreadable reports an error of the parser, such as "yaml: line 3: …", as a mistake in a line; 0:
// the one in its text, since yaml.v3 has no typed syntax error.
func (d *decoder) unreadable(err error, line int) {
	text, named := strings.TrimPrefix(err.Error(), "yaml: "), 1
	if m := syntaxLine.FindStringSubmatch(text); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil && n > 0 {
			named = n
		}
		text = text[len(m[0]):]
	}
	text = anchorName.ReplaceAllString(text, "unknown anchor")
	// The library names the line in which the map or list began, or the one before.
	d.Add(cmp.Or(line, named), "not YAML: "+clip(text, 200), "")
}

// slowly is a reader of one byte at a time: where it stops is where the parser failed.
type slowly struct {
	data []byte
	at   int
}

func (s *slowly) Read(p []byte) (int, error) {
	if s.at >= len(s.data) || len(p) == 0 {
		return 0, io.EOF
	}
	p[0] = s.data[s.at]
	s.at++
	return 1, nil
}

// failure returns the line in which the parser failed, and the trap that it fell into, if known.
func failure(data []byte) (line int, t trap, ok bool) {
	r := &slowly{data: data}
	var doc yaml.Node
	if err := yaml.NewDecoder(r).Decode(&doc); err == nil {
		return 0, t, false
	}
	read := data[:r.at]
	line = 1 + bytes.Count(bytes.TrimRightFunc(read, unicode.IsSpace), []byte("\n"))
	s := scanner{data: data, line: 1, block: -1}
	s.run()
	for _, one := range slices.Backward(s.traps) { // the last one before the failure
		if one.at <= r.at {
			t, ok = one, bare(data[one.at:r.at])
			break
		}
	}
	if s.hash != nil && s.hash.at <= r.at && (!ok || s.hash.line < t.line) {
		return line, *s.hash, true
	}
	if !ok && r.at == len(data) && s.open != nil {
		t, ok = *s.open, true
	}
	return line, t, ok
}

// bare reports whether a text has at most the rest of its first line and one more: the parser reads
// the next key to its end.
func bare(text []byte) bool {
	lines := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	for _, l := range lines[1:max(len(lines)-1, 1)] {
		if l = bytes.TrimSpace(l); len(l) > 0 && l[0] != '#' {
			return false
		}
	}
	return true
}
