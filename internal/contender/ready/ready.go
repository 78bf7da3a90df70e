// Package ready waits until a contender is ready, and so measures its start-up time.
package ready

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/contact"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
)

const (
	firstPause = 500 * time.Microsecond // between attempts; grows by a tenth each time
	lastPause  = 50 * time.Millisecond
	oneAttempt = 5 * time.Second // the timeout of one request
	lateEvery  = time.Second     // between reports of a service that is not ready
	shown      = 200             // bytes of an unexpected response in the error
)

// Question is the request that a contender gets, and the response that says it is ready.
type Question struct {
	Path    string // path of the GET request; "": /
	Port    int    // port of the request; 0: that of the load
	Header  map[string]string
	Status  int           // expected status; 0: any 2xx or 3xx
	Lenient bool          // any response below 500 is enough: the service has no manifest
	Timeout time.Duration // how long to wait; 0: a minute
	Way     contact.Way
}

// URL returns where the request goes, without the path. inst knows the address of a port that is not
// reached under its own number.
func (q Question) URL(inst bench.Instance) string {
	base := inst.BaseURL()
	if q.Port == 0 {
		return base
	}
	u, err := secret.ParseURL(base)
	if err != nil {
		return base
	}
	u.Host, u.Path = cmp.Or(inst.Info().ReadyAddress, net.JoinHostPort(u.Hostname(), strconv.Itoa(q.Port))), ""
	return u.String()
}

// request returns the method and the path, and the port if it is another than that of the load.
func (q Question) request() string {
	text := "GET " + q.Path
	if q.Port != 0 {
		text += " on port " + strconv.Itoa(q.Port)
	}
	return text
}

func (q Question) accepts(status int) bool {
	switch {
	case q.Status != 0:
		return status == q.Status
	case q.Lenient:
		return status < 500
	}
	return status >= 200 && status < 400
}

func (q Question) expected() string {
	switch {
	case q.Status != 0:
		return fmt.Sprint(q.Status)
	case q.Lenient:
		return "any response except 5xx"
	}
	return "a 2xx or 3xx"
}

