package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The sub-fields of every name, as shared/spec of the locations service requires them:
// search_as_you_type adds the fields _2gram and _3gram.
const nameField = `"type":"text","fields":{` +
	`"autocomplete":{"type":"search_as_you_type","analyzer":"standard"},` +
	`"autocomplete_ascii":{"type":"search_as_you_type","analyzer":"lowercase_asciifolding"},` +
	`"raw":{"type":"keyword"}}`

// CityMapping returns the body of PUT /<index> for cities: one shard and no replica, since the data
// can be made again and copying it during a measurement would disturb that.
func CityMapping() []byte {
	return mapping(`,"regionId":{"type":"long"},"isFeatured":{"type":"boolean"},"timezone":{"type":"keyword"},` +
		`"population":{"type":"long"}`)
}

// RegionMapping returns the body of PUT /<index> for regions.
func RegionMapping() []byte { return mapping("") }

func mapping(more string) []byte {
	var b strings.Builder
	b.WriteString(`{"settings":{"index":{"number_of_shards":1,"number_of_replicas":0,"analysis":{"analyzer":{` +
		`"lowercase_asciifolding":{"type":"custom","tokenizer":"standard","filter":["lowercase","asciifolding"]}}}}},` +
		`"mappings":{"dynamic":"strict","properties":{` +
		`"id":{"type":"long"},"countryIso":{"type":"keyword"},"centroid":{"type":"geo_point"},` +
		`"geometry":{"type":"geo_shape"},` +
		`"name":{"properties":{"all":{` + nameField + `}`)
	for _, language := range Languages {
		b.WriteString(`,"` + language + `":{"copy_to":"name.all",` + nameField + `}`)
	}
	b.WriteString(`}}` + more + `}}}`)
	return []byte(b.String())
}

// definition is the body of PUT /<index>, with settings nested below "index".
type definition struct {
	Mappings json.RawMessage `json:"mappings"`
	Settings struct {
		Index map[string]json.RawMessage `json:"index"`
	} `json:"settings,omitzero"`
}

// readMapping reads a definition from any of the forms of mappings that Dump lists.
func readMapping(data []byte) (of definition, err error) {
	body, err := object(data)
	if err != nil {
		return of, err
	}
	for key, value := range body {
		switch key {
		case "mappings":
			of.Mappings, err = value, checkMappings(value)
		case "settings":
			err = of.set(value)
		case "aliases":
			// Package seed moves an alias, once everything is loaded.
		default:
			err = fmt.Errorf(`unknown key %.40q: expected {"mappings": …, "settings": …}`, key)
		}
		if err != nil {
			return of, err
		}
	}
	if of.Mappings == nil {
		return of, errors.New(`no "mappings" object`)
	}
	return of, nil
}

// readOnlySettings are the settings that Elasticsearch returns but does not accept.
var readOnlySettings = []string{"creation_date", "uuid", "version", "provided_name"}

// set sets settings, flat or nested below "index", without the read-only ones.
func (of *definition) set(settings json.RawMessage) error {
	var all, index map[string]json.RawMessage
	err := json.Unmarshal(settings, &all)
	if nested := all["index"]; err == nil && nested != nil {
		delete(all, "index")
		err = json.Unmarshal(nested, &index)
	}
	if err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	of.Settings.Index = map[string]json.RawMessage{}
	for _, level := range []map[string]json.RawMessage{all, index} {
		for key, value := range level {
			if key = strings.TrimPrefix(key, "index."); !slices.Contains(readOnlySettings, key) {
				of.Settings.Index[key] = value
			}
		}
	}
	return nil
}

// object returns the object that a file holds, or the only one in it, which GET /<index> returns as
// {"<concrete index>": {…}}, if that has mappings.
func object(data []byte) (body map[string]json.RawMessage, err error) {
	if err := json.Unmarshal(data, &body); err != nil {
		return nil, jsonMistake(data, err)
	}
	for _, inner := range body {
		var one map[string]json.RawMessage
		if len(body) == 1 && body["mappings"] == nil && body["settings"] == nil && json.Unmarshal(inner, &one) == nil && one["mappings"] != nil {
			return one, nil
		}
	}
	return body, nil
}

// checkMappings returns an error about what no Elasticsearch since 7 takes as mappings.
func checkMappings(mappings json.RawMessage) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(mappings, &all); err != nil || all == nil {
		return errors.New(`no "mappings" object`)
	}
	for name, inner := range all {
		var one map[string]json.RawMessage
		if name != "properties" && name != "_meta" && json.Unmarshal(inner, &one) == nil && one["properties"] != nil {
			return fmt.Errorf(`mapping type %.40q, which Elasticsearch 7 does not have: write its content as "mappings"`,
				name)
		}
	}
	return nil
}

// jsonMistake adds the line to a syntax error.
func jsonMistake(data []byte, err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) && int(syntax.Offset) <= len(data) {
		return fmt.Errorf("line %d: %w", 1+bytes.Count(data[:syntax.Offset], []byte("\n")), err)
	}
	return err
}
