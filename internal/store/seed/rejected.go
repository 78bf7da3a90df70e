package seed

import (
	"fmt"
	"strings"
)

// MaxRejected bounds the list of rejected documents.
const MaxRejected = 20

// Rejected is a document that Elasticsearch did not take.
type Rejected struct {
	Index  string // the version that it was meant for
	ID     string
	Status int
	Reason string // Elasticsearch's words, bounded
	Remedy string // what to do about it; "" where that is not known
}

// String is the line that a user reads.
func (r Rejected) String() string {
	return fmt.Sprintf("%s/%s: %s (%d)", r.Index, r.ID, r.Reason, r.Status)
}

// RejectedError says that documents were rejected, and that therefore nothing was changed.
type RejectedError struct {
	Total int64
	First []Rejected
	Tried int64 // documents, where the seeding ended before the set did; else 0
}

// Error lists the first documents, one a line.
func (e *RejectedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "documents rejected: %d", e.Total)
	if e.Tried > 0 {
		fmt.Fprintf(&b, " of the %d tried until then", e.Tried)
	}
	b.WriteString("; nothing was changed")
	for _, r := range e.First {
		b.WriteString("\n  " + r.String())
	}
	if more := e.Total - int64(len(e.First)); more > 0 {
		fmt.Fprintf(&b, "\n  and %d more", more)
	}
	if len(e.First) > 0 && e.First[0].Remedy != "" {
		b.WriteString("\n" + e.First[0].Remedy)
	}
	return b.String()
}
