package profile

import (
	"cmp"
	"strings"

	"locbench/internal/bench"
	"locbench/internal/contender/check"
	"locbench/internal/text/strictyaml"
)

// Schema returns the JSON Schema of a profile. It is made of the types that read one and of the table of options; the
// methods DescribeStrict say what these types accept in other forms than a map.
func Schema() strictyaml.Schema { return strictyaml.SchemaOf("A profile of locbench", file{}) }

// table returns what the table of options says of the keys below prefix. What about says of a key comes before its help.
func table(prefix string, about map[string]string) strictyaml.Keys {
	all := map[string]strictyaml.Schema{}
	for _, o := range Options() {
		key, ok := strings.CutPrefix(o.Key, prefix)
		if !ok || key == "" || strings.Contains(key, ".") {
			continue
		}
		s := strictyaml.Schema{}
		s["description"] = cmp.Or(about[key], o.Help, strings.ReplaceAll(o.Usage, "`", ""))
		delete(about, key) // or the bounds that Within adds would be lost
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

// squeezed returns a pattern for a text in which blanks have not been squeezed yet.
func squeezed(pattern string) string {
	pattern = strings.NewReplacer(" ?", `\s*`, " ", `\s+`).Replace(pattern)
	return `^\s*` + strings.TrimSuffix(strings.TrimPrefix(pattern, "^"), "$") + `\s*$`
}

func headerSchema() strictyaml.Schema { return strictyaml.MapOf(token.String(), strictyaml.Text("")) }

func pathSchema() strictyaml.Schema {
	const hint = "begin it with `/`, and write blanks, `#` and letters other than ASCII as %-escapes"
	return strictyaml.String(`^/[!"$-~]*$`).Hint(hint)
}

func objectiveSchema() strictyaml.Schema { return strictyaml.String("[<>]").Hint(thresholdHint) }

// weighed returns the ways to weigh what is in the mix: a share, or else a weight within its bounds.
func weighed() []strictyaml.Schema {
	weight := strictyaml.Schema{"weight": strictyaml.Schema{"minimum": 1, "maximum": maxWeight}}
	return []strictyaml.Schema{strictyaml.Has("share"), {"properties": weight}}
}

// DescribeStrict adds what is wanted of the whole.
func (file) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	k := table("", map[string]string{
		"name":  "Its name, which becomes part of the results folder's. The file's name, unless given.",
		"title": "Purpose, in one line.", "description": "Description, in a few sentences.",
		"runtime":   "Where contenders run: docker, process, or auto (Docker where an engine answers).",
		"limits":    "Limits per contender. Missing keys: no limit.",
		"isolation": "auto: contender, store and client get CPUs of their own where there are enough. off: they share all.",
		"store":     "The Elasticsearch that contenders ask: a kind, or a map with its address, image or latency.",
		"data":      "The data set: bundled, {cities: 100000} to generate it, or {dir: FOLDER} for a dump.",
		"header":    "Headers of all requests.",
		"variables": "What {name} stands for in paths, headers and bodies: new in each request and each session.",
		"setup":     "Sent once after each start, before the load. All requests can use what they save.",
		"requests":  "The mix of requests. Each has the share weight / (sum of weights).",
		"sessions":  "What one user sends in order. A session has a share of the mix, as a request has.",
		"teardown":  "Requests sent once after the load, before stop.",
		"protocol": "http/1.1, or http/2: over TLS for a target of https, else without negotiation; one request at a " +
			"time on each connection.",
		"timeout":       "Of one request, from its sending to the last byte of its response.",
		"validate":      "Share of responses whose body is compared with the expected one, or none.",
		"max_errors":    "Steps with a larger share of errors are excluded from comparison.",
		"phases":        "Time the first requests one at a time, by phase, before all else.",
		"checks":        "What is checked of each contender before its load.",
		"step_duration": "Length of each step that does not say how long it is.",
		"steps": "The steps of load: a number of connections (64), a range (2..2048 doubling), after it x5 to repeat, " +
			"warm-up, for 30s; or a map.",
		"thresholds":          "Conditions for every measured step, such as p99<50ms,errors<0.1%, or maps.",
		"price_per_vcpu_hour": "Price of a vCPU-hour in dollars, for the cost of requests.",
	})
	k.Accept["name"] = strictyaml.Schema{"pattern": namePattern.String(), "maxLength": maxName}
	k.Accept["header"] = headerSchema()
	one := s.Of(request{})
	one["anyOf"] = weighed()
	k.Accept["requests"] = strictyaml.Schema{"items": one}
	k.Rules = strictyaml.Schema{"anyOf": strictyaml.HasEach("requests", "sessions")}
	return s.Keys(file{}, k)
}

// DescribeStrict says what UnmarshalStrict reads.
func (share) DescribeStrict(*strictyaml.Schemas) strictyaml.Schema {
	percent := strictyaml.String(`^\s*` + strictyaml.NumberPattern + `\s*%\s*$`).Hint(shareHint)
	return strictyaml.Either(strictyaml.Enum("none", "0"), percent)
}

// DescribeStrict says what UnmarshalStrict reads.
func (selection) DescribeStrict(*strictyaml.Schemas) strictyaml.Schema {
	return strictyaml.Text(contenderPattern.String())
}

// DescribeStrict adds what the table of options says.
func (limits) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	return s.Keys(limits{}, table("limits.", map[string]string{"pids": "Processes and threads together."}))
}

