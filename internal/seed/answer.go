package seed

import (
	"encoding/json"
	"errors"
	"fmt"
)

// item is the outcome of one document of a bulk request.
type item struct {
	Status int        `json:"status"`
	Error  *itemError `json:"error"`
}

type itemError struct {
	Type     string     `json:"type"`
	Reason   string     `json:"reason"`
	CausedBy *itemError `json:"caused_by"`
}

// String joins the reasons down to the root.
func (e *itemError) String() string {
	if e == nil {
		return "no reason given"
	}
	s := e.Type + ": " + e.Reason
	for cause, depth := e.CausedBy, 0; cause != nil && depth < 5; cause, depth = cause.CausedBy, depth+1 {
		s += ": " + cause.Reason
	}
	return s
}

// answerError is an answer that makes no sense; trying again would not help.
type answerError struct{ err error }

func (e *answerError) Error() string { return "answer of _bulk: " + e.err.Error() }
func (e *answerError) Unwrap() error { return e.err }

// parseAnswer reads the answer of _bulk. Without errors items is nil, and what they say is not even decoded.
func parseAnswer(body []byte) (items []item, err error) {
	var answer struct {
		Errors *bool           `json:"errors"`
		Items  json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, &answerError{err}
	}
	if answer.Errors == nil {
		return nil, &answerError{errors.New(`"errors" is missing`)}
	}
	if !*answer.Errors {
		return nil, nil
	}
	var wrapped []map[string]item
	if err := json.Unmarshal(answer.Items, &wrapped); err != nil {
		return nil, &answerError{err}
	}
	items = make([]item, 0, len(wrapped))
	for i, w := range wrapped {
		if len(w) != 1 {
			return nil, &answerError{fmt.Errorf("item %d has %d actions", i, len(w))}
		}
		for _, it := range w {
			if it.Status < 200 || it.Status > 599 {
				return nil, &answerError{fmt.Errorf("item %d has status %d", i, it.Status)}
			}
			items = append(items, it)
		}
	}
	return items, nil
}
