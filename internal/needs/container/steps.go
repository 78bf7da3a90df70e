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

// DescribeStrict describes what UnmarshalStrict reads.
func (ready) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	return strictyaml.Either(strictyaml.Enum("healthcheck"), s.Keys(readyMap{}, strictyaml.Keys{
		About: map[string]string{
			"command":     "Command in the container that succeeds when it is ready. Use the name of the need as host.",
			"tcp":         "Port that accepts connections and keeps them open.",
			"http":        "Path that responds with a status, 200 unless given.",
			"log":         "Text of a line of its log, how often it comes in the first start; later the port counts.",
			"healthcheck": "The command of the image's health check.",
			"times":       "How often it must succeed in a row, half a second apart; 2 unless given.",
			"timeout":     "How long to wait; 60s unless given.",
		},
		Rules: strictyaml.Schema{"oneOf": strictyaml.HasOneAtMost("command", "tcp", "http", "log", "healthcheck")},
	}))
}
