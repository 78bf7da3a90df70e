package ui

import (
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

func TestWrap(t *testing.T) {
	l := NewLook(LookOptions{})
	for _, c := range []struct {
		in   string
		w, n int
		want []string
	}{
		{"", 5, 0, []string{""}},
		{"one two three", 7, 0, []string{"one two", "three"}},
		{"one two three", 8, 0, []string{"one two", "three"}},
		{"one two three", 80, 1, []string{"one two three"}},
		{"a  b", 3, 0, []string{"a", "b"}},
		{"  indented line", 10, 0, []string{"  indented", "line"}},
		{"first\n  second", 20, 0, []string{"first", "  second"}},
		{"averylongword", 5, 0, []string{"avery", "longw", "ord"}},
		{"is averylongword", 5, 0, []string{"is", "avery", "longw", "ord"}},
		{"世界世界", 3, 0, []string{"世", "界", "世", "界"}},
		{"世界", 1, 0, []string{""}},
		{"one two three four", 7, 2, []string{"one two", "three…"}},
		{"one two three", 7, 1, []string{"one tw…"}},
		{"one two", 0, 0, nil},
	} {
		t.Run(c.in, func(t *testing.T) {
			got := l.Wrap(c.in, c.w, c.n)
			for i := range got {
				if c.n > 0 && i == c.n-1 { // a blank may follow the ellipsis
					for len(got[i]) > 0 && got[i][len(got[i])-1] == ' ' {
						got[i] = got[i][:len(got[i])-1]
					}
				}
			}
			testenv.Equal(t, got, c.want, "Wrap", c.in, c.w, c.n)
		})
	}
}
