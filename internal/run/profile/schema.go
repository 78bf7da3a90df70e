package profile

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender/check"
	"github.com/locbench/locbench/internal/text/strictyaml"
	"github.com/locbench/locbench/internal/values"
)

// Schema returns the JSON Schema of a profile, made from the types that read one and the table of
// options. The methods DescribeStrict describe forms other than a map.
func Schema() strictyaml.Schema { return strictyaml.SchemaOf("A profile of locbench", file{}) }

// table returns descriptions and rules of the keys below prefix, from about and the options.
func table(prefix string, about map[string]string) strictyaml.Keys {
	all := map[string]strictyaml.Schema{}
	for _, o := range Options() {
		key, ok := strings.CutPrefix(o.Key, prefix)
		if !ok || key == "" || strings.Contains(key, ".") {
			continue
		}
		s := strictyaml.Schema{}
		s["description"] = cmp.Or(about[key], o.Help, strings.ReplaceAll(o.Usage, "`", ""))
		delete(about, key) // otherwise the bounds that Within adds would be lost
		if o.texts != nil {
			for keyword, value := range strictyaml.Enum(o.texts...) {
				s[keyword] = value
			}
		}
		if o.high != "" {
			s.Within(o.low, o.high)
		}
		all[key] = s
	}
	return strictyaml.Keys{About: about, Accept: all}
}

// squeezed returns a pattern that matches the text with any number of blanks for each one.
func squeezed(pattern string) string {
	pattern = strings.NewReplacer(" ?", `\s*`, " ", `\s+`).Replace(pattern)
	return `^\s*` + strings.TrimSuffix(strings.TrimPrefix(pattern, "^"), "$") + `\s*$`
}

func headerSchema() strictyaml.Schema { return strictyaml.MapOf(token.String(), strictyaml.Text("")) }

func pathSchema() strictyaml.Schema {
	const hint = "start it with `/`; percent-encode non-ASCII letters, spaces and `#`"
	return strictyaml.String(`^[/{]([!"$-~]|\{[A-Za-z_][A-Za-z0-9_]*\.[^{}#]*[^!-~][^{}#]*\})*$`).Hint(hint)
}

func methodSchema() strictyaml.Schema {
	lower := []string{http.MethodConnect}
	for _, m := range methods {
		lower = append(lower, strings.ToLower(m))
	}
	s := strictyaml.Text(token.String()).Hint("write a method in capitals, such as `GET` or `PURGE`")
	s["maxLength"], s["not"], s["examples"] = maxMethod, strictyaml.Enum(lower...), methods
	return strictyaml.Either(s, strictyaml.Schema{"type": "string", "maxLength": 0})
}

func conditionSchema() strictyaml.Schema { return strictyaml.String("[<>]").Hint(thresholdHint) }

// weighed returns the two forms of an item of the mix: with a share, or with a weight in bounds.
func weighed() []strictyaml.Schema {
	weight := strictyaml.Schema{"weight": strictyaml.Schema{"minimum": 1, "maximum": maxWeight}}
	return []strictyaml.Schema{strictyaml.Has("share"), {"properties": weight}}
}

