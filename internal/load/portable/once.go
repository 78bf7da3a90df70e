package portable

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locbench/locbench/internal/load/record"
	"github.com/locbench/locbench/internal/load/workload"
)

// Asked is one request that Once sent, and its response.
type Asked struct {
	Request  string
	Sent     []byte // bytes on the wire
	Response workload.Response
	Saved    workload.Saved // so far in the session
	Followed bool           // a redirect, which the next request follows
	Err      error          // why the response is unexpected; nil if it is expected
	Unread   string         // why its body was to be checked and was not looked at; "" if it was
}

// Once sends the first iteration of the mix on one connection, without thinking: a request, or a
// session to its end or its first unexpected response. It records nothing. It returns the error of
// the last request, or ctx's.
func (l *Loop) Once(ctx context.Context, seen func(Asked)) error {
	s := l.slots[0]
	defer s.close()
	stop := context.AfterFunc(ctx, l.Cut)
	defer stop()
	if err := l.conf.Mix.Begin(&s.user); err != nil {
		return err
	}
	return l.iterateOnce(ctx, s, seen)
}

// iterateOnce sends the iteration that the user of s has begun.
func (l *Loop) iterateOnce(ctx context.Context, s *slot, seen func(Asked)) error {
	mix := l.conf.Mix
	for ctx.Err() == nil {
		var r *workload.Request
		r, s.out = mix.Write(&s.user, s.out[:0])
		var x record.Exchange
		began := time.Now()
		s.got = workload.Response{}
		keep, _, err := l.roundTrip(ctx, s, r, &x, began.Add(cmp.Or(r.Timeout, l.conf.Timeout)))
		a := Asked{Request: r.Name, Sent: bytes.Clone(s.out), Response: s.got}
		if !keep {
			s.close()
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			a.Err = fmt.Errorf("got: %w", err)
		case x.Kind != "":
			a.Err = fmt.Errorf("expected status %s, got %s", r.Statuses(), x.Example)
		case r.Follows(s.got.Status):
			if kind, example := mix.Follow(&s.user, r, a.Response); kind != "" {
				a.Err = errors.New(example)
			}
			a.Followed = a.Err == nil
		case r.Rejects(s.got.Status):
			if kind, example := mix.Repeat(&s.user, r, a.Response); kind != "" {
				a.Err = errors.New(example)
			}
		default:
			if _, kind, example := mix.CheckResponse(&s.user, r, a.Response); kind != "" {
				a.Err = errors.New(example)
			} else if s.user.Unread != "" {
				a.Unread = example
			}
		}
		a.Saved = s.user.Saved()
		_, _, ended := s.user.Done(a.Err != nil || r.Rejects(s.got.Status))
		seen(a)
		if ended {
			return a.Err
		}
		if every := s.user.Repeats(); every > 0 {
			select {
			case <-time.After(every):
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	return context.Cause(ctx)
}
