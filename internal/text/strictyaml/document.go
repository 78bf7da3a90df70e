package strictyaml

import (
	"encoding/json"
	"strconv"

	"gopkg.in/yaml.v3"
)

// Document returns a YAML document that is written for other programs too as JSON, with the same text
// of each number that JSON has. It may be of any size. The error is the first mistake: what Decode
// does not read of YAML either, such as aliases, or a number that JSON does not have.
func Document(file string, data []byte) (text string, err error) {
	d := newDecoder(file, Options{})
	if root, ok := d.parseAny(data); ok && d.plain(root, 0) {
		asInJSON(root)
		text = Value{node: root, d: d}.JSON()
	}
	if all := d.mistakes; len(all) > 0 {
		return "", all[:1]
	}
	return text, nil
}

// asInJSON writes numbers as JSON does, where it has them.
func asInJSON(n *yaml.Node) {
	var whole int64
	var f float64
	switch {
	case json.Valid([]byte(n.Value)) || len(n.Value) > 1000:
	case n.Tag == "!!int" && n.Decode(&whole) == nil:
		n.Value = strconv.FormatInt(whole, 10)
	case n.Tag == "!!float" && n.Decode(&f) == nil:
		n.Value = strconv.FormatFloat(f, 'g', -1, 64)
	}
	for _, child := range n.Content {
		asInJSON(child)
	}
}
