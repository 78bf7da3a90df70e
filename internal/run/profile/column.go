package profile

import (
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
)

// unplaced matches a column in braces whose name no place can have, such as {user.Price (EUR)}.
var unplaced = regexp.MustCompile(`(?:^|[^{])\{([A-Za-z_][A-Za-z0-9_]*)\.([^{}"\\]{1,200})\}`)

// columns reports columns of a file in the texts of a request that look like places and are none.
func (r *rules) columns(p *bench.Profile, at string, req bench.Request) {
	report := func(key, text string) {
		for _, part := range bench.Parts(text) {
			if part.Name != "" {
				continue
			}
			for _, m := range unplaced.FindAllStringSubmatch(part.Text, -1) {
				r.unplaced(p, key, m[1], m[2])
			}
		}
	}
	report(at+".path", req.Path)
	body := req.Body
	if req.Encoding == bench.FormBody {
		body = bench.Escaped(body, func(text string) string {
			plain, _ := url.QueryUnescape(text)
			return plain
		})
	}
	key := at + ".body"
	if req.Encoding != bench.PlainText {
		key = at + "." + string(req.Encoding)
	}
	report(key, body)
	for _, name := range slices.Sorted(maps.Keys(req.Header)) {
		report(at+".header."+name, req.Header[name])
	}
	for _, f := range req.Multipart {
		report(at+".multipart", f.Value)
		report(at+".multipart", f.FileName)
	}
	for _, text := range req.ExpectedTexts() {
		report(at+".expect", text)
	}
}

func (r *rules) unplaced(p *bench.Profile, key, name, column string) {
	i := slices.IndexFunc(p.Variables, func(v bench.Variable) bool { return v.Name == name && v.File != "" && v.Column == "" })
	place := "{" + name + "." + column + "}"
	if parts := bench.Parts(place); i < 0 || len(parts) == 1 && parts[0].Name != "" {
		return // another text, or {{user.name}}
	}
	own := strings.ToLower(regexp.MustCompile(`^[A-Za-z]+`).FindString(column))
	if own == "" {
		own = "value"
	}
	r.when(true, key, fmt.Sprintf("`%s` is not filled in", place),
		fmt.Sprintf("write `%s: {file: %s, column: %q}` and `{%s}`", own, filepath.Base(p.Variables[i].File), column, own))
}
