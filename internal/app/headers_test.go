package app

import (
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/text/secret"
)

// A header is given again only where one request had it: others may have had another value.
func TestFillHeaders(t *testing.T) {
	for name, tt := range map[string]struct {
		headers []map[string]string // of the requests
		given   []string
		want    string // the first request's header Cookie
		wrong   string
	}{
		"one":            {[]map[string]string{{"Cookie": secret.Mask, "A": "b"}, nil}, []string{"cookie: x=1"}, "x=1", ""},
		"none":           {[]map[string]string{{"Cookie": secret.Mask}}, nil, "", "secret headers were not saved; give them again with --header 'NAME: VALUE': Cookie "},
		"two requests":   {[]map[string]string{{"Cookie": secret.Mask}, {"Cookie": secret.Mask}}, []string{"Cookie: x=1"}, "", `secret header Cookie of request "0" was not saved. Start a new run`},
		"another":        {[]map[string]string{{"Cookie": secret.Mask}}, []string{"A: b"}, "", "--header A: is on record; omit it"},
		"nothing masked": {[]map[string]string{{"Cookie": "x=${COOKIE}"}}, nil, "x=${COOKIE}", ""},
		"braces":         {[]map[string]string{{"Cookie": secret.Mask}}, []string{"Cookie: x={a}"}, "x={{a}}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var p bench.Profile
			for i, h := range tt.headers {
				p.Requests = append(p.Requests, bench.Request{Name: string('0' + rune(i)), Header: h})
			}
			err := fillHeaders(&p, profile.One{Headers: tt.given})
			if tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong)) || tt.wrong == "" && (err != nil || p.Requests[0].Header["Cookie"] != tt.want) {
				t.Errorf("%v, %q", err, p.Requests[0].Header)
			}
		})
	}
}
