package strictyaml

import (
	"bytes"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"
)

var (
	syntaxLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)
	// anchorName matches the only parser error that quotes the file.
	anchorName = regexp.MustCompile(`unknown anchor '.*' referenced`)
)

const quotesHint = "put a text in quotes if it has `?`, `,`, `: `, braces or brackets, or begins with one of %@`*&!|>; close all quotes and " +
	"brackets, and indent with spaces"

// syntax reports an error of the parser in the line where braces, brackets or a quote began, as its
// text has it, otherwise where it stopped.
func (d *decoder) syntax(err error, data []byte) {
	r := &slowly{data: data}
	var doc yaml.Node
	_ = yaml.NewDecoder(r).Decode(&doc)
	line := 1 + bytes.Count(bytes.TrimRightFunc(data[:r.at], unicode.IsSpace), []byte("\n"))
	prefix := syntaxLine.FindStringSubmatch(err.Error())
	text := anchorName.ReplaceAllString(strings.TrimPrefix(err.Error(), prefix[0]), "unknown anchor")
	if began, err := strconv.Atoi(prefix[1]); err == nil {
		switch {
		case strings.Contains(text, "expected ',' or"):
			line = began + 1 // here the library counts from 0
		case strings.Contains(text, "end of stream"):
			line = began
		}
	}
	d.add(line, "not YAML: "+clip(text, 200), quotesHint)
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

// silent returns what is wrong with an entry of the map n that YAML reads without an error, and its
// writer meant as a text: {name} and a,b in braces, and a value that begins with #; or "".
func silent(n, key, value *yaml.Node) (what, hint string) {
	name := "a key"
	if plainKey.MatchString(key.Value) {
		name = "`" + key.Value + "`"
	}
	comment := key.LineComment
	switch {
	case value.Tag != "!!null" || value.Value != "" || key.Kind != yaml.ScalarNode:
	case n.Style&yaml.FlowStyle != 0:
		return name + " in braces has no value", "put a text with braces or a comma in quotes, such as `\"{id}\"`; an empty value is `null`"
	case len(comment) > 1 && comment[1] != ' ' && comment[1] != '#':
		return name + " has no value: `#` begins a comment", "put the text in quotes"
	}
	return "", ""
}
