package strictyaml

import (
	"encoding/json"
	"fmt"
	"strconv"

	"gopkg.in/yaml.v3"

	"github.com/locbench/locbench/internal/bench/units"
)

// Document returns a YAML document that is written for other programs too as JSON, with the same text
// of each number that JSON has. Aliases are allowed; what they are of counts among the values. The
// error is a [Mistakes].
func Document(file string, data []byte, depth, values int) (string, error) {
	d := &decoder{collector: collector{file: file}, failed: map[place]bool{}}
	root, ok := d.parseAny(data)
	if !ok {
		return "", d.err()
	}
	e := expander{d: d, depth: depth, left: values, most: values}
	if e.expand(root, 0); d.count() > 0 {
		return "", d.err()
	}
	text := Value{node: root, d: d}.JSON()
	return text, d.err()
}

// maxExpanded bounds the texts of a document with what its aliases are of, in bytes.
const maxExpanded = 16 << 20

type expander struct {
	d     *decoder
	depth int // that is allowed
	left  int // values
	most  int
	bytes int // of texts so far
}

// expand replaces aliases by what they are of, and numbers by those of JSON, up to the first mistake.
func (e *expander) expand(n *yaml.Node, depth int) {
	what, hint, number := "", "", n.Tag == "!!int" || n.Tag == "!!float"
	e.left, e.bytes = e.left-1, e.bytes+len(n.Value)
	switch {
	case e.bytes > maxExpanded:
		what = fmt.Sprintf("the document is too large: at most %s of texts", FormatBytes(maxExpanded))
	case e.left < 0:
		what = fmt.Sprintf("the document is too large: at most %s values", units.Count(int64(e.most)))
	case depth > e.depth:
		what = fmt.Sprintf("nested deeper than the %d levels allowed", e.depth)
	case !plainTags[n.Tag]:
		what, hint = "tag (`!…`)", "remove it"
	case number && (!json.Valid([]byte(n.Value)) || len(n.Value) > 1000):
		var whole int64
		var f float64
		if n.Tag == "!!int" && n.Decode(&whole) == nil {
			n.Value = strconv.FormatInt(whole, 10)
		} else if n.Decode(&f) == nil {
			n.Value = strconv.FormatFloat(f, 'g', -1, 64)
		}
		if !json.Valid([]byte(n.Value)) {
			what, hint = "a number that JSON does not have", "write it as in JSON, or in quotes"
		}
	}
	if what != "" {
		e.d.add(n.Line, what, hint)
	}
	for i, child := range n.Content {
		if e.d.count() > 0 {
			return
		}
		isKey := n.Kind == yaml.MappingNode && i%2 == 0
		if isKey {
			e.bytes += len(child.Value)
		}
		switch {
		case isKey && child.Tag == "!!merge":
			e.d.add(child.Line, "merge key `<<`", "write the keys out: merging is not supported")
		case isKey: // JSON reports one that is not a text
		case child.Kind == yaml.AliasNode:
			n.Content[i] = child.Alias
			e.expand(child.Alias, depth+1)
		default:
			e.expand(child, depth+1)
		}
	}
}
