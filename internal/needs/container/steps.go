package container

import (
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/text/strictyaml"
)

// UnmarshalStrict reads `healthcheck` or a map.
func (r *ready) UnmarshalStrict(v strictyaml.Value) {
	if v.Kind() == strictyaml.Scalar {
		if text, _ := v.Text(); text != "healthcheck" {
			v.Wrong("write `healthcheck`, for that of the image, or one of {command: […]}, {tcp: 5432}, " +
				"{http: {port: 8080, path: /health}}, {log: {line: …, times: 2}}")
		}
		*r = ready{Healthcheck: true}
		return
	}
	var m readyMap
	v.Decode(&m)
	*r = ready(m)
	if names := r.rules(); len(names) > 1 {
		slices.Sort(names)
		v.Mistake("`ready` has several rules: "+strings.Join(names, ", "), "keep one of them")
	}
}