// DescribeStrict adds descriptions and the rules of a whole file.
func (file) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	k := table("", map[string]string{
		"name":  "Name of the profile, part of the results folder's name; default: the file's name.",
		"title": "Purpose, in one line.", "description": "Description, in a few sentences.",
		"services":  "Folder with contenders that are not bundled, relative to the profile; --services replaces it.",
		"runtime":   "Where contenders run: docker, process, or auto (Docker if available).",
		"limits":    "Limits per contender. Missing keys: no limit.",
		"isolation": "auto: contender, needs and client get their own CPUs if there are enough. off: they share all.",
		"needs":     "Services that the contenders need, by their names.",
		"header":    "Headers of all requests.",
		"follow":    "Redirects in a row that all requests follow: true (10), false, or a number up to 20.",
		"variables": "Values of {name} in paths, headers and bodies: a new one per iteration.",
		"setup":     "Sent once after each start, before the load. All requests can use what they save.",
		"requests":  "The mix of requests; each has the share weight / (sum of weights). Or {targets: FILE}, vegeta's target file.",
		"sessions":  "What one user sends in order. A session has a share of the mix, as a request has.",
		"teardown":  "Requests sent once at the end of each trial, however it ends, before stop.",
		"protocol": "http/1.1, or http/2: over TLS for an https target, else with prior knowledge (h2c); one request " +
			"at a time per connection.",
		"timeout":        "Timeout of a request, from sending it to the last byte of its response.",
		"compare_bodies": "Share of responses whose body is compared with the expected one, or none.",
		"max_unexpected": "Largest share of compared bodies that may be unexpected in a step; without it, one excludes the contender.",
		"max_errors":     "Steps with a larger share of errors are excluded from comparison.",
		"first_requests": "Time the first requests one at a time, by phase, before all else.",
		"checks":         "Checks of each contender before its load.",
		"step_duration":  "Length of each step without its own duration.",
		"steps": "The steps of load: connections (64) or a range (2..2048 doubling), optionally with x5 to repeat, " +
			"warm-up, for 30s, or longer; or a map.",
		"thresholds":          "Conditions for every measured step, such as p99<50ms,errors<0.1%, or maps.",
		"price_per_vcpu_hour": "Price of a vCPU-hour in dollars, for the cost of requests.",
	})
	k.Accept["name"] = strictyaml.Schema{"pattern": namePattern.String(), "maxLength": maxName}
	k.Accept["header"] = headerSchema()
	k.Rules = strictyaml.Schema{"anyOf": strictyaml.HasEach("requests", "sessions")}
	return s.Keys(file{}, k)
}

// DescribeStrict describes what UnmarshalStrict reads.
func (compared) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	return share(0).DescribeStrict(s)
}

// DescribeStrict returns the schema of what UnmarshalStrict reads.
func (share) DescribeStrict(*strictyaml.Schemas) strictyaml.Schema {
	percent := strictyaml.String(`^\s*` + strictyaml.NumberPattern + `\s*%\s*$`).Hint(shareHint)
	return strictyaml.Either(strictyaml.Enum("none", "0"), percent)
}

// DescribeStrict adds descriptions and bounds from the table of options.
func (limits) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	return s.Keys(limits{}, table("limits.", map[string]string{"pids": "Processes and threads together."}))
}

// DescribeStrict adds descriptions of the keys.
func (firstRequests) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	return s.Keys(firstRequests{}, strictyaml.Keys{
		About:  map[string]string{"requests": "Number of requests to time."},
		Accept: map[string]strictyaml.Schema{"requests": {"minimum": 1, "maximum": maxFirstRequests}},
	})
}

// DescribeStrict adds descriptions of the keys.
func (checks) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	return s.Keys(checks{}, strictyaml.Keys{About: map[string]string{
		"lifecycle": "Checks of how a contender starts, logs and stops: all, none, or a list.",
		"suites":    "Suites of HTTP checks: names of bundled ones, or paths of YAML files, relative to the profile.",
	}})
}

// DescribeStrict returns the schema of what UnmarshalStrict reads.
func (lifecycle) DescribeStrict(*strictyaml.Schemas) strictyaml.Schema {
	all := strictyaml.Enum(bench.LifecycleChecks()...)
	return strictyaml.Either(strictyaml.Enum("all", "none"), strictyaml.ListOf(all, 0))
}

// DescribeStrict returns the schema of what UnmarshalStrict reads.
func (variables) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	list := strictyaml.ListOf(strictyaml.Text(""), 1)
	return strictyaml.MapOf(variableName.String(), strictyaml.Either(strictyaml.Enum(generators...), list, s.Of(source{})))
}

