package seed

import (
	"fmt"

	"github.com/olivere/elastic/v7"
)

// reasons joins the reasons of an error down to the root.
func reasons(e *elastic.ErrorDetails) string {
	if e == nil {
		return "no reason given"
	}
	s := e.Type + ": " + e.Reason
	for cause, depth := e.CausedBy, 0; cause != nil && depth < 5; depth++ {
		if reason, ok := cause["reason"].(string); ok {
			s += ": " + reason
		}
		cause, _ = cause["caused_by"].(map[string]any)
	}
	return s
}

// answerError is an answer that makes no sense; trying again would not help.
type answerError struct{ err error }

func (e *answerError) Error() string { return "answer of _bulk: " + e.err.Error() }
func (e *answerError) Unwrap() error { return e.err }

// outcomes are what has become of the documents of a bulk request, in their order.
func outcomes(answer *elastic.BulkResponse, docs int) ([]*elastic.BulkResponseItem, error) {
	items := make([]*elastic.BulkResponseItem, 0, docs)
	for i, actions := range answer.Items {
		for _, it := range actions {
			if it == nil || it.Status < 200 || it.Status > 599 {
				return nil, &answerError{fmt.Errorf("item %d has no status", i)}
			}
			items = append(items, it)
		}
	}
	if len(answer.Items) != docs || len(items) != docs {
		return nil, &answerError{fmt.Errorf("%d items for %d documents", len(items), docs)}
	}
	return items, nil
}
