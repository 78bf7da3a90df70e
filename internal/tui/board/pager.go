package board

// pager is a list that can be scrolled. Its entries take one line or more.
type pager struct {
	top   int  // first entry, once it was scrolled
	moved bool // it was scrolled; else a list that grows follows its end, and any other stands at its start
	first int  // entries that were drawn last
	count int
}

// page is how many entries a page key moves.
func (p *pager) move(d int) { p.top, p.moved = max(0, p.first+d), true }

// show draws n entries into at most h lines. A list that grows follows its end while it is there.
func (p *pager) show(n, h int, grows bool, entry func(i int) []string) []string {
	h = max(0, h)
	last, used := n, 0 // last is the first entry of the last page
	for last > 0 && used < h {
		used += len(entry(last - 1))
		if used > h && last < n {
			break
		}
		last--
	}
	if grows && (!p.moved || p.top >= last) {
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