// Wait sends requests to inst until the response is as q says, and returns the time from
// inst.Info().StartedAt to that response. It fails as soon as inst has exited, with the exit code;
// at once if waiting does not help (an untrusted certificate, https instead
// of http, an unknown host); after q.Timeout, with the last response; and when ctx ends.
//
// Each second in which inst is not ready, Wait calls late, which may be nil, with the reason of the
// last attempt. late may change inst.BaseURL for the next attempt.
//
// The pause between requests grows from 0.5 to 50 ms: the time is accurate to about a tenth, but
// never less than Docker needs to report the container's address (some 5 ms).
func Wait(ctx context.Context, inst bench.Instance, q Question, late func(last string)) (bench.InstanceReady, error) {
	q.Path, q.Timeout = "/"+strings.TrimPrefix(q.Path, "/"), cmp.Or(max(q.Timeout, 0), time.Minute)
	began := time.Now()
	started := inst.Info().StartedAt
	if started.IsZero() {
		started = began // a target
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	deadline := time.NewTimer(q.Timeout)
	defer deadline.Stop()
	responses := make(chan response)
	polling := make(chan struct{})
	go func() {
		defer close(polling)
		poll(ctx, q, func() string { return q.URL(inst) }, responses)
	}()
	defer func() { cancel(); <-polling }()
	seconds := time.NewTicker(lateEvery)
	defer seconds.Stop()

	last := errors.New("no response")
	var first *bench.FirstResponse
	for {
		select {
		case a := <-responses:
			if a.err == nil {
				return bench.InstanceReady{StartUp: a.at.Sub(started), FirstResponse: first}, nil
			}
			if a.hopeless {
				return bench.InstanceReady{}, a.err
			}
			if last = a.err; a.status != 0 && first == nil {
				first = &bench.FirstResponse{After: a.at.Sub(started), Status: a.status}
			}
		case <-inst.Exited():
			return bench.InstanceReady{}, exited(inst, time.Since(started))
		case <-seconds.C:
			if late != nil {
				late(brief(last))
			}
		case <-deadline.C:
			text := fmt.Sprintf("not ready after %v: %s: %s", q.Timeout, q.request(), brief(last))
			switch _, responded := errors.AsType[statusError](last); {
			case q.Way.HTTP2 && !responded:
				text += " (without --http2, if it speaks HTTP/1.1 only)"
			case !q.Lenient: // it has a manifest
				text += " (" + advice(last) + ")"
			}
			return bench.InstanceReady{}, timeoutError(text)
		case <-ctx.Done():
			return bench.InstanceReady{}, context.Cause(ctx)
		}
	}
}

// advice returns what may make a contender ready whose last response was such.
func advice(last error) string {
	e, ok := errors.AsType[statusError](last)
	if ok {
		switch e.code {
		case http.StatusBadRequest, http.StatusForbidden, http.StatusMisdirectedRequest:
			return fmt.Sprintf("Host was %s; if it accepts only its own name, write `header: {Host: NAME}` at the top of the profile, "+
				"or `ready: {header: {Host: NAME}}` in its manifest", safe.Line(e.host, shown))
		case http.StatusNotFound:
			return "`ready: {path: /PATH, port: PORT}` in its manifest says what to request"
		}
	}
	return "a slower start needs a longer `ready.timeout` in its manifest"
}

// timeoutError is the error of Wait after Question.Timeout.
type timeoutError string

func (e timeoutError) Error() string { return string(e) }

// Timeout and Temporary make it a net.Error.
func (timeoutError) Timeout() bool   { return true }
func (timeoutError) Temporary() bool { return false }

type response struct {
	at       time.Time
	status   int   // 0: no response
	err      error // why the contender is not ready; nil: it is
	hopeless bool  // waiting does not help
}

// poll sends requests until the contender is ready, waiting does not help, or ctx ends.
func poll(ctx context.Context, q Question, base func() string, responses chan<- response) {
	client := newClient(q.Way)
	defer client.CloseIdleConnections()
	for pause := firstPause; ; pause = min(pause+pause/10, lastPause) {
		a := attempt(ctx, client, q, base())
		select {
		case responses <- a:
		case <-ctx.Done():
			return
		}
		if a.err == nil || a.hopeless {
			return
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// newClient opens a new connection each time: one that was opened early may not survive the start.
func newClient(way contact.Way) *http.Client {
	way.Fresh = true
	client := way.Client()
	client.Timeout = oneAttempt
	return client
}

func attempt(ctx context.Context, client *http.Client, q Question, base string) response {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+q.Path, nil)
	if err != nil {
		return response{err: err}
	}
	for name, value := range q.Header {
		req.Header.Set(name, value)
	}
	req.Host = cmp.Or(req.Header.Get("Host"), q.Way.Host, req.Host)
	resp, err := client.Do(req)
	at := time.Now() // when the response's header was read
	if err != nil {
		why := contact.Hopeless(req.URL, err, "add its CA with --cacert FILE", ", or use --insecure")
		return response{err: cmp.Or(why, err), hopeless: why != nil}
	}
	text, _ := io.ReadAll(io.LimitReader(resp.Body, shown+1)) // one more: a cut text is marked
	io.CopyN(io.Discard, resp.Body, 1<<20)                    // like a real client, within bounds
	resp.Body.Close()
	a := response{at: at, status: resp.StatusCode}
	if a.status == http.StatusBadRequest && q.Status == 0 && req.URL.Scheme == "http" && contact.WantsTLS.Match(text) {
		return response{err: contact.OtherScheme(req.URL), hopeless: true}
	}
	if q.accepts(a.status) {
		return a
	}
	a.err = statusError{resp.StatusCode, resp.Status, strings.TrimSpace(string(text)), q.expected(), req.Host}
	return a
}

// statusError is a response with another status than expected.
type statusError struct {
	code                         int
	status, text, expected, host string
}

func (e statusError) Error() string {
	text := e.status
	if e.text != "" {
		text += fmt.Sprintf(" %q", safe.Line(e.text, shown))
	}
	return text + "; expected " + e.expected
}

// exited returns the error about an instance that exited before it was ready.
func exited(inst bench.Instance, after time.Duration) error {
	text := "exited"
	if exit := inst.Exit(); exit != nil {
		text = "exited: " + exit.String()
		if !exit.At.IsZero() && !inst.Info().StartedAt.IsZero() {
			after = max(0, exit.At.Sub(inst.Info().StartedAt))
		}
	}
	text += " after " + after.Round(time.Millisecond).String()
	return errors.New(text)
}

// brief returns the reason of a failed attempt without the parts that are the same each time.
func brief(err error) string {
	var timeout net.Error
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF):
		return "connection closed without response"
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Sprintf("timeout after %v", oneAttempt)
	}
	return safe.Line(err.Error(), 300)
}
