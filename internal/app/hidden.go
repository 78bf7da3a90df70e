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

// hidden is what all output of a run masks.
type hidden struct {
	fromResponses map[string]bool // names of saved values that are secrets

	mu     sync.Mutex // guards the others
	values []string   // of the plan and the environment
	saved  []string   // from responses, the oldest first
	masker secret.Masker
}

// hide masks values in all later output.
func (h *hidden) hide(values ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.values = append(h.values, values...)
	h.masker = secret.New(slices.Concat(h.values, h.saved)...)
}

// hideAsked masks what is secret of an exchange: saved values, and cookies, which may be kept. A
// cookie of another kind, such as a language, is a word that other texts may have too.
func (h *hidden) hideAsked(a load.Asked) {
	var values []string
	for name, value := range a.Saved.Values {
		if h.fromResponses[name] {
			values = append(values, value)
		}
	}
	for _, cookie := range (&http.Response{Header: a.Response.Header()}).Cookies() {
		if secret.IsToken(cookie.Value) {
			values = append(values, cookie.Value)
		}
	}
	h.hideSaved(values)
}

func (h *hidden) hideSaved(values []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := len(h.saved)
	for _, value := range values {
		if !slices.Contains(h.saved, value) {
			h.saved = append(h.saved, value)
		}
	}
	if len(h.saved) == before {
		return
	}
	size := 0
	for i := len(h.saved) - 1; i >= 0; i-- {
		if size += len(h.saved[i]); size > maxSaved {
			h.saved = slices.Delete(h.saved, 0, i+1)
			break
		}
	}
	h.masker = secret.New(slices.Concat(h.values, h.saved)...)
}

func (h *hidden) mask() secret.Masker {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.masker
}
