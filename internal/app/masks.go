package app

import (
	"net/http"
	"slices"
	"sync"

	"github.com/locbench/locbench/internal/load"
	"github.com/locbench/locbench/internal/text/secret"
)

// maxSaved is how many bytes of saved secrets are known at a time: each trial saves others.
const maxSaved = 256 << 10

// masks are what all output of a run masks.
type masks struct {
	fromResponses map[string]bool // names of saved values that are secrets

	mu     sync.Mutex // guards the others
	values []string   // of the plan and the environment
	saved  []string   // from responses, the oldest first
	masker secret.Masker
}

// hide masks values in all later output.
func (m *masks) hide(values ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values = append(m.values, values...)
	m.masker = secret.New(slices.Concat(m.values, m.saved)...)
}

// hideAsked masks what is secret of an exchange: saved values, and cookies, which may be kept. A
// cookie of another kind, such as a language, is a word that other texts may have too.
func (m *masks) hideAsked(a load.Asked) {
	var values []string
	for name, value := range a.Saved.Values {
		if m.fromResponses[name] {
			values = append(values, value)
		}
	}
	for _, cookie := range (&http.Response{Header: a.Response.Header()}).Cookies() {
		if secret.IsToken(cookie.Value) {
			values = append(values, cookie.Value)
		}
	}
	m.hideSaved(values)
}

func (m *masks) hideSaved(values []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := len(m.saved)
	for _, value := range values {
		if !slices.Contains(m.saved, value) {
			m.saved = append(m.saved, value)
		}
	}
	if len(m.saved) == before {
		return
	}
	size := 0
	for i := len(m.saved) - 1; i >= 0; i-- {
		if size += len(m.saved[i]); size > maxSaved {
			m.saved = slices.Delete(m.saved, 0, i+1)
			break
		}
	}
	m.masker = secret.New(slices.Concat(m.values, m.saved)...)
}

func (m *masks) mask() secret.Masker {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.masker
}
