// Package cpuset parses and formats sets of CPUs as the kernel does, and restricts threads of this
// process to a set.
package cpuset

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Set is a sorted set of CPU numbers. As text and in JSON it is "0-3,5".
type Set []int

// Of returns the set of these CPUs.
func Of(cpus ...int) Set { return slices.Compact(slices.Sorted(slices.Values(cpus))) }

// UpTo returns the set of the first n CPUs of a machine.
func UpTo(n int) Set {
	s := make(Set, max(0, n))
	for i := range s {
		s[i] = i
	}
	return s
}

// First returns the first n CPUs of a set, or all if it has fewer.
func (s Set) First(n int) Set { return s[:max(0, min(n, len(s)))] }

// String returns the set as "0-3,5"; "" for the empty set.
func (s Set) String() string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		first := s[i]
		for i+1 < len(s) && s[i+1] == s[i]+1 {
			i++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(first))
		if s[i] > first {
			b.WriteString("-" + strconv.Itoa(s[i]))
		}
	}
	return b.String()
}

// maxCPU is above the numbers that Parse accepts; the kernel's own limit is 8192.
const maxCPU = 1 << 14

// Parse parses the format of String.
func Parse(list string) (s Set, err error) {
	if list == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(list, ",") {
		first, last, ranged := strings.Cut(part, "-")
		a, err := strconv.Atoi(first)
		b := a
		if ranged && err == nil {
			b, err = strconv.Atoi(last)
		}
		if err != nil || a < 0 || b < a || b >= maxCPU || len(s) > 0 && a <= s[len(s)-1] {
			return nil, fmt.Errorf("%.100q is not a set of CPUs such as \"0-3,5\"", list)
		}
		for ; a <= b; a++ {
			s = append(s, a)
		}
	}
	return s, nil
}

// MarshalText implements encoding.TextMarshaler.
func (s Set) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Set) UnmarshalText(text []byte) (err error) {
	*s, err = Parse(string(text))
	return err
}

// Order returns the CPUs with those of one core next to each other, so splitting the list splits at
// most one core. siblings returns the CPUs of a CPU's core, if known.
func Order(cpus Set, siblings func(cpu int) Set) []int {
	first := map[int]int{}
	for _, cpu := range cpus {
		first[cpu] = cpu
		if core := siblings(cpu); len(core) > 0 {
			first[cpu] = core[0]
		}
	}
	ordered := slices.Clone(cpus)
	slices.SortStableFunc(ordered, func(a, b int) int { return first[a] - first[b] })
	return ordered
}