// DescribeStrict adds descriptions and which keys exclude or need each other.
func (source) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	return s.Keys(source{}, strictyaml.Keys{
		About: map[string]string{
			"from": "First of a range of whole numbers.", "to": "Last of the range.",
			"list": "The values.", "file": "A CSV file with a header, a JSON list (.json), or JSON lines (.jsonl, .ndjson).",
			"column":   "The column of the file to use. Without it the variable is a row, {name.column}, or an element of a JSON list.",
			"encoding": "The encoding of the file, such as latin1. Default: UTF-8, or what its byte order mark says.",
			"string":   "Length of a random text of letters and digits.",
			"draw":     "random (default), zipf, in_turn (cycles through the values), once (each value one time).",
			"exponent": "Exponent of zipf: above 1, up to 10.",
		},
		Accept: map[string]strictyaml.Schema{
			"draw": strictyaml.Enum(append([]string{""}, draws...)...), "exponent": {"minimum": 0, "maximum": 10},
			"encoding": strictyaml.Enum(values.Encodings()...),
		},
		Rules: strictyaml.Schema{
			"oneOf":             append(strictyaml.HasEach("list", "file", "string"), strictyaml.Has("from", "to")),
			"dependentRequired": map[string][]string{"column": {"file"}, "encoding": {"file"}, "from": {"to"}, "to": {"from"}},
		},
	})
}

// DescribeStrict adds descriptions and which keys exclude or need each other.
func (request) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	about := map[string]string{
		"name":      "Name in the results; default: method and path.",
		"weight":    "Relative weight: the share of the mix is weight / (sum of weights).",
		"share":     "Share of the mix in percent, instead of a weight.",
		"method":    "HTTP method of path; default: GET.",
		"path":      "Path and query. {name} is a variable, {id} and {language} come from the data set, {{word}} is {word}.",
		"header":    "Headers, added to those at the top of the file. ${NAME} is an environment variable.",
		"json":      "Body as JSON. \"{name:number}\" and \"{name:json}\" are replaced without quotes.",
		"form":      "Body as a form: names and values.",
		"body":      "Body as text.",
		"file":      "File with the body.",
		"multipart": "Body as multipart/form-data: names of fields, and values or files.",
		"ids":       "How {id} is drawn from the ids of the data set: uniform, zipf, a list to cycle through, or a map.",
		"languages": "Values of {language}, used in a cycle.",
		"expect":    "What a response must be; any other is an error.",
		"success":   "Expected statuses that count as throughput; default: those below 400, or all if none is.",
		"timeout":   "Timeout of this request, instead of the file's.",
		"save":      "Values of the response for later requests: names, and where the values are.",
		"follow":    "Redirects in a row that are followed: true (10), false, or a number up to 20.",
		"think":     "Think time before it: 1s, or 500ms..2s.",
		"pace":      "Least time from the start of this request to the user's next one: 1s. In a session: that of the session.",
		"repeat":    "Until when it is sent again, for a state that takes time.",
	}
	accept := map[string]strictyaml.Schema{
		"method": methodSchema(), "path": pathSchema(), "header": headerSchema(),
		"languages": {"items": strictyaml.Text(languagePattern.String())},
		"form":      strictyaml.MapOf("", strictyaml.Text("")),
	}
	keys := []string{"path"}
	for _, m := range new(request).methodKeys() {
		keys = append(keys, m.key)
		accept[m.key] = pathSchema()
		about[m.key] = m.method + " with this path and query."
	}
	return s.Keys(request{}, strictyaml.Keys{About: about, Accept: accept, Rules: strictyaml.Schema{
		"oneOf":             strictyaml.HasEach(keys...),
		"dependentRequired": map[string][]string{"method": {"path"}},
		"allOf":             []strictyaml.Schema{{"oneOf": strictyaml.HasOneAtMost("json", "form", "body", "file", "multipart")}},
	}})
}

