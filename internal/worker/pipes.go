package worker

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"sync"
)

// firstLine takes the announcement from a worker's standard output, whose rest is of no interest.
type firstLine struct {
	there chan struct{} // closed when the folder is known

	mu   sync.Mutex
	line []byte
	full bool
	name string
}

func (l *firstLine) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.full {
		return len(p), nil
	}
	line, _, ended := bytes.Cut(p, []byte{'\n'})
	l.line = append(l.line, line[:min(len(line), controlLine)]...)
	if l.full = ended || len(l.line) >= controlLine; l.full {
		var a announcement
		if json.Unmarshal(l.line, &a) == nil && a.Dir != "" {
			l.name = a.Dir
			close(l.there)
		}
	}
	return len(p), nil
}

func (l *firstLine) set(dir string) {
	l.name, l.full = dir, true
	close(l.there)
}

func (l *firstLine) dir() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.name
}

// lastBytes keeps the end of what is written to it.
type lastBytes struct {
	mu  sync.Mutex
	b   []byte
	cut bool
}

func (t *lastBytes) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p[max(0, len(p)-sessionTalk):]...)
	if len(t.b) > sessionTalk || len(p) > sessionTalk {
		t.b, t.cut = slices.Clone(t.b[max(0, len(t.b)-sessionTalk):]), true
	}
	return len(p), nil
}

// String is what is kept, from the beginning of a line.
func (t *lastBytes) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := string(t.b)
	if t.cut {
		if _, rest, ok := strings.Cut(text, "\n"); ok {
			text = rest
		}
		text = "…\n" + text
	}
	return text
}