// DescribeStrict says what UnmarshalStrict reads.
func (store) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	return strictyaml.Either(strictyaml.Enum(bench.StoreKinds()...), s.Keys(store{}, table("store.", map[string]string{
		"kind":  "auto, embedded, external, container or none.",
		"url":   "Where an external Elasticsearch 7 answers. ${NAME} in it is a variable of the environment.",
		"image": "The image of a store in a container.",
	})))
}

// DescribeStrict says what UnmarshalStrict reads.
func (data) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	k := table("data.", map[string]string{
		"vertices": "How many vertices each generated shape has.", "seed": "The same seed gives the same generated data.",
	})
	k.Rules = strictyaml.Schema{"oneOf": strictyaml.HasEach("dir", "cities")}
	return strictyaml.Either(strictyaml.Enum(BundledData), s.Keys(dataMap{}, k))
}

// DescribeStrict adds what keys mean.
func (phases) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	return s.Keys(phases{}, strictyaml.Keys{
		About:  map[string]string{"requests": "How many requests are timed."},
		Accept: map[string]strictyaml.Schema{"requests": {"minimum": 1, "maximum": maxPhased}},
	})
}

// DescribeStrict adds what keys mean.
func (checks) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	return s.Keys(checks{}, strictyaml.Keys{About: map[string]string{
		"lifecycle": "Checks of how it starts, logs and stops: all, none, or a list of them.",
		"suites":    "Suites of HTTP checks: bundled ones by their names, others by their paths.",
	}})
}

// DescribeStrict says what UnmarshalStrict reads.
func (lifecycle) DescribeStrict(*strictyaml.Schemas) strictyaml.Schema {
	all := strictyaml.Enum(bench.LifecycleChecks()...)
	return strictyaml.Either(strictyaml.Enum("all", "none"), strictyaml.ListOf(all, 0))
}

// DescribeStrict says what UnmarshalStrict reads.
func (variables) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	list := strictyaml.ListOf(strictyaml.Text(""), 1)
	return strictyaml.MapOf(variableName.String(), strictyaml.Either(strictyaml.Enum(generators...), list, s.Of(values{})))
}

// DescribeStrict adds how keys go together.
func (values) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	return s.Keys(values{}, strictyaml.Keys{
		About: map[string]string{
			"from": "The first of a range of whole numbers.", "to": "The last of the range.",
			"list": "The values.", "file": "A CSV file with a header, or JSON lines (.jsonl, .ndjson).",
			"column":   "The one column of the file that is taken. Without it the variable is a row: {name.column}.",
			"string":   "A text of so many letters and digits.",
			"draw":     "random (unless given), zipf, in_turn (round and round), once (each value one time).",
			"exponent": "Of zipf: above 1, up to 10.",
		},
		Accept: map[string]strictyaml.Schema{
			"draw": strictyaml.Enum(append([]string{""}, draws...)...), "exponent": {"minimum": 0, "maximum": 10},
		},
		Rules: strictyaml.Schema{
			"oneOf":             append(strictyaml.HasEach("list", "file", "string"), strictyaml.Has("from", "to")),
			"dependentRequired": map[string][]string{"column": {"file"}, "from": {"to"}, "to": {"from"}},
		},
	})
}

