package workload

import (
	"strconv"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load/record"
	"github.com/locbench/locbench/internal/text/secret"
)

// User is one simulated user, within an iteration or between two. The zero value is ready to use.
// It belongs to a connection.
type User struct {
	iteration *iteration // nil: no iteration is begun
	at        int        // index of the next request
	sent      int        // number of requests of the iteration
	tries     int        // responses to the current request after which it is sent again
	again     bool       // the last request is sent again
	slots     []slot
	body      []byte
	seed      uint64 // of the think times and of elements drawn from lists
	pace      pace
	number    int    // of the users with setups, from 1; 0: not known yet
	jar       Jar    // unless the iteration keeps none
	url       []byte // path and query of the last request, if the iteration keeps cookies

	hops       int      // redirects in a row that were followed
	hop        *Request // the request after a redirect
	target     []byte   // its path and query
	redirected bool     // the last response was a redirect that is followed
	check      bool     // the response will be checked
	// Unread is the kind of the body that CheckResponse was to check last and did not look at.
	Unread bench.ErrorKind
	taken  *sampled // its quota has counted the response, which is not checked yet; nil: no
}

// Begun reports whether the user has begun an iteration that has not ended.
func (u *User) Begun() bool { return u.iteration != nil }

// Midway reports whether the user has sent a request of an iteration that has more. over says that
// no more iterations are begun: a request is not repeated then.
func (u *User) Midway(over bool) bool {
	return u.iteration != nil && u.sent > 0 && !(over && u.tries > 0 && u.hops == 0)
}

// Forget drops the user's iteration.
func (u *User) Forget() {
	u.giveBack()
	u.iteration, u.hops = nil, 0
}

// Begin draws the user's next iteration, if none is begun. It fails if no values are left.
func (m *Mix) Begin(u *User) error {
	if u.iteration != nil {
		return nil
	}
	return m.begin(u)
}

// Repeats returns how long the user, who has sent a request, waits before it is sent again; 0: it
// is not.
func (u *User) Repeats() time.Duration {
	if u.tries == 0 || u.hops > 0 {
		return 0
	}
	return u.iteration.requests[u.at].repeat.Every
}

// Think returns how long the user, who has begun an iteration, thinks before the next request.
func (u *User) Think() time.Duration {
	if u.hops > 0 {
		return 0
	}
	if every := u.Repeats(); every > 0 {
		return every
	}
	t := u.iteration.requests[u.at].think
	t.Min, t.Max = t.Min+u.paceWait(), t.Max+u.paceWait()
	if t.Max <= t.Min {
		return t.Min
	}
	return t.Min + time.Duration(u.random(0)%uint64(t.Max-t.Min+1))
}

// random returns the nth number that the user draws for the current request. SplitMix64 makes it:
// it does not depend on other users.
func (u *User) random(n int) uint64 {
	x := u.seed + uint64(u.at+1+n<<16)*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Write appends the next request of a user, who has begun an iteration, to dst.
func (m *Mix) Write(u *User, dst []byte) (*Request, []byte) {
	r, from := u.iteration.requests[u.at], len(dst)
	if u.hops == 0 {
		u.check = r.checked && m.drawsCheck(u, r)
	} else {
		r = u.hop
		dst = append(append(append(append(dst, r.Method...), ' '), u.target...), " HTTP/1.1"...)
	}
	u.body = u.body[:0]
	for i := range r.body {
		u.body = r.body[i].append(u.body, u)
	}
	for i := range r.head {
		switch p := &r.head[i]; p.kind {
		case partLength:
			dst = strconv.AppendInt(dst, int64(len(u.body)), 10)
		case partCookies:
			dst = m.appendCookies(dst, from, u, r, p.text)
		default:
			dst = p.append(dst, u)
		}
	}
	if u.iteration.cookies {
		u.url = append(u.url[:0], targetOf(dst[from:])...)
	}
	return r, append(dst, u.body...)
}

// Keeps reports whether the whole response to the last request is needed: head and body.
func (u *User) Keeps() bool {
	r := u.iteration.requests[u.at]
	return u.check || len(r.saves) > 0 || r.repeat != nil
}

// End ends the user's last request, whose exchange is x, and puts into x what it is in its
// iteration.
func (u *User) End(x *record.Exchange) {
	first := u.sent == 0
	x.Paced, x.Overran = first && u.pace.kept, first && u.pace.overran
	session, step, ended := u.Done(x.Kind != "" || x.Rejected)
	x.Session, x.First, x.Last = session, step == 0, ended
}

// KeepsLinks reports whether those headers of the response are needed that set cookies or say where
// to go next.
func (u *User) KeepsLinks() bool { return u.iteration.cookies }

// Done ends the last request. It returns the number of its session from 1 (0: a single request),
// the number of requests before it in the session, and whether the iteration ended with it.
func (u *User) Done(failed bool) (session, step int, ended bool) {
	session, step = u.iteration.session, u.sent
	u.sent++
	if u.redirected && !failed {
		u.redirected = false
		return session, step, false
	}
	u.giveBack()
	u.redirected, u.hops = false, 0
	if u.again {
		u.again = false
		u.tries++
		return session, step, false
	}
	u.tries = 0
	if u.at++; failed || u.at == len(u.iteration.requests) {
		u.iteration, ended = nil, true
	}
	return session, step, ended
}

// Masked returns the text of a failure, which may have a body, without the secrets that the user's
// session has saved, and without cookies that are credentials.
func (m *Mix) Masked(u *User, text string) string {
	var values []string
	if u.iteration != nil {
		for i, name := range u.iteration.saved {
			if m.secrets()[name] && len(u.slots[i].text) > 0 {
				values = append(values, string(u.slots[i].text))
			}
		}
	}
	for i := range u.jar.cookies {
		c := &u.jar.cookies[i]
		if value := string(c.text[min(c.name+1, c.pair):c.pair]); secret.IsToken(value) {
			values = append(values, value)
		}
	}
	return secret.New(values...).Keyed(text)
}
