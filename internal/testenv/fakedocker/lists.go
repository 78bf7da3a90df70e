package fakedocker

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

type event struct {
	Type   string
	Action string
	Actor  struct {
		ID         string
		Attributes map[string]string
	}
	TimeNano int64 `json:"timeNano"`
}

// list returns the others of a kind that have the labels of the request.
func (e *Engine) list(kind string, r *http.Request) []map[string]any {
	var filters map[string]map[string]bool
	_ = json.Unmarshal([]byte(r.URL.Query().Get("filters")), &filters)
	all := []map[string]any{}
	for _, t := range e.Others {
		fits := t.Kind == kind
		for label := range filters["label"] {
			name, value, exact := strings.Cut(label, "=")
			has, ok := t.Labels[name]
			fits = fits && ok && (!exact || has == value)
		}
		if !fits {
			continue
		}
		names := []string{"/" + t.Name}
		if t.Name == "" {
			names = nil
		}
		all = append(all, map[string]any{"Id": t.Name, "Name": t.Name, "Names": names, "Labels": t.Labels})
	}
	return all
}

// eventsFor returns a function that writes the events of a request, each once, until the request's
// end.
func (e *Engine) eventsFor(r *http.Request) func(io.Writer) bool {
	query := r.URL.Query()
	var filters map[string]map[string]bool
	_ = json.Unmarshal([]byte(query.Get("filters")), &filters)
	since, until := moment(query.Get("since")), moment(query.Get("until"))
	written := 0
	return func(w io.Writer) bool {
		for ; written < len(e.past); written++ {
			one := e.past[written]
			selected := one.TimeNano >= since.UnixNano() && (until.IsZero() || one.TimeNano <= until.UnixNano())
			about := map[string]string{"type": one.Type, "event": one.Action, "container": one.Actor.ID}
			for key, value := range about {
				selected = selected && (len(filters[key]) == 0 || filters[key][value])
			}
			if selected {
				_ = json.NewEncoder(w).Encode(one)
			}
		}
		return until.IsZero() || e.now().Before(until)
	}
}

// stream returns a growing response: it calls write with the lock held, at once, at every change
// and at the request's end, until it returns false. It breaks when the engine goes away.
func (e *Engine) stream(r *http.Request, write func(io.Writer) bool) *http.Response {
	body, out := io.Pipe()
	var until <-chan time.Time
	if end := moment(r.URL.Query().Get("until")); !end.IsZero() {
		until = time.After(end.Sub(e.now()))
	}
	go func() {
		for {
			var b bytes.Buffer
			e.mu.Lock()
			more, away, changed := write(&b), e.Away, e.changed
			e.mu.Unlock()
			if away {
				out.CloseWithError(io.ErrUnexpectedEOF)
				return
			}
			if b.Len() == 0 {
				// A reader would take nothing for the end.
			} else if _, err := out.Write(b.Bytes()); err != nil {
				return
			}
			if !more {
				out.Close()
				return
			}
			select {
			case <-changed:
			case <-until:
			case <-r.Context().Done():
				out.CloseWithError(r.Context().Err())
				return
			}
		}
	}()
	resp := e.response(200, nil)
	resp.Body = body
	return resp
}

func moment(text string) time.Time {
	seconds, nanos, _ := strings.Cut(text, ".")
	s, err := strconv.ParseInt(seconds, 10, 64)
	n, _ := strconv.ParseInt(nanos, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(s, n)
}
