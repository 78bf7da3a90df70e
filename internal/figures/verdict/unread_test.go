package verdict

import (
	"testing"

	"github.com/locbench/locbench/internal/bench"
)

type counts = map[bench.ErrorKind]int64

func TestNotLookedAt(t *testing.T) {
	examples := map[bench.ErrorKind]string{
		bench.UnreadLong: "longer than 1 MiB", bench.UnreadBroken: "br body could not be unpacked: it is broken",
		bench.UnreadEncoding: `encoding "x" is not gzip, deflate, br or zstd`,
	}
	for _, test := range []struct {
		name string
		load bench.Load
		want string
	}{
		{"none", bench.Load{Checked: 300}, ""},
		{"few", bench.Load{Checked: 91, Unread: counts{bench.UnreadLong: 9}}, ""},
		{"a tenth", bench.Load{Checked: 90, Unread: counts{bench.UnreadLong: 10}},
			"10 of 100 bodies to compare were not looked at, and are neither right nor wrong: longer than 1 MiB"},
		{"all", bench.Load{Unread: counts{bench.UnreadEncoding: 1200}},
			`1,200 of 1,200 bodies to compare were not looked at, and are neither right nor wrong: encoding "x" is not gzip, deflate, br or zstd`},
		{"one broken of many", bench.Load{Checked: 300, Unread: counts{bench.UnreadBroken: 1}},
			"1 of 301 bodies to compare were not looked at, and are neither right nor wrong: br body could not be unpacked: it is broken. " +
				"Clients cannot read a broken body either: fix the contender"},
		{"two reasons", bench.Load{Unread: counts{bench.UnreadLong: 3, bench.UnreadBroken: 4}},
			"7 of 7 bodies to compare were not looked at, and are neither right nor wrong: " +
				"4 × br body could not be unpacked: it is broken, 3 × longer than 1 MiB. Clients cannot read a broken body either: fix the contender"},
		{"one kind of request", bench.Load{Checked: 990, Unread: counts{bench.UnreadLong: 10}, Requests: []bench.RequestLoad{
			{Name: "get", Checked: 990}, {Name: "list", Unread: counts{bench.UnreadLong: 10}, Examples: examples}}},
			`"list": 10 of 10 bodies to compare were not looked at, and are neither right nor wrong: longer than 1 MiB`},
		{"three kinds of requests", bench.Load{Requests: []bench.RequestLoad{
			{Name: "a", Checked: 5, Unread: counts{bench.UnreadLong: 5}, Examples: examples},
			{Name: "b", Unread: counts{bench.UnreadLong: 5}}, {Name: "c", Checked: 99, Unread: counts{bench.UnreadLong: 1}},
			{Name: "d", Unread: counts{bench.UnreadLong: 6}, Examples: examples}}},
			`"d": 6 of 6 bodies to compare were not looked at, and are neither right nor wrong: longer than 1 MiB (and 2 other kinds of requests)`},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.load.Examples = examples
			got := Loop{}.Warnings(test.load)
			if got.Has(bench.WarnNotLookedAt) != (test.want != "") || got.Join("|") != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
