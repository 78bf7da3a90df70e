package record

import (
	"reflect"
	"testing"

	"github.com/locbench/locbench/internal/bench"
)

// Bodies that were not looked at are counted by kind and request, with the first reason, in one
// thread and in the sum of several.
func TestUnread(t *testing.T) {
	var v Interval
	one, other := newCounters(false, 2, 0), newCounters(false, 2, 0)
	one.Record(&v, Exchange{Request: 1, Unread: bench.UnreadLong, Example: "first"})
	one.Record(&v, Exchange{Request: 1, Unread: bench.UnreadLong, Example: "second"})
	other.Record(&v, Exchange{Request: 1, Unread: bench.UnreadBroken, Kind: bench.ErrSave, Example: "no value"})
	other.Record(&v, Exchange{Request: 0, Unread: bench.UnreadLong, Example: "third"})
	sum := newBreakdown(2, 0)
	sum.Add(one.Breakdown)
	sum.Add(other.Breakdown)
	type counts = map[bench.ErrorKind]int64
	if want := (counts{bench.UnreadLong: 3, bench.UnreadBroken: 1}); !reflect.DeepEqual(sum.Unread, want) {
		t.Errorf("%v, want %v", sum.Unread, want)
	}
	for i, want := range []counts{{bench.UnreadLong: 1}, {bench.UnreadLong: 2, bench.UnreadBroken: 1}} {
		if got := sum.Requests[i].Unread; !reflect.DeepEqual(got, want) {
			t.Errorf("request %d: %v, want %v", i, got, want)
		}
	}
	if got := sum.Examples; got[bench.UnreadLong] != "first" || got[bench.ErrSave] != "no value" || got[bench.UnreadBroken] != "" {
		t.Errorf("%q", got)
	}
	all := sum.results([]string{"a", "b"})
	if all[1].Unread[bench.UnreadLong] != 2 || all[0].Examples[bench.UnreadLong] != "third" {
		t.Errorf("%+v", all)
	}
	r := Result{Totals: Totals{Breakdown: sum, Ended: newTally(false)}, names: []string{"a", "b"}}
	if l := r.Load(); l.UnreadTotal() != 4 || l.Failed != nil || l.Examples[bench.UnreadLong] != "first" {
		t.Errorf("%v, %v, %q", l.Unread, l.Failed, l.Examples)
	}
}
