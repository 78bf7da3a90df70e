package profile

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
)

// unplaced matches a column in braces whose name no place can have, such as {user.Price (EUR)}.
var unplaced = regexp.MustCompile(`(?:^|[^{])\{([A-Za-z_][A-Za-z0-9_]*)\.([^{}"\\]{1,200})\}`)

// unplaced reports columns of a file in a text of a request that look like places and are none.
func (r *rules) unplaced(p *bench.Profile, key string, of bench.Part) {
	for _, m := range unplaced.FindAllStringSubmatch(of.Text, -1) {
		name, column := m[1], m[2]
		i := slices.IndexFunc(p.Variables, func(v bench.Variable) bool { return v.Name == name && v.File != "" && v.Column == "" })
		place := "{" + name + "." + column + "}"
		if parts := bench.Parts(place); of.Name != "" || i < 0 || len(parts) == 1 && parts[0].Name != "" {
			continue // a place, another text, or {{user.name}}
		}
		own := cmp.Or(strings.ToLower(regexp.MustCompile(`^[A-Za-z]*`).FindString(column)), "value")
		r.when(true, key, fmt.Sprintf("`%s` is not filled in", place),
			fmt.Sprintf("write `%s: {file: %s, column: %q}` and `{%s}`", own, filepath.Base(p.Variables[i].File), column, own))
	}
}
