package strictyaml

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/locbench/locbench/internal/bench/units"
)

// Document reads a YAML document that is written for other programs too: nil, bool, json.Number,
// string, []any or map[string]any. Aliases are allowed; what they stand for counts among the values.
// The error is a [Mistakes].
func Document(file string, data []byte, depth, values int) (any, error) {
	d := &decoder{Collector: Collector{File: file}}
	root, ok := d.parseAny(data)
	if !ok {
		return nil, d.Err()
	}
	r := documentReader{d: d, depth: depth, left: values, most: values}
	doc := r.value(root, 0)
	return doc, d.Err()
}

type documentReader struct {
	d     *decoder
	depth int // that is allowed
	left  int // values
	most  int
}

// value reads a value and those within it, up to the first mistake.
func (r *documentReader) value(n *yaml.Node, depth int) any {
	if r.left--; r.left < 0 {
		return r.wrong(n, fmt.Sprintf("the document is too large: at most %s values", units.Count(int64(r.most))), "")
	}
	if depth > r.depth {
		return r.wrong(n, fmt.Sprintf("nested deeper than the %d levels allowed", r.depth), "")
	}
	if n.Kind == yaml.AliasNode {
		return r.value(n.Alias, depth+1)
	}
	if !plainTags[n.Tag] {
		return r.wrong(n, "tag (`!…`)", "remove it")
	}
	switch n.Kind {
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for _, item := range n.Content {
			if list = append(list, r.value(item, depth+1)); r.d.count() > 0 {
				return nil
			}
		}
		return list
	case yaml.MappingNode:
		return r.object(n, depth)
	}
	return r.scalar(n)
}

func (r *documentReader) object(n *yaml.Node, depth int) any {
	m := make(map[string]any, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch _, twice := m[key.Value]; {
		case key.Tag == "!!merge":
			return r.wrong(key, "merge key `<<`", "write the keys out: merging is not supported")
		case key.Kind != yaml.ScalarNode:
			return r.wrong(key, "a key that is not a text", "")
		case twice:
			return r.wrong(key, "duplicate key `"+clip(key.Value, 60)+"`", "remove one")
		}
		if m[key.Value] = r.value(n.Content[i+1], depth+1); r.d.count() > 0 {
			return nil
		}
	}
	return m
}

func (r *documentReader) scalar(n *yaml.Node) any {
	switch n.Tag {
	case "!!null":
		return nil
	case "!!bool":
		return strings.EqualFold(n.Value, "true")
	case "!!int", "!!float":
		if text := n.Value; json.Valid([]byte(text)) && len(text) <= 1000 {
			return json.Number(text)
		}
		var whole int64
		if n.Tag == "!!int" && n.Decode(&whole) == nil {
			return json.Number(strconv.FormatInt(whole, 10))
		}
		var f float64
		if err := n.Decode(&f); err == nil {
			if text := strconv.FormatFloat(f, 'g', -1, 64); json.Valid([]byte(text)) {
				return json.Number(text)
			}
		}
		return r.wrong(n, "a number that JSON does not have", "write it as in JSON, or in quotes")
	}
	return n.Value
}

func (r *documentReader) wrong(n *yaml.Node, what, hint string) any {
	r.d.Add(n.Line, what, hint)
	return nil
}