// DescribeStrict returns the schema of what UnmarshalStrict reads.
func (ids) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	list := strictyaml.ListOf(s.Of(int64(0)), 1)
	list["maxItems"] = maxFixedIDs
	return strictyaml.Either(strictyaml.Enum(uniform, zipf), list, s.Keys(ids{}, strictyaml.Keys{
		About: map[string]string{
			"distribution": "uniform, zipf, or fixed, which cycles through a list.", "fixed": "The ids for fixed.",
			"exponent": "Exponent of zipf: above 1, up to 10.",
		},
		Accept: map[string]strictyaml.Schema{
			"distribution": strictyaml.Enum("", uniform, zipf, fixed), "fixed": {"maxItems": maxFixedIDs},
			"exponent": {"minimum": 0, "maximum": 10},
		},
	}))
}

// DescribeStrict returns the schema of check suites with the statuses that a load supports.
func (expect) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	of := s.Of(check.Expect{})
	status := strictyaml.Schema{"minimum": 200, "items": strictyaml.Schema{"minimum": 200}}
	of["properties"] = strictyaml.Schema{"status": status}
	return of
}

// DescribeStrict returns the schema of what UnmarshalStrict reads.
func (saves) DescribeStrict(*strictyaml.Schemas) strictyaml.Schema {
	sources := strictyaml.Schema{}
	for _, source := range []bench.Source{bench.FromJSON, bench.FromHeader, bench.FromCookie, bench.FromRegex} {
		sources[string(source)] = strictyaml.Text("")
	}
	from := strictyaml.Schema{"type": "object", "properties": sources, "additionalProperties": false}
	from["minProperties"] = 1
	from["oneOf"] = strictyaml.HasOneAtMost(string(bench.FromJSON), string(bench.FromHeader), string(bench.FromCookie))
	return strictyaml.MapOf(variableName.String(), strictyaml.Either(strictyaml.Text(""), from))
}

// DescribeStrict returns the schema of what UnmarshalStrict reads.
func (follow) DescribeStrict(*strictyaml.Schemas) strictyaml.Schema {
	number := strictyaml.Schema{"type": "integer", "minimum": 0, "maximum": maxFollow}
	return strictyaml.Either(strictyaml.Schema{"type": "boolean"}, number)
}

// DescribeStrict returns the schema of what UnmarshalStrict reads.
func (think) DescribeStrict(*strictyaml.Schemas) strictyaml.Schema {
	one := strictyaml.DurationPattern
	text := strictyaml.String(`^\s*` + one + `(\.\.` + one + `)?\s*$`).Hint(thinkHint)
	return strictyaml.Either(text, strictyaml.Schema{"type": "integer", "minimum": 0, "maximum": 0})
}

// DescribeStrict adds descriptions of the keys.
func (session) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	one := s.Of(request{})
	one["not"] = strictyaml.Schema{"anyOf": strictyaml.HasEach("share", "weight")}
	return s.Keys(session{}, strictyaml.Keys{
		About: map[string]string{
			"name":     "Name in the results.",
			"weight":   "Relative weight: the share of the mix is weight / (sum of weights).",
			"share":    "Share of the mix in percent, instead of a weight.",
			"pace":     "Least time from the start of an iteration to that of the user's next one: 1s.",
			"setup":    "Requests that each user sends once before a step, such as a login. They are in no result.",
			"requests": "Requests of one user, in order.",
		},
		Accept: map[string]strictyaml.Schema{"requests": {"items": one}, "setup": {"items": one}}, Rules: strictyaml.Schema{"anyOf": weighed()},
	})
}

// connectionsText returns the schema of a number of connections, or a text of that pattern.
func connectionsText(pattern, hint string) strictyaml.Schema {
	s := strictyaml.Schema{"type": []string{"integer", "string"}, "minimum": 1, "maximum": bench.MaxConnections}
	s["pattern"] = squeezed(pattern)
	return s.Hint(hint)
}

