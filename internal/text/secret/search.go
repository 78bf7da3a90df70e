package secret

import (
	"slices"
	"strings"
)

// search finds many texts in one pass (Aho and Corasick, 1975). Its node 0 is the root.
type search struct {
	root  [256]int32 // children of the root
	nodes []node
}

// node is the beginning of texts that are looked for.
type node struct {
	child, sibling int32
	fail           int32 // the longest other beginning that ends here
	found          int32 // the longest whole text that ends here, other than this node; 0: none
	depth          int32 // bytes
	last           byte
	whole, number  bool // a whole text; one of digits alone
}

// newSearch returns a search for texts, none of which is empty.
func newSearch(texts []string) *search {
	s := &search{nodes: make([]node, 1)}
	for _, text := range texts {
		at := int32(0)
		for i := range len(text) {
			next := s.child(at, text[i])
			if next == 0 {
				next = int32(len(s.nodes))
				s.nodes = append(s.nodes, node{sibling: s.nodes[at].child, depth: int32(i + 1), last: text[i]})
				if s.nodes[at].child = next; at == 0 {
					s.root[text[i]] = next
				}
			}
			at = next
		}
		s.nodes[at].whole, s.nodes[at].number = true, strings.Trim(text, digits) == ""
	}
	queue := []int32{0}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for c := s.nodes[at].child; c != 0; c = s.nodes[c].sibling {
			n := &s.nodes[c]
			if at != 0 {
				n.fail = s.step(s.nodes[at].fail, n.last)
			}
			if n.found = n.fail; !s.nodes[n.fail].whole {
				n.found = s.nodes[n.fail].found
			}
			queue = append(queue, c)
		}
	}
	return s
}

func (s *search) child(at int32, b byte) int32 {
	if at == 0 {
		return s.root[b]
	}
	c := s.nodes[at].child
	for c != 0 && s.nodes[c].last != b {
		c = s.nodes[c].sibling
	}
	return c
}

func (s *search) step(at int32, b byte) int32 {
	for {
		next := s.child(at, b)
		if next != 0 || at == 0 {
			return next
		}
		at = s.nodes[at].fail
	}
}

// Where a text was cut, and the shortest beginning of a known value that is masked there.
const (
	cutMark = "…"
	minCut  = 4
)

// in appends the places of a view's text that are known: whole values, those of digits alone only
// as whole numbers, and the beginning of a value where the text was cut.
func (s *search) in(v view, all []span) []span {
	isDigit := func(i int) bool {
		return i >= 0 && i < len(v.text) && v.text[i] >= '0' && v.text[i] <= '9'
	}
	at := int32(0)
	for i := range len(v.text) {
		if v.text[i] == cutMark[0] && s.nodes[at].depth >= minCut && strings.HasPrefix(v.text[i:], cutMark) {
			begun := v.span(i-int(s.nodes[at].depth), i)
			all = append(all, span{begun.from, v.span(i, i+1).from}) // with an escape that was cut off
		}
		at = s.step(at, v.text[i])
		n := at
		if !s.nodes[n].whole {
			n = s.nodes[n].found
		}
		for ; n != 0; n = s.nodes[n].found {
			from, to := i+1-int(s.nodes[n].depth), i+1
			if !s.nodes[n].number || !isDigit(from-1) && !isDigit(to) {
				all = append(all, v.span(from, to))
				break
			}
		}
	}
	return all
}

// apart sorts spans and joins those that overlap.
func apart(all []span) []span {
	slices.SortFunc(all, func(a, b span) int { return a.from - b.from })
	out := all[:0]
	for _, x := range all {
		switch last := len(out) - 1; {
		case x.from == x.to:
		case last >= 0 && x.from < out[last].to:
			out[last].to = max(out[last].to, x.to)
		default:
			out = append(out, x)
		}
	}
	return out
}

// masked returns a text with Mask in place of the spans, which are apart.
func masked(s string, all []span) string {
	if len(all) == 0 {
		return s
	}
	var b strings.Builder
	at := 0
	for _, x := range all {
		b.WriteString(s[at:x.from] + around(s[x.from:x.to]))
		at = x.to
	}
	return b.String() + s[at:]
}