// DescribeStrict says how keys go together.
func (request) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	about := map[string]string{
		"name":      "How the results call it. Method and path, unless given.",
		"weight":    "Its share of the mix is weight / (sum of weights).",
		"share":     "Its share of the mix, in place of a weight.",
		"method":    "The method that goes with path. GET, unless given.",
		"path":      "Path and query. {name} is a variable, {id} and {language} are of the data set, {{word}} is {word}.",
		"header":    "Headers, besides those at the top of the file. ${NAME} is a variable of the environment.",
		"json":      "The body, as JSON. \"{name:number}\" and \"{name:json}\" stand in it without quotes.",
		"form":      "The body, as a form: names and values.",
		"body":      "The body, as it is.",
		"file":      "The file that holds the body.",
		"ids":       "How {id} is drawn from the ids of the data set: uniform, zipf, a list that is taken in turn, or a map.",
		"languages": "{language} goes round through these.",
		"expect":    "What a response must be; any other is an error.",
		"timeout":   "Of this request, in place of the timeout of all.",
		"save":      "Values of the response, for the requests after it: names, and where the values are.",
		"think":     "Think time before it: 1s, or 500ms..2s.",
	}
	accept := map[string]strictyaml.Schema{
		"method": strictyaml.Enum(append([]string{""}, methods...)...), "path": pathSchema(), "header": headerSchema(),
		"languages": {"items": strictyaml.Text(languagePattern.String())},
		"form":      strictyaml.MapOf("", strictyaml.Text("")),
	}
	ways := []string{"path"}
	for _, way := range new(request).ways() {
		ways = append(ways, way.key)
		accept[way.key] = pathSchema()
		about[way.key] = way.method + " with this path and query."
	}
	return s.Keys(request{}, strictyaml.Keys{About: about, Accept: accept, Rules: strictyaml.Schema{
		"oneOf":             strictyaml.HasEach(ways...),
		"dependentRequired": map[string][]string{"method": {"path"}},
		"allOf":             []strictyaml.Schema{{"oneOf": strictyaml.HasOneAtMost("json", "form", "body", "file")}},
	}})
}

// DescribeStrict says what UnmarshalStrict reads.
func (ids) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	list := strictyaml.ListOf(s.Of(int64(0)), 1)
	list["maxItems"] = maxFixedIDs
	return strictyaml.Either(strictyaml.Enum(uniform, zipf), list, s.Keys(ids{}, strictyaml.Keys{
		About: map[string]string{
			"distribution": "uniform, zipf, or fixed, which takes a list in turn.", "fixed": "The ids of fixed.",
			"exponent": "Of zipf: above 1, up to 10.",
		},
		Accept: map[string]strictyaml.Schema{
			"distribution": strictyaml.Enum("", uniform, zipf, fixed), "fixed": {"maxItems": maxFixedIDs},
			"exponent": {"minimum": 0, "maximum": 10},
		},
	}))
}

// DescribeStrict returns that of check suites, where a load knows fewer statuses.
func (expect) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	of := s.Of(check.Expect{})
	status := strictyaml.Schema{"minimum": 200, "items": strictyaml.Schema{"minimum": 200}}
	of["properties"] = strictyaml.Schema{"status": status}
	return of
}

// DescribeStrict says what UnmarshalStrict reads.
func (saves) DescribeStrict(*strictyaml.Schemas) strictyaml.Schema {
	sources := strictyaml.Schema{}
	for _, source := range []bench.Source{bench.FromJSON, bench.FromHeader, bench.FromCookie, bench.FromRegex} {
		sources[string(source)] = strictyaml.Text("")
	}
	from := strictyaml.Schema{"type": "object", "properties": sources, "additionalProperties": false}
	from["minProperties"], from["maxProperties"] = 1, 1
	return strictyaml.MapOf(variableName.String(), strictyaml.Either(strictyaml.Text(""), from))
}

// DescribeStrict says what UnmarshalStrict reads.
func (think) DescribeStrict(*strictyaml.Schemas) strictyaml.Schema {
	one := strictyaml.DurationPattern
	text := strictyaml.String(`^\s*` + one + `(\.\.` + one + `)?\s*$`).Hint(thinkHint)
	return strictyaml.Either(text, strictyaml.Schema{"type": "integer", "minimum": 0, "maximum": 0})
}