// DescribeStrict returns the schema of what UnmarshalStrict reads.
func (steps) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	list := strictyaml.ListOf(strictyaml.Either(connectionsText(stepPattern.String(), stepHint), s.Of(step{})), 1)
	list["maxItems"] = maxSteps
	return list
}

// DescribeStrict adds descriptions and which keys exclude or need each other.
func (step) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	return s.Keys(step{}, strictyaml.Keys{
		About: map[string]string{
			"name":         "Name in the results.",
			"connections":  "A number, a range (2..64 doubling), a list of these, or a ramp {from: 1, to: 512}.",
			"request":      "The only request or session of the mix to send.",
			"repeat":       "Number of times the step runs.",
			"warm_up":      "Shown, but not measured. Without a duration it lasts as or_longer says.",
			"or_longer":    "The warm-up lasts until compilers of the runtime are idle, at most a minute.",
			"duration":     "Length of the step, from 100ms to 24h; default: step_duration.",
			"max_requests": "Number of requests after which the step ends.",
			"rate":         "Requests per second: 5000, 50% of peak (of each contender), 50% of lowest peak (the same for all), a ramp or a wave.",
			"arrivals":     "Users arriving within a time, each with its own connection.",

			"keep_requests": "Number of single requests, drawn at random, whose times are saved, for vegeta's formats.",
		},
		Rules: strictyaml.Schema{
			"anyOf": strictyaml.HasEach("connections", "rate", "arrivals"),
			"not":   strictyaml.Either(strictyaml.Has("rate", "arrivals"), strictyaml.Has("arrivals", "max_requests")),
		},
	})
}

// DescribeStrict returns the schema of what UnmarshalStrict reads.
func (connections) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	one := connectionsText(rangePattern, rangeHint)
	return strictyaml.Either(one, strictyaml.ListOf(one, 0), s.Of(connectionRamp{}))
}

// DescribeStrict adds descriptions of the keys.
func (connectionRamp) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	return s.Keys(connectionRamp{}, strictyaml.Keys{About: map[string]string{
		"from": "Connections at the start.", "to": "Connections at the end.",
	}})
}

// DescribeStrict returns the schema of what UnmarshalStrict reads.
func (rate) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	number := strictyaml.Schema{"type": "number", "minimum": minRate, "maximum": maxRate}
	return strictyaml.Either(number, strictyaml.String("^"+strictyaml.NumberPattern+"(/s)?$"),
		strictyaml.String(squeezed(sharePattern.String())).Hint(rateHint), s.Of(ramp{}), s.Of(wave{}))
}

// DescribeStrict adds descriptions of the keys.
func (ramp) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	return s.Keys(ramp{}, strictyaml.Keys{About: map[string]string{
		"from": "Requests per second at the start.", "to": "Requests per second at the end.",
	}})
}

// DescribeStrict adds descriptions of the keys.
func (wave) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	return s.Keys(wave{}, strictyaml.Keys{About: map[string]string{
		"mean": "Mean requests per second.", "amplitude": "Requests per second above and below the mean.",
		"period": "Length of one wave.",
	}})
}

// DescribeStrict adds descriptions of the keys.
func (arrivals) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	return s.Keys(arrivals{}, strictyaml.Keys{About: map[string]string{
		"users": "Number of users.", "over": "Time within which they arrive.",
		"requests": "Requests per user; default: 1.",
	}})
}

// DescribeStrict returns the schema of what UnmarshalStrict reads.
func (threshold) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	return strictyaml.Either(conditionSchema(), s.Keys(threshold{}, strictyaml.Keys{
		About: map[string]string{
			"condition": "Conditions such as p99<50ms,errors<0.1%.",
			"from_step": "The first step to check. Steps count from 1, warm-ups included.",
			"stop":      "A miss stops the trial (trial, true) or the run (run) after the step.",
		},
		Accept: map[string]strictyaml.Schema{"condition": conditionSchema()},
	}))
}
