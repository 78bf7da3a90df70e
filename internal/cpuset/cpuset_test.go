package cpuset

import (
	"slices"
	"strings"
	"testing"

	"locbench/internal/bench"
)

func seq(n int) (cpus []int) {
	for i := range n {
		cpus = append(cpus, i)
	}
	return cpus
}

func TestPlan(t *testing.T) {
	const embedded, external, container, none = bench.StoreEmbedded, bench.StoreExternal, bench.StoreContainer, bench.StoreNone
	for _, tt := range []struct {
		cpus                     int
		quota                    float64
		set                      int
		store                    bench.StoreKind
		contender, stored, clent string // "" and text: shared
		text                     string
	}{
		{2, 1.5, 0, embedded, "", "", "", "contender and client (with the embedded store) share CPUs 0-1: beside 2 for the contender, 2 would be wanted for all else"},
		{2, 1, 0, embedded, "1", "", "0", "contender on CPU 1, client (with the embedded store) on CPU 0"},
		{2, 0.5, 0, none, "1", "", "0", "contender on CPU 1, client on CPU 0"},
		{2, 0.5, 0, container, "", "", "", "contender, store and client share CPUs 0-1: beside 1 for the contender, 2 would be wanted"},
		{2, 0.5, 0, external, "", "", "", "contender, the store if it is on this machine, and client share CPUs 0-1: with fewer than 4 CPUs the store would disturb one side more"},
		{1, 0.5, 0, embedded, "", "", "", "contender and client (with the embedded store) share CPU 0: beside 1 for the contender, 1 would be wanted"},
		{3, 1, 0, none, "2", "", "0-1", "contender on CPU 2, client on CPUs 0-1"},
		{3, 1, 0, container, "2", "1", "0", ""},
		{3, 1.5, 0, embedded, "", "", "", "beside 2 for the contender, 2 would be wanted"},
		{4, 1.5, 0, embedded, "2-3", "", "0-1", "contender on CPUs 2-3, client (with the embedded store) on CPUs 0-1"},
		{4, 1.5, 0, container, "2-3", "1", "0", "contender on CPUs 2-3, store on CPU 1, client on CPU 0"},
		{4, 1.5, 0, external, "2-3", "", "0-1", "; the external store, if it is on this machine, is kept to none"},
		{4, 0.2, 0, container, "3", "2", "0-1", "contender on CPU 3, store on CPU 2, client on CPUs 0-1"},
		{4, 2.5, 0, embedded, "", "", "", "share CPUs 0-3: beside 3 for the contender, 2 would be wanted for all else"},
		{4, 1.5, 4, external, "", "", "", "beside 4 for the contender, 2 would be wanted for all else"}, // profile locations
		{4, 0, 0, embedded, "", "", "", "share CPUs 0-3: the contender has no limit of CPUs"},
		{4, 0, 2, none, "2-3", "", "0-1", "contender on CPUs 2-3"},
		{8, 1.5, 4, container, "4-7", "3", "0-2", ""},
		{8, 1.5, 0, container, "6-7", "4-5", "0-3", ""},
		{8, 3.7, 0, embedded, "4-7", "", "0-3", ""},
		{8, 5, 0, none, "3-7", "", "0-2", ""},
		{8, 6, 0, none, "", "", "", "beside 6 for the contender, 3 would be wanted for all else"},
		{16, 1.5, 0, container, "14-15", "10-13", "0-9", ""},
		{16, 7.25, 0, container, "8-15", "6-7", "0-5", ""},
		{16, 10.5, 0, container, "", "", "", "beside 11 for the contender, 7 would be wanted"},
		{64, 1.5, 4, container, "60-63", "40-59", "0-39", ""},
		{64, 32, 0, container, "32-63", "22-31", "0-21", ""},
		{64, 41.5, 0, embedded, "22-63", "", "0-21", ""},
		{64, 64, 0, embedded, "", "", "", "beside 64"},
	} {
		i := Plan(Request{CPUs: seq(tt.cpus), Limits: bench.Limits{CPUs: tt.quota, CPUSet: tt.set}, Store: tt.store})
		if i.Contender != tt.contender || i.Store != tt.stored || i.Client != tt.clent || i.Separate != (tt.contender != "") || !strings.Contains(i.Text, tt.text) {
			t.Errorf("%d CPUs, quota %g, set %d, %s: %+v", tt.cpus, tt.quota, tt.set, tt.store, i)
		}
		var all []int
		for _, list := range []string{i.Contender, i.Store, i.Client} {
			cpus, ok := Parse(list)
			if !ok {
				t.Errorf("%q cannot be read back", list)
			}
			all = append(all, cpus...)
		}
		slices.Sort(all)
		if i.Separate && !slices.Equal(all, seq(tt.cpus)) {
			t.Errorf("%d CPUs: %+v overlap or leave some unused", tt.cpus, i)
		}
	}
	for _, r := range []Request{{Off: true}, {Cannot: "the engine is elsewhere"}} {
		r.CPUs, r.Limits, r.Store = seq(16), bench.Limits{CPUs: 1}, none
		if i := Plan(r); i.Separate || !strings.HasPrefix(i.Text, "contender and client share CPUs 0-15: ") {
			t.Errorf("%+v", i)
		}
	}
}

// TestCoresAreNotTornApart: on many machines CPU n and n+half are of one core.
func TestCoresAreNotTornApart(t *testing.T) {
	siblings := func(cpu int) string { return List([]int{cpu % 4, cpu%4 + 4}) }
	cpus := Order(seq(8), siblings)
	if !slices.Equal(cpus, []int{0, 4, 1, 5, 2, 6, 3, 7}) {
		t.Fatal(cpus)
	}
	i := Plan(Request{CPUs: cpus, Limits: bench.Limits{CPUs: 2}, Store: bench.StoreContainer})
	if i.Contender != "3,7" || i.Store != "2,6" || i.Client != "0-1,4-5" {
		t.Errorf("%+v", i)
	}
	if cpus := Order([]int{3, 1, 2}, func(int) string { return "nonsense" }); !slices.Equal(cpus, []int{1, 2, 3}) {
		t.Error(cpus)
	}
}

func TestLists(t *testing.T) {
	for list, want := range map[string][]int{"": nil, "0": {0}, "0-3": seq(4), "1,5": {1, 5}, "0-1,4-5\n": {0, 1, 4, 5}, "2-3,0,3": {0, 2, 3}} {
		t.Run(list, func(t *testing.T) {
			if got, ok := Parse(list); !ok || !slices.Equal(got, want) {
				t.Errorf("%q: %v, %v", list, got, ok)
			}
		})
	}
	for _, list := range []string{"x", "3-1", "-1", "1-", "0-99999999", "1,,2", "0 1"} {
		if got, ok := Parse(list); ok {
			t.Errorf("%q: %v", list, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "0-3", "1,5", "0-1,4-5", "7-", "99999999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, list string) {
		cpus, ok := Parse(list)
		if !ok {
			return
		}
		again, ok := Parse(List(cpus))
		if !ok || !slices.Equal(again, cpus) {
			t.Errorf("%q is %v, written %q, read %v", list, cpus, List(cpus), again)
		}
	})
}
