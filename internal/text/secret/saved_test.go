package secret

import (
	"maps"
	"slices"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// What is saved from a place of secrets, or used in one, is a secret under any name.
func TestSaved(t *testing.T) {
	save := func(name, from, of string) bench.Request {
		return bench.Request{Save: []bench.Save{{Name: name, From: bench.Source(from), Of: of}}}
	}
	for name, tt := range map[string]struct {
		save, use bench.Request
		secret    bool
	}{
		"of a cookie":              {save: save("x", "cookie", "lang"), secret: true},
		"of Set-Cookie":            {save: save("x", "header", "Set-Cookie"), secret: true},
		"of a secret header":       {save: save("x", "header", "X-Auth-Token"), secret: true},
		"of another header":        {save: save("x", "header", "Location")},
		"of a secret key":          {save: save("sid", "json", "data.access_token"), secret: true},
		"of another key":           {save: save("x", "json", "data.id")},
		"under a secret name":      {save: save("csrf_token", "regex", "x"), secret: true},
		"used in Authorization":    {save: save("x", "json", "id"), use: bench.Request{Header: map[string]string{"Authorization": "Bearer {x}"}}, secret: true},
		"used in Cookie":           {save: save("x", "json", "id"), use: bench.Request{Header: map[string]string{"Cookie": "a=b; c={x}"}}, secret: true},
		"used after Bearer":        {save: save("x", "json", "id"), use: bench.Request{Header: map[string]string{"X-H": "Bearer {x}"}}, secret: true},
		"used in a query":          {save: save("x", "json", "id"), use: bench.Request{Path: "/a?id=3&access_token={x}"}, secret: true},
		"used in another query":    {save: save("x", "json", "id"), use: bench.Request{Path: "/a?token=3&id={x}"}},
		"used in JSON":             {save: save("x", "json", "id"), use: bench.Request{Body: `{"a":"{id}","password":"{x:json}"}`}, secret: true},
		"used elsewhere in JSON":   {save: save("x", "json", "id"), use: bench.Request{Body: `{"a":"{x}","password":"{y}"}`}},
		"another one in a cookie":  {save: save("x", "json", "id"), use: bench.Request{Header: map[string]string{"Cookie": "c={y}"}}},
		"used in a form":           {save: save("x", "json", "id"), use: bench.Request{Body: "token={x}&a=1"}, secret: true},
		"used in a secret field":   {save: save("x", "json", "id"), use: bench.Request{Multipart: []bench.Field{{Name: "password", Value: "{x}"}}}, secret: true},
		"used in another field":    {save: save("x", "json", "id"), use: bench.Request{Multipart: []bench.Field{{Name: "title", Value: "{x}"}}}},
		"used in a path and plain": {save: save("x", "json", "id"), use: bench.Request{Path: "/token/{x}"}},
	} {
		got := slices.Collect(maps.Keys(Saved([]bench.Request{tt.save, tt.use})))
		testenv.Equal(t, len(got) == 1, tt.secret, name, got)
	}
}
