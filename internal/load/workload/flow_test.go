package workload

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load/record"
	"github.com/locbench/locbench/internal/load/wire"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/values"
)

// A flow is what users send in virtual time, and how the contender responds.
type flow struct {
	spec      Plan
	users     int               // who begin one after the other; 0: one
	times     int               // iterations of each user; 0: 1
	over      bool              // no more iterations are begun
	responses []string          // as in HTTP, without the version; they are repeated
	setUp     []string          // the responses to the setup of each user
	files     map[string]string // of variables and bodies
}

// run returns the requests on the wire, with what the loops and the recorder get from each
// response.
func (f flow) run(t *testing.T) string {
	var b strings.Builder
	respond := func(all []string, n int) (a Response) {
		text := "200"
		if len(all) > 0 {
			text = all[n%len(all)]
		}
		head, body, _ := strings.Cut(text, "\n\n")
		line, head, _ := strings.Cut(head, "\n")
		fmt.Sscan(line, &a.Status)
		if strings.HasSuffix(head, "gzip") && strings.HasPrefix(body, "{") {
			var packed bytes.Buffer
			w := gzip.NewWriter(&packed)
			w.Write([]byte(body))
			w.Close()
			body = packed.String()
		}
		a.Head, a.Body, a.Cut = []byte(strings.ReplaceAll(head+"\n", "\n",
			"\r\n")), []byte(body), strings.HasSuffix(line, "cut")
		return a
	}
	f.spec.BaseURL = cmp.Or(f.spec.BaseURL, "http://me:pw@Shop.test:8080/api/")
	f.spec.Step.Duration = cmp.Or(f.spec.Step.Duration, time.Second)
	if f.spec.Step.Rate == 0 && f.spec.Step.Arrivals == nil {
		f.spec.Step.Connections = max(f.users, 1)
	}
	f.open(t)
	for _, s := range f.spec.Sessions {
		f.begin(t, &b, s.Name, func(user int) Response { return respond(f.setUp, user) })
	}
	m, err := NewMix(f.spec)
	if err != nil {
		return err.Error() + "\n"
	}
	fmt.Fprintf(&b, "Requests %q, sessions %q\n", m.Names(), m.Sessions())
	users, n := make([]User, max(f.users, 1)), 0
	for range max(f.times, 1) {
		for i := range users {
			u := &users[i]
			if err := m.Begin(u); err != nil {
				fmt.Fprintf(&b, "\n%v\n", err)
				return b.String()
			}
			for u.Begun() {
				if u.Midway(f.over) != (u.sent > 0) {
					fmt.Fprintln(&b, "\nnot sent again")
					u.Forget()
					break
				}
				f.exchange(m, u, &b, respond(f.responses, n))
				n++
			}
			if f.spec.Step.Arrivals != nil {
				u.Leave()
			}
		}
	}
	return b.String()
}

// open reads the files.
func (f *flow) open(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string {
		if name == "" {
			return ""
		}
		return filepath.Join(dir, name)
	}
	for name, text := range f.files {
		testenv.OK(t, os.WriteFile(path(name), []byte(text), 0o600))
	}
	for i := range f.spec.Variables {
		f.spec.Variables[i].File = path(f.spec.Variables[i].File)
	}
	for i := range f.spec.Requests {
		r := &f.spec.Requests[i]
		r.BodyFile = path(r.BodyFile)
		for k := range r.Multipart {
			r.Multipart[k].File = path(r.Multipart[k].File)
		}
	}
	var err error
	if f.spec.Data, err = values.OpenData(f.spec.Variables, f.spec.Requests); err != nil {
		t.Fatal(err)
	}
}

// begin sends the setup of a session for each user.
func (f *flow) begin(t *testing.T, b *strings.Builder, session string, respond func(user int) Response) {
	own := f.spec
	own.Requests, own.Sessions = nil, []bench.Session{{Name: session}}
	for _, r := range f.spec.Requests {
		if r.Session == session && r.SetUp {
			r.SetUp = false
			own.Requests = append(own.Requests, r)
		}
	}
	if len(own.Requests) == 0 {
		return
	}
	all := NewUsers(f.spec.Step, MaxOpenConnections(f.spec.Step))
	own.Step = bench.Step{Request: session, Connections: 1, Duration: time.Second}
	m := testenv.Must(NewMix(own))(t)
	users := testenv.Must(all.Begin(m))(t)
	for i := range users {
		for users[i].Begun() {
			f.exchange(m, &users[i], b, respond(i))
		}
	}
	all.Keep(m, users)
	f.spec.Users = all
	fmt.Fprintf(b, "\nSetup of %d users\n", all.Count())
}

func (f *flow) exchange(m *Mix, u *User, b *strings.Builder, a Response) {
	if d := u.Think(); d > 0 {
		fmt.Fprintf(b, "\n%s later", d)
		time.Sleep(d)
	}
	r, sent := m.Write(u, nil)
	fmt.Fprintf(b, "\n%s", strings.TrimSpace(string(bytes.ReplaceAll(sent, []byte("\r\n"), []byte("\n")))))
	x := record.Exchange{Status: a.Status}
	switch {
	case r.Follows(a.Status):
		x.Kind, x.Example = m.Follow(u, r, a)
	case !r.Expects(a.Status):
		x.Kind, x.Example = wire.Class(a.Status), RedirectHint(a.Status,
			[]byte("/x"))+"not "+r.Statuses()+" "+string(a.Body)
	case r.Rejects(a.Status):
		x.Rejected = true
		x.Kind, x.Example = m.Repeat(u, r, a)
	case u.Keeps() || u.KeepsLinks():
		x.Checked, x.Kind, x.Example = m.CheckResponse(u, r, a)
		x.Unread = u.Unread
	}
	x.Example = m.Masked(u, x.Example)
	saved := u.Saved()
	u.End(&x)
	fmt.Fprintf(b, "\n→ %d %s %s", a.Status, x.Kind, x.Example)
	for _, mark := range []struct {
		is   bool
		name string
	}{
		{x.Rejected, "rejected"}, {x.Checked, "checked"}, {x.First, "first"}, {x.Last, "last"}, {x.Paced, "paced"},
		{x.Overran, "overran"}, {x.Unread != "", "unread: " + string(x.Unread)},
		{x.Session > 0, fmt.Sprint("session ", x.Session)},
	} {
		if mark.is {
			fmt.Fprint(b, ", ", mark.name)
		}
	}
	if len(saved.Values) > 0 {
		fmt.Fprintf(b, "\n  saved %q, JSON %q, links %q", saved.Values, saved.JSON, saved.Links)
	}
	if saved.Cookies != nil {
		fmt.Fprintf(b, "\n  %d cookies", len(saved.Cookies.cookies))
	}
	fmt.Fprintln(b)
}
