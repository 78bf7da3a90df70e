// Package cpuset parts the CPUs of a machine between a contender, its store and the client, writes
// sets of CPUs as the kernel does, and keeps the threads of this process to a set.
//
// How a container or another process is kept to its set is left to packages docker and launch.
package cpuset

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"locbench/internal/bench"
)

// A machine of fewer CPUs than small has none to give away: it is parted only if the contender
// leaves at least as many as it gets, and if nothing of the run is outside the sets.
const small = 4

// Request says what is to be parted.
type Request struct {
	CPUs   []int // that there are, neighbours of one core side by side (Order)
	Limits bench.Limits
	Store  bench.StoreKind
	Off    bool // the profile wants no parting
	// Cannot says why it is not possible at all: another machine's engine, a system without
	// affinity; "" where it is.
	Cannot string
}

// Plan parts the CPUs: the contender gets as many as its quota can fill, or its CPU set if it has
// one; a store in a container some of the rest; the client, and a store inside it, what is left,
// which is half as many as the contender's at least. Where there are too few, or the contender has
// no limit, nothing is parted, and Text says what is shared.
func Plan(r Request) bench.Isolation {
	contender, store, client, why := shares(r)
	if why != "" {
		return bench.Isolation{Text: sharing(r) + ": " + why}
	}
	c, s := r.CPUs[:client], r.CPUs[client:client+store]
	i := bench.Isolation{Separate: true, Client: List(c), Store: List(s), Contender: List(r.CPUs[len(r.CPUs)-contender:])}
	i.Text = "contender on " + named(i.Contender)
	if store > 0 {
		i.Text += ", store on " + named(i.Store)
	}
	i.Text += ", client " + inClient(r.Store) + "on " + named(i.Client)
	if r.Store.Traits().ByURL {
		i.Text += "; the external store, if it is on this machine, is kept to none"
	}
	return i
}

func shares(r Request) (contender, store, client int, why string) {
	contender = int(math.Ceil(r.Limits.CPUs))
	if r.Limits.CPUSet > 0 {
		contender = r.Limits.CPUSet
	}
	n := len(r.CPUs)
	switch {
	case r.Off:
		return 0, 0, 0, "isolation is off"
	case r.Cannot != "":
		return 0, 0, 0, r.Cannot
	case contender == 0:
		return 0, 0, 0, "the contender has no limit of CPUs"
	}
	least := 0
	if r.Store.Traits().Container {
		least = 1
	}
	rest, need := n-contender, (contender+1)/2+least
	if n < small {
		if r.Store.Traits().ByURL {
			return 0, 0, 0, fmt.Sprintf("with fewer than %d CPUs the store would disturb one side more than the other", small)
		}
		need = contender + least
	}
	if rest < need {
		return 0, 0, 0, fmt.Sprintf("beside %d for the contender, %d would be wanted for all else", contender, need)
	}
	if least > 0 {
		store = max(least, min(rest/3, rest-(contender+1)/2))
	}
	return contender, store, rest - store, ""
}

// sharing says what runs on the same CPUs.
func sharing(r Request) string {
	who := "contender"
	switch t := r.Store.Traits(); {
	case t.Container:
		who += ", store"
	case t.ByURL:
		who += ", the store if it is on this machine,"
	}
	return who + " and client " + inClient(r.Store) + "share " + named(List(r.CPUs))
}

func inClient(kind bench.StoreKind) string {
	if kind.Traits().InClient {
		return "(with the embedded store) "
	}
	return ""
}

func named(list string) string {
	switch {
	case list == "":
		return "all CPUs"
	case strings.ContainsAny(list, ",-"):
		return "CPUs " + list
	}
	return "CPU " + list
}

// List writes a set as the kernel does: "0-3", "1,5"; "" for none.
func List(cpus []int) string {
	cpus = slices.Compact(slices.Sorted(slices.Values(cpus)))
	var parts []string
	for i := 0; i < len(cpus); {
		j := i
		for j+1 < len(cpus) && cpus[j+1] == cpus[j]+1 {
			j++
		}
		part := strconv.Itoa(cpus[i])
		if j > i {
			part += "-" + strconv.Itoa(cpus[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ",")
}

// maxCPU bounds the numbers that Parse takes; the kernel's own bound is 8192.
const maxCPU = 1 << 14

// Parse reads what List writes. ok is false for anything else; the empty text is the empty set.
func Parse(list string) (cpus []int, ok bool) {
	list = strings.TrimSpace(list)
	if list == "" {
		return nil, true
	}
	for part := range strings.SplitSeq(list, ",") {
		first, last, ranged := strings.Cut(part, "-")
		a, err := strconv.Atoi(first)
		b := a
		if ranged && err == nil {
			b, err = strconv.Atoi(last)
		}
		if err != nil || a < 0 || b < a || b >= maxCPU {
			return nil, false
		}
		for n := a; n <= b; n++ {
			cpus = append(cpus, n)
		}
	}
	slices.Sort(cpus)
	return slices.Compact(cpus), true
}

// Order puts the CPUs of one core side by side, so that a cut leaves at most one core on both of
// its sides. siblings tells the CPUs of a CPU's core as List writes them; "" where that is not
// known.
func Order(cpus []int, siblings func(cpu int) string) []int {
	first := map[int]int{}
	for _, cpu := range cpus {
		first[cpu] = cpu
		if core, ok := Parse(siblings(cpu)); ok && len(core) > 0 {
			first[cpu] = core[0]
		}
	}
	cpus = slices.Clone(cpus)
	slices.SortFunc(cpus, func(a, b int) int { return cmp.Or(first[a]-first[b], a-b) })
	return cpus
}