// DescribeStrict adds what keys mean.
func (session) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	one := s.Of(request{})
	one["not"] = strictyaml.Schema{"anyOf": strictyaml.HasEach("share", "weight")}
	return s.Keys(session{}, strictyaml.Keys{
		About: map[string]string{
			"name": "How the results call it.", "weight": "Its share of the mix is weight / (sum of weights).",
			"share": "Its share of the mix, in place of a weight.", "requests": "What one user asks, in order.",
		},
		Accept: map[string]strictyaml.Schema{"requests": {"items": one}}, Rules: strictyaml.Schema{"anyOf": weighed()},
	})
}

// connectionsText returns a number of connections, or a text of that pattern.
func connectionsText(pattern, hint string) strictyaml.Schema {
	s := strictyaml.Schema{"type": []string{"integer", "string"}, "minimum": 1, "maximum": bench.MaxConnections}
	s["pattern"] = squeezed(pattern)
	return s.Hint(hint)
}

// DescribeStrict says what UnmarshalStrict reads.
func (steps) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	list := strictyaml.ListOf(strictyaml.Either(connectionsText(stepPattern.String(), stepHint), s.Of(step{})), 1)
	list["maxItems"] = maxSteps
	return list
}

// DescribeStrict adds how keys go together.
func (step) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	return s.Keys(step{}, strictyaml.Keys{
		About: map[string]string{
			"name":         "How the results call it.",
			"connections":  "How many: a number, a range (2..64 doubling), a list of these, or a ramp {from: 1, to: 512}.",
			"request":      "The one request or session of the mix that it asks.",
			"repeat":       "How many times it is run.",
			"warm_up":      "Shown, but not measured.",
			"duration":     "How long it lasts, from 100ms to 24h. The step_duration of the file, unless given.",
			"max_requests": "It ends after so many requests.",
			"rate":         "Requests per second: 5000, 50% of peak, a ramp or a wave.",
			"arrivals":     "Users arriving within a time, each with its own connection.",
		},
		Rules: strictyaml.Schema{
			"anyOf": strictyaml.HasEach("connections", "rate", "arrivals"),
			"not":   strictyaml.Either(strictyaml.Has("rate", "arrivals"), strictyaml.Has("arrivals", "max_requests")),
		},
	})
}

// DescribeStrict says what UnmarshalStrict reads.
func (connections) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	one := connectionsText(rangePattern, rangeHint)
	return strictyaml.Either(one, strictyaml.ListOf(one, 0), s.Of(connectionRamp{}))
}

// DescribeStrict adds what keys mean.
func (connectionRamp) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	return s.Keys(connectionRamp{}, strictyaml.Keys{About: map[string]string{
		"from": "Connections at the start.", "to": "Connections at the end.",
	}})
}

// DescribeStrict says what UnmarshalStrict reads.
func (rate) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	number := strictyaml.Schema{"type": "number", "minimum": minRate, "maximum": maxRate}
	return strictyaml.Either(number, strictyaml.String("^"+strictyaml.NumberPattern+"(/s)?$"),
		strictyaml.String(squeezed(sharePattern.String())).Hint(rateHint), s.Of(ramp{}), s.Of(wave{}))
}

// DescribeStrict adds what keys mean.
func (ramp) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	return s.Keys(ramp{}, strictyaml.Keys{About: map[string]string{
		"from": "Requests a second at the start.", "to": "Requests a second at the end.",
	}})
}

// DescribeStrict adds what keys mean.
func (wave) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	return s.Keys(wave{}, strictyaml.Keys{About: map[string]string{
		"mean": "Requests a second in the middle.", "amplitude": "How far the rate goes up and down from there.",
		"period": "How long one wave lasts.",
	}})
}

// DescribeStrict adds what keys mean.
func (arrivals) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	return s.Keys(arrivals{}, strictyaml.Keys{About: map[string]string{
		"users": "How many come.", "over": "The time in which they come.",
		"requests": "How many requests each makes. One, unless given.",
	}})
}

// DescribeStrict says what UnmarshalStrict reads.
func (threshold) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	return strictyaml.Either(objectiveSchema(), s.Keys(threshold{}, strictyaml.Keys{
		About: map[string]string{
			"objective": "Conditions such as p99<50ms,errors<0.1%.",
			"from_step": "The first step that is judged. Steps count from 1, warm-ups too.",
			"stop":      "A miss stops the trial (trial, true) or the run (run) after the step.",
		},
		Accept: map[string]strictyaml.Schema{"objective": objectiveSchema()},
	}))
}
