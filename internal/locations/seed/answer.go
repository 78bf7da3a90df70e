package seed

import (
	"errors"
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

// errAnswer is an answer that makes no sense; trying again would not help.
var errAnswer = errors.New("answer of _bulk")

// outcomes are what has become of the documents of a bulk request, in their order.
func outcomes(answer *elastic.BulkResponse, docs int) ([]*elastic.BulkResponseItem, error) {
	items := make([]*elastic.BulkResponseItem, 0, docs)
	for i, actions := range answer.Items {
		for _, it := range actions {
			if it == nil || it.Status < 200 || it.Status > 599 {
				return nil, fmt.Errorf("%w: item %d has no status", errAnswer, i)
			}
			items = append(items, it)
		}
	}
	if len(answer.Items) != docs || len(items) != docs {
		return nil, fmt.Errorf("%w: %d items for %d documents", errAnswer, len(items), docs)
	}
	return items, nil
}
