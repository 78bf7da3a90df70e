package strictyaml

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxMistakes = 100 // reported per file
	knownKeys   = "known keys"
)

// Mistake is one mistake in a file.
type Mistake struct {
	File string
	Line int    // from 1
	What string // the problem: "unknown key `conections`"
	Hint string // what to write: "did you mean `connections`?"; may be ""
}

// String returns "file:line: what; hint".
func (m Mistake) String() string {
	s := fmt.Sprintf("%s:%d: %s", m.File, m.Line, m.What)
	if m.Hint != "" {
		s += "; " + m.Hint
	}
	return s
}

// Mistakes are all mistakes in a file, in the order of its lines. As an error they are never empty.
type Mistakes []Mistake

// Error returns one line per mistake.
func (m Mistakes) Error() string {
	lines := make([]string, len(m))
	for i, one := range m {
		lines[i] = one.String()
	}
	return strings.Join(lines, "\n")
}

// collector collects the mistakes in a file and those that it names, each once.
type collector struct {
	file     string // its name in the mistakes
	mistakes Mistakes
	dropped  int
}

// add adds a mistake in a line, from 1.
func (c *collector) add(line int, what, hint string) {
	c.report(Mistake{Line: line, What: what, Hint: hint})
}

func (c *collector) report(m Mistake) {
	m.File, m.Line = cmp.Or(m.File, c.file), max(m.Line, 1)
	switch {
	case slices.Contains(c.mistakes, m):
	case len(c.mistakes) >= maxMistakes:
		c.dropped++
	default:
		c.mistakes = append(c.mistakes, m)
	}
}

func (c *collector) count() int { return len(c.mistakes) + c.dropped }

// err returns nil or the Mistakes, in the order of their lines, those of other files last.
func (c *collector) err() error {
	if len(c.mistakes) == 0 {
		return nil
	}
	slices.SortStableFunc(c.mistakes, func(a, b Mistake) int {
		switch here := a.File == c.file; {
		case a.File == b.File:
			return cmp.Compare(a.Line, b.Line)
		case here:
			return -1
		}
		return 1
	})
	if c.dropped > 0 {
		last := c.mistakes[len(c.mistakes)-1]
		c.mistakes = append(c.mistakes,
			Mistake{File: last.File, Line: last.Line, What: fmt.Sprintf("%d more mistakes", c.dropped)})
	}
	return c.mistakes
}

// Suggest returns the hint for a word that is not in known: the nearest known word if one is near,
// otherwise all of them. kind names them in the plural, such as "known keys".
func Suggest(word, kind string, known []string) string {
	if near := Nearest(word, known); near != "" {
		return fmt.Sprintf("did you mean `%s`?", near)
	}
	if len(known) == 0 {
		return ""
	}
	return kind + ": " + strings.Join(known, ", ")
}

// Nearest returns the known word that word was probably meant to be, or "".
func Nearest(word string, known []string) string {
	if len(word) > 100 {
		return ""
	}
	best, bestDistance := "", 1+max(1, len(word)/3)
	for _, k := range known {
		if d := distance(strings.ToLower(word), strings.ToLower(k)); d < bestDistance {
			best, bestDistance = k, d
		}
	}
	return best
}

// distance returns how many letters to insert, remove, replace or swap to get from b to a.
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	before, prev, row := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(s); i++ {
		row[0] = i
		for j := 1; j <= len(t); j++ {
			row[j] = min(prev[j], row[j-1], prev[j-1]) + 1
			if s[i-1] == t[j-1] {
				row[j] = min(row[j], prev[j-1])
			}
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, prev, row = prev, row, before
	}
	return prev[len(t)]
}

// clip shortens s, a text from outside, to about n bytes and drops characters that break a line.
func clip(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s)
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
