package board

// pager is a list that can be scrolled. Its entries take one line or more.
type pager struct {
	top   int  // first entry, once it was scrolled
	moved bool // it was scrolled; else a list that grows follows its end, and any other stands at its start
	first int  // entries that were drawn last
	count int
}

// move scrolls by d entries from what was drawn last.
func (p *pager) move(d int) {
	p.top, p.moved = max(0, p.first+d), true
}

// page is how many entries a page key moves.
func (p *pager) page() int { return max(1, p.count-1) }

// show draws n entries into at most h lines. A list that grows follows its end while it is scrolled
// to there.
func (p *pager) show(n, h int, grows bool, entry func(i int) []string) []string {
	h = max(0, h)
	// last is the first entry of the last page.
	last, used := n, 0
	for last > 0 && used < h {
		used += len(entry(last - 1))
		if used > h && last < n {
			break
		}
		last--
	}
	if p.moved && p.top >= last && grows || !p.moved && grows {
		p.top, p.moved = last, false
	} else if !p.moved {
		p.top = 0
	}
	p.top = max(0, min(p.top, last))
	var out []string
	p.first, p.count = p.top, 0
	for i := p.top; i < n && len(out) < h; i++ {
		out = append(out, entry(i)...)
		if len(out) <= h || i == p.top {
			p.count++
		}
	}
	return out[:min(len(out), h)]
}
