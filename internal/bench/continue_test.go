package bench

import (
	"reflect"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

// Each request of a step that continues counts once: what ended in an earlier part is of its lead-in.
func TestLoad_Continue(t *testing.T) {
	part := func() Load {
		return Load{Elapsed: 4 * time.Second, LeadIn: time.Second, FirstResponse: 7, Scheduled: 40, Sent: 39, Succeeded: 20, Lead: 5, Drain: 3, Cut: 2,
			Rejected: Statuses{429: 4}, Statuses: Statuses{200: 28, 429: 4, 500: 5}, Failed: map[ErrorKind]int64{ErrReset: 5}, Checked: 6,
			Unread: map[ErrorKind]int64{ErrWrong: 1}, Reconnects: 1, SentAgain: 2, Examples: map[ErrorKind]string{ErrReset: "first"},
			Requests: []RequestLoad{{Name: "a", Succeeded: 20, Checked: 6, Failed: map[ErrorKind]int64{ErrReset: 5}, Statuses: Statuses{200: 28}}}}
	}
	l := part()
	l.FirstResponse, l.Examples = 9, map[ErrorKind]string{ErrReset: "later"}
	l.Continue(part())
	want := Load{Elapsed: 4 * time.Second, LeadIn: 6 * time.Second, FirstResponse: 7, Scheduled: 80, Sent: 78, Succeeded: 20, Lead: 33, Drain: 3, Cut: 4,
		Rejected: Statuses{429: 8}, Statuses: Statuses{200: 56, 429: 8, 500: 10}, Failed: map[ErrorKind]int64{ErrReset: 10}, Checked: 12,
		Unread: map[ErrorKind]int64{ErrWrong: 2}, Reconnects: 2, SentAgain: 4, Examples: map[ErrorKind]string{ErrReset: "first"},
		Requests: []RequestLoad{{Name: "a", Succeeded: 20, Checked: 12, Failed: map[ErrorKind]int64{ErrReset: 10}, Statuses: Statuses{200: 56}}}}
	testenv.Check(t, reflect.DeepEqual(l, want), "%+v\nwant %+v", l, want)
	testenv.Equal(t, l.Succeeded+l.Lead+l.Drain+l.Rejected.Total()+l.FailedTotal()+l.Cut, l.Sent)
}
