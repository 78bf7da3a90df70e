package cpuset

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// TestCoresAreNotTornApart: on many machines CPU n and n+half are of one core.
func TestCoresAreNotTornApart(t *testing.T) {
	siblings := func(cpu int) Set { return Of(cpu%4+4, cpu%4) }
	testenv.Equal(t, Order(UpTo(8), siblings), []int{0, 4, 1, 5, 2, 6, 3, 7})
	testenv.Equal(t, Order(Of(3, 1, 2), func(int) Set { return nil }), []int{1, 2, 3})
}

func TestSet(t *testing.T) {
	for list, want := range map[string]Set{"": nil, "0": {0}, "0-3": UpTo(4), "1,5": Of(5, 1, 5), "0-1,4-5": {0, 1, 4, 5}, "16383": {maxCPU - 1}} {
		t.Run(list, func(t *testing.T) {
			got, err := Parse(list)
			testenv.Check(t, err == nil && slices.Equal(got, want) && got.String() == list, "%q: %v, %v", list, got, err)
		})
	}
	for _, list := range []string{"x", "16384", "3-1", "-1", "1-", "0-99999999", "1,,2", "0 1", "2-3,0", "1,1", "0-2,2-3", "0-1\n"} {
		got, err := Parse(list)
		testenv.Check(t, err != nil && strings.Contains(err.Error(), "is not a set of CPUs"), "%q: %v, %v", list, got, err)
	}
	for n, want := range map[int]string{-1: "", 0: "", 1: "1", 3: "1,4-5", 9: "1,4-5,7"} {
		testenv.Equal(t, Of(7, 1, 5, 4).First(n).String(), want, n)
	}
}

func TestSet_JSON(t *testing.T) {
	type record struct {
		CPUs Set `json:"cpus,omitempty"`
	}
	for text, want := range map[string]record{`{"cpus":"0-3,5"}`: {Of(5, 0, 1, 2, 3)}, `{}`: {}} {
		data, err := json.Marshal(want)
		var got record
		testenv.Check(t, err == nil && string(data) == text && json.Unmarshal(data, &got) == nil && slices.Equal(got.CPUs, want.CPUs),
			"%s: %s, %v, %v", text, data, err, got)
	}
	testenv.Check(t, json.Unmarshal([]byte(`{"cpus":"all"}`), new(record)) != nil, "read")
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "0-3", "1,5", "0-1,4-5", "7-", "99999999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, list string) {
		cpus, err := Parse(list)
		if err != nil {
			return
		}
		again, err := Parse(cpus.String())
		testenv.Check(t, err == nil && slices.Equal(again, cpus),
			"%q is %v, written %q, read %v", list, cpus, cpus, again)
	})
}
