// Package ready waits until a contender answers, and so measures its start-up time.
//
// What the answer says is left to package check: a service that answers 404 has started.
package ready

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"locbench/internal/bench"
	"locbench/internal/safe"
)

const (
	firstPause = 500 * time.Microsecond // between attempts, growing by a tenth each time
	lastPause  = 50 * time.Millisecond
	oneAttempt = 5 * time.Second // for a service that accepts the connection and then thinks
	lateEvery  = time.Second     // between words about a service that does not answer yet
	logLines   = 8               // of a death's message
)

// Wait asks inst for GET path until any HTTP answer comes and returns the time from
// inst.Info().StartedAt to it. It fails as soon as inst has exited, with its exit code and last log
// lines, after timeout with the last answer, or with ctx.
//
// Where nothing has answered for a second, and for each second more, late gets the reason of the
// last attempt; it may be nil. What it does to inst.BaseURL holds from the next attempt on.
//
// It asks every half millisecond at first and ever less often, up to 50 ms, so that the time is
// known to about a tenth. A start that takes less than Docker needs to tell the container's address
// (some 5 ms) looks as if it took that long.
func Wait(ctx context.Context, inst bench.Instance, path string, timeout time.Duration, late func(last string)) (time.Duration, error) {
	return wait(ctx, inst, path, timeout, late, (&net.Dialer{Timeout: oneAttempt}).DialContext)
}

// dialer opens a connection, as a net.Dialer does.
type dialer func(ctx context.Context, network, address string) (net.Conn, error)

func wait(ctx context.Context, inst bench.Instance, path string, timeout time.Duration, late func(last string), dial dialer) (time.Duration, error) {
	url := func() string { return inst.BaseURL() + "/" + strings.TrimPrefix(path, "/") }
	began := time.Now()
	started := inst.Info().StartedAt
	if started.IsZero() {
		started = began // a target that was there before us
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	deadline := time.NewTimer(timeout)
	defer deadline.Stop()

	// A new connection each time: what counts is the first answer, not whether one connection
	// survives the start.
	transport := &http.Transport{DisableKeepAlives: true, DialContext: dial}
	defer transport.CloseIdleConnections()
	client := &http.Client{
		Transport:     transport,
		Timeout:       oneAttempt,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	answers := make(chan answer)
	asking := make(chan struct{})
	go func() {
		defer close(asking)
		poll(ctx, client, url, answers)
	}()
	defer func() { cancel(); <-asking }()
	seconds := time.NewTicker(lateEvery)
	defer seconds.Stop()

	last := errors.New("none")
	for {
		select {
		case a := <-answers:
			if a.err == nil {
				return a.at.Sub(started), nil
			}
			last = a.err
		case <-inst.Exited():
			return 0, died(inst, time.Since(started))
		case <-seconds.C:
			if late != nil {
				late(brief(last))
			}
		case <-deadline.C:
			return 0, fmt.Errorf("not ready after %v: last answer of GET %s: %s", timeout, path, brief(last))
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}

type answer struct {
	at  time.Time
	err error
}

// poll asks until it is answered or ctx ends.
func poll(ctx context.Context, client *http.Client, url func() string, answers chan<- answer) {
	for pause := firstPause; ; pause = min(pause+pause/10, lastPause) {
		a := ask(ctx, client, url())
		select {
		case answers <- a:
		case <-ctx.Done():
			return
		}
		if a.err == nil {
			return
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

func ask(ctx context.Context, client *http.Client, url string) answer {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return answer{err: err}
	}
	resp, err := client.Do(req)
	at := time.Now() // of the head of the answer
	if err != nil {
		return answer{err: err}
	}
	io.CopyN(io.Discard, resp.Body, 1<<20) // a fair client reads what it has asked for, within bounds
	resp.Body.Close()
	return answer{at: at}
}

// died tells of an instance that ended before it answered.
func died(inst bench.Instance, after time.Duration) error {
	text := "exited"
	if exit := inst.Exit(); exit != nil {
		text = "exited: " + exit.String()
		if !exit.At.IsZero() && !inst.Info().StartedAt.IsZero() {
			after = max(0, exit.At.Sub(inst.Info().StartedAt))
		}
	}
	text += " after " + after.Round(time.Millisecond).String()
	logs := inst.Logs()
	if len(logs) == 0 {
		return errors.New(text + "; it wrote no log")
	}
	var b strings.Builder
	b.WriteString(text + "; last log lines:")
	for _, l := range logs[max(0, len(logs)-logLines):] {
		b.WriteString("\n  " + safe.Line(l.Text, 500))
	}
	return errors.New(b.String())
}

// brief says the reason of a failed attempt without the parts that are the same each time.
func brief(err error) string {
	var timeout net.Error
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF):
		return "connection closed without an answer"
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Sprintf("none within %v", oneAttempt)
	}
	return safe.Line(err.Error(), 300)
}
