package strictyaml

import (
	"encoding/json"
	"regexp"

	"gopkg.in/yaml.v3"
)

// octal matches a number with a leading zero, which YAML may read as octal.
var octal = regexp.MustCompile(`^[-+]?0[0-9]`)

const octalHint = "put it in quotes if it is a text, or leave out the leading zero"

// JSONNumber returns a number in the text of the file, exact at any size. ok is false for any other
// value. It reports a number that JSON writes in another form, or does not have, such as 02142,
// 0x1F or .inf; the text is then 0.
func (v Value) JSONNumber() (text string, ok bool) {
	n := v.node
	if v.Kind() != Scalar {
		return "", false
	}
	quoted := n.Style&^yaml.FlowStyle != 0 // or a block, or with a tag
	valid := isJSONNumber(n.Value)
	switch number := n.Tag == "!!int" || n.Tag == "!!float"; {
	case valid && (number || !quoted && n.Tag == "!!str"): // the library reads 1e400 as a text
		return n.Value, true
	case !number:
		return "", false
	case octal.MatchString(n.Value):
		v.Wrong(octalHint)
	default:
		v.Wrong("write it as JSON does, such as 31 or 0.5; or put it in quotes if it is a text")
	}
	return "0", true
}

func isJSONNumber(text string) bool {
	return text != "" && (text[0] == '-' || text[0] >= '0' && text[0] <= '9') && json.Valid([]byte(text))
}
