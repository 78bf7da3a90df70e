package profile

import (
	"testing"

	"github.com/locbench/locbench/internal/testenv"
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
		testenv.Check(t, !p.DrawsIDs(), "%s: the data set is used", name)
		for _, r := range p.Every() {
			testenv.Check(t, r.IDs.Distribution == "" && r.Languages == nil, "%s: %+v", name, r)
		}
	}
}
