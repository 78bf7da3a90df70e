package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The sub-fields of every name, as shared/spec of the locations service wants them:
// search_as_you_type brings the fields _2gram and _3gram along.
const nameField = `"type":"text","fields":{` +
	`"autocomplete":{"type":"search_as_you_type","analyzer":"standard"},` +
	`"autocomplete_ascii":{"type":"search_as_you_type","analyzer":"lowercase_asciifolding"},` +
	`"raw":{"type":"keyword"}}`

// CityMapping is the body of PUT /<index> for cities: one shard, and no replica, since the data can
// be made again and copies in the making would disturb a measurement.
func CityMapping() []byte {
	return mapping(`,"regionId":{"type":"long"},"isFeatured":{"type":"boolean"},"timezone":{"type":"keyword"},"population":{"type":"long"}`)
}

// RegionMapping is the body of PUT /<index> for regions.
func RegionMapping() []byte { return mapping("") }

func mapping(more string) []byte {
	var b strings.Builder
	b.WriteString(`{"settings":{"index":{"number_of_shards":1,"number_of_replicas":0,"analysis":{"analyzer":{` +
		`"lowercase_asciifolding":{"type":"custom","tokenizer":"standard","filter":["lowercase","asciifolding"]}}}}},` +
		`"mappings":{"dynamic":"strict","properties":{` +
		`"id":{"type":"long"},"countryIso":{"type":"keyword"},"centroid":{"type":"geo_point"},"geometry":{"type":"geo_shape"},` +
		`"name":{"properties":{"all":{` + nameField + `}`)
	for _, language := range Languages {
		b.WriteString(`,"` + language + `":{"copy_to":"name.all",` + nameField + `}`)
	}
	b.WriteString(`}}` + more + `}}}`)
	return []byte(b.String())
}

// normalizeMapping turns what people have as "the mapping" into the body of PUT /<index>, settings
// nested below "index"; see Dump.
func normalizeMapping(data []byte) ([]byte, error) {
	var body map[string]json.RawMessage
	if err := json.Unmarshal(data, &body); err != nil {
		return nil, jsonMistake(data, err)
	}
	// GET /<index> and GET /<index>/_mapping answer {"<concrete index>": {…}}.
	if len(body) == 1 {
		for name, inner := range body {
			var one map[string]json.RawMessage
			if name != "mappings" && name != "settings" && json.Unmarshal(inner, &one) == nil && one["mappings"] != nil {
				body = one
			}
		}
	}
	if body["properties"] != nil {
		bare, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		body = map[string]json.RawMessage{"mappings": bare}
	}
	out := make(map[string]json.RawMessage, 2)
	for key, value := range body {
		switch key {
		case "mappings":
			out[key] = value
		case "settings":
			var err error
			if out[key], err = nestSettings(value); err != nil {
				return nil, fmt.Errorf("settings: %w", err)
			}
		case "aliases", "defaults", "warmers":
			// An alias is moved only once everything is loaded, and by package seed.
		default:
			return nil, fmt.Errorf("unknown key %.40q; want settings and mappings", key)
		}
	}
	var mappings map[string]json.RawMessage
	if err := json.Unmarshal(out["mappings"], &mappings); out["mappings"] == nil || err != nil || mappings == nil {
		return nil, errors.New(`no "mappings" object`)
	}
	return json.Marshal(out)
}

// private are the settings that Elasticsearch reports but does not accept.
var private = []string{"creation_date", "uuid", "version", "provided_name"}

// nestSettings puts all settings, however written, below "index", but for the private ones.
func nestSettings(settings json.RawMessage) (json.RawMessage, error) {
	var all, index map[string]json.RawMessage
	if err := json.Unmarshal(settings, &all); err != nil {
		return nil, err
	}
	if all["index"] != nil {
		if err := json.Unmarshal(all["index"], &index); err != nil {
			return nil, err
		}
		delete(all, "index")
	}
	nested := make(map[string]json.RawMessage, len(all)+len(index))
	for _, level := range []map[string]json.RawMessage{all, index} {
		for key, value := range level {
			if key = strings.TrimPrefix(key, "index."); !slices.Contains(private, key) {
				nested[key] = value
			}
		}
	}
	return json.Marshal(map[string]any{"index": nested})
}

// jsonMistake adds the line to a syntax error.
func jsonMistake(data []byte, err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) && int(syntax.Offset) <= len(data) {
		return fmt.Errorf("line %d: %w", 1+bytes.Count(data[:syntax.Offset], []byte("\n")), err)
	}
	return err
}
