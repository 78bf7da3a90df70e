package profile

import (
	"net/url"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// document is a JSON body, which may have places for variables.
type document string

// UnmarshalStrict takes any value.
func (d *document) UnmarshalStrict(v strictyaml.Value) { *d = document(v.JSON()) }

// form is a form body, which may have places for variables.
type form string

// UnmarshalStrict reads names and values, in their order.
func (f *form) UnmarshalStrict(v strictyaml.Value) {
	if v.Kind() != strictyaml.Map {
		v.Wrong("write names and values, such as `{user: \"{user}\", page: 1}`")
	}
	var pairs []string
	for _, field := range v.Fields() {
		text, _ := field.Value.Text()
		pairs = append(pairs, url.QueryEscape(field.Key)+"="+bench.Escaped(text, url.QueryEscape))
	}
	*f = form(strings.Join(pairs, "&"))
}
