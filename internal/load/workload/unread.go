package workload

import (
	"errors"
	"fmt"
	"sync"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load/wire"
	"github.com/locbench/locbench/internal/text/unpack"
)

// unpacker unpacks the body of one response if that is needed.
type unpacker struct {
	pool *sync.Pool // of *unpack.Unpacker
	own  *unpack.Unpacker
	done bool
}

// unpack replaces a packed body by the unpacked one, which is valid until release.
func (p *unpacker) unpack(a *Response) {
	if p.done {
		return
	}
	p.done = true
	encodings := unpack.Encoding(a.Head)
	switch {
	case a.Cut:
		if a.Unread = errLong; len(encodings) > 0 {
			a.Body = nil
		}
	case len(encodings) > 0 && len(a.Body) > 0:
		if p.own, _ = p.pool.Get().(*unpack.Unpacker); p.own == nil {
			p.own = unpack.New(MaxChecked)
		}
		a.Body, a.Unread = p.own.Body(encodings, a.Body)
	}
}

func (p *unpacker) release() {
	if p.own != nil {
		p.pool.Put(p.own)
	}
}

// unread returns the kind and the text of a body that was drawn, and not looked at.
func (m *Mix) unread(u *User, why error) (kind bench.ErrorKind, text string) {
	if u.taken != nil {
		m.mu.Lock()
		u.taken.tried += triesOfUnread - 1
		m.mu.Unlock()
	}
	kind = bench.UnreadBroken
	if e, ok := errors.AsType[*unpack.Error](why); ok {
		kind = e.Kind
	}
	return kind, wire.Example(why.Error())
}

// save puts a value into a slot, if it is in the body from the unpacked one.
func (p *unpacker) save(s *save, a *Response, to *slot) (err error) {
	if s.spec.From != bench.FromJSON && s.spec.From != bench.FromRegex {
		return s.take(*a, to)
	}
	p.unpack(a)
	if a.Unread == nil || len(a.Body) > 0 {
		err = s.take(*a, to)
	}
	if a.Unread != nil && (err != nil || len(a.Body) == 0) {
		err = fmt.Errorf("the body was not looked at: %w", a.Unread)
	}
	return err
}
