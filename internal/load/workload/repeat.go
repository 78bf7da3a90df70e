package workload

import (
	"fmt"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load/wire"
)

// Repeat decides whether the user's last request, whose response is expected, is sent again. After
// the last time it returns why not. CheckResponse includes it; a rejected response gets it alone.
func (m *Mix) Repeat(u *User, r *Request, a Response) (kind bench.ErrorKind, example string) {
	p := unpacker{pool: m.unpackers}
	defer p.release()
	return m.repeat(u, r, &a, &p)
}

// repeat unpacks the response where it is: the values are saved from the same one.
func (m *Mix) repeat(u *User, r *Request, a *Response, p *unpacker) (kind bench.ErrorKind, example string) {
	if r.repeat == nil {
		return "", ""
	}
	err := r.repeat.Reached(a.Status)
	if err == nil && len(r.repeat.Until) > 0 && m.until != nil {
		p.unpack(a)
		a.Request, a.Value = r.Name, r.valuesOf(u)
		err = m.until(*a)
	}
	switch {
	case err == nil:
		return "", ""
	case u.tries+1 < r.repeat.Most:
		u.again = true
		return "", ""
	}
	text := fmt.Sprintf("%s: sent %d times; not as `until` says, since %v", u.iteration.where(r), r.repeat.Most, err)
	return bench.ErrRepeat, wire.Example(text)
}
