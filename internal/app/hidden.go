package app

import (
	"slices"
	"sync"

	"locbench/internal/text/secret"
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

// hideSaved masks saved values that are secrets.
func (h *hidden) hideSaved(values map[string]string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := len(h.saved)
	for name, value := range values {
		if h.fromResponses[name] && !slices.Contains(h.saved, value) {
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
