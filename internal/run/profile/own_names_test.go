package profile

import (
	"strings"
	"testing"
)

// What a profile declares or saves as id or language is that, not the data set's.
func TestOwnIDAndLanguage(t *testing.T) {
	const begin = "contenders: [a]\nsteps: [1]\n"
	for name, text := range map[string]string{
		"variables": "variables: {id: {from: 1, to: 9}, language: {list: [cs]}}\nrequests: [{get: '/items/{id}?l={language}', json: {id: '{id:number}'}}]",
		"setup":     "setup: [{get: /list, save: {id: a, language: b}}]\nrequests: [{get: '/items/{id}?l={language}', header: {X: '{id}'}}]\nteardown: [{delete: '/{id}'}]",
		"session":   "sessions: [{name: s, requests: [{get: /list, save: {id: id, language: l}}, {get: '/items/{id}?l={language}', expect: {json: {id: '{id}'}}}]}]",
		"typed":     "sessions: [{name: s, requests: [{get: /list, save: {id: id}}, {get: '/items/{id:number}'}]}]",
		"row":       "variables: {id: {list: [a]}}\nrequests: [{get: '/items/{id}', expect: {contains: '{id}'}}]",
	} {
		p, err := Parse("p.yaml", []byte(begin+text+"\n"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if p.DrawsIDs() || p.UsesData() {
			t.Errorf("%s: the data set is used", name)
		}
		for _, r := range p.Every() {
			if r.IDs.Distribution != "" || r.Languages != nil {
				t.Errorf("%s: %+v", name, r)
			}
		}
	}
}

// A mistake with id or language is one mistake, and its remedy works.
func TestMistakesOfIDAndLanguage(t *testing.T) {
	const begin = "contenders: [a]\nsteps: [1]\n"
	for text, want := range map[string]string{
		"requests: [{get: '/items/{id}'}]":                                                        "`{id}` has no values",
		"requests: [{get: '/items/{id:number}'}]":                                                 "`{id}` has no values",
		"requests: [{get: '/items/{language}'}]":                                                  "`{language}` has no values: it needs the city data, and this profile has no store; write `variables: {language: ",
		"requests: [{get: '/items/{id.x}'}]":                                                      "`{id.x}`: no variable \"id\" here",
		"requests: [{post: /, body: '{id}'}]":                                                     "`{id}`: no variable \"id\" here",
		"sessions: [{name: s, requests: [{get: '/items/{id}'}, {get: /list, save: {id: id}}]}]":   "`{id}` has no value here: the request \"s: GET /list\" saves it; send that one before, in the same session",
		"sessions: [{name: s, requests: [{get: '/{cart}'}, {get: /list, save: {cart: id}}]}]":     "`{cart}` has no value here: the request \"s: GET /list\" saves it",
		"requests: [{get: '/{id}'}]\nsessions: [{name: s, requests: [{get: /, save: {id: id}}]}]": "`{id}` has no value here: the request \"s: GET /\" saves it",
		"variables: {id: {from: 1, to: 2}}\nrequests: [{get: '/{id}', ids: [1]}]":                 "keep one of the two",
		"variables: {id: {from: 1, to: 2}}\nrequests: [{get: '/', ids: [1]}]":                     "the path has no `{id}`",
	} {
		_, err := Parse("p.yaml", []byte(begin+text+"\n"))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Count(err.Error(), "\n") > 0 {
			t.Errorf("%s:\n%v, want only %s", text, err, want)
		}
	}
}

// With the data set, a request to the locations service has its ids and languages by default.
func TestIDAndLanguageOfData(t *testing.T) {
	p, err := Parse("p.yaml", []byte("contenders: [a]\nsteps: [1]\nrequests: [{get: '/city/v1/get?id={id}&language={language}'}]\n"))
	if err != nil || !p.DrawsIDs() || p.Requests[0].IDs.Distribution != uniform || len(p.Requests[0].Languages) != 5 {
		t.Errorf("%v: %+v", err, p.Requests)
	}
	p, err = Parse("p.yaml", []byte("contenders: [a]\nsteps: [1]\nrequests: [{get: '/x/{id}?l={language}', ids: [7], languages: [fr]}]\n"))
	if err != nil || p.DrawsIDs() || len(p.Requests[0].IDs.Fixed) != 1 || p.Requests[0].Languages[0] != "fr" {
		t.Errorf("%v: %+v", err, p.Requests)
	}
}
