package metrics

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"locbench/internal/contact"
	"locbench/internal/secret"
)

const (
	attempts    = 3
	patience    = 5 * time.Second // for one attempt
	lastChance  = 5 * time.Second // for the push after the end of the run
	defaultPath = "/metrics/job/locbench"
)

// Push puts the state to url every so often.
type Push struct {
	URL   string // with a password, where one is needed; without a path it is that of a Pushgateway
	Every time.Duration
	Pause time.Duration // before the second attempt, twice as long before the third; 500 ms when 0
	// Failed gets the first push in a row that has failed for good, in words without the URL; Again
	// of the first one that works after it.
	Failed func(error)
	Again  func()

	transport http.RoundTripper // of tests; nil: the network
}

// Endpoint checks a URL to push to and adds the path that a Pushgateway wants where there is none.
// The error does not hold the URL.
func Endpoint(text string) (string, error) {
	u, err := secret.ParseURL(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.Fragment != "" {
		return "", errors.New("it is no URL of a Pushgateway; one looks like http://127.0.0.1:9091 or http://127.0.0.1:9091/metrics/job/locbench")
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = defaultPath
	}
	return u.String(), nil
}

// Run pushes until ctx ends, and then once more, so that the end of the run is reported too.
func (p Push) Run(ctx context.Context, r *Run) {
	transport := p.transport
	if transport == nil {
		transport = &http.Transport{Proxy: secret.Proxy, MaxIdleConns: 1, IdleConnTimeout: time.Minute, ResponseHeaderTimeout: patience}
	}
	client := &http.Client{
		Transport:     transport,
		CheckRedirect: contact.StayHere,
	}
	defer client.CloseIdleConnections()
	tick := time.NewTicker(max(p.Every, 100*time.Millisecond))
	defer tick.Stop()
	failing := false
	push := func(ctx context.Context) {
		err := p.retried(ctx, client, r)
		switch {
		case ctx.Err() != nil:
		case err != nil && !failing:
			p.Failed(err)
			failing = true
		case err == nil && failing:
			p.Again()
			failing = false
		}
	}
	for {
		select {
		case <-tick.C:
			push(ctx)
		case <-ctx.Done():
			last, done := context.WithTimeout(context.WithoutCancel(ctx), lastChance)
			defer done()
			push(last)
			return
		}
	}
}

// retried is one push, in several attempts. What can only fail again is not tried again.
func (p Push) retried(ctx context.Context, client *http.Client, r *Run) error {
	var b bytes.Buffer
	_ = r.Write(&b) // a buffer takes everything
	if b.Len() == 0 {
		return nil
	}
	pause := cmp.Or(p.Pause, 500*time.Millisecond)
	var err error
	for i := range attempts {
		if i > 0 {
			select {
			case <-time.After(pause << (i - 1)):
			case <-ctx.Done():
				return err
			}
		}
		var final bool
		if final, err = p.once(ctx, client, b.Bytes()); err == nil || final {
			return err
		}
	}
	return fmt.Errorf("%w (%d attempts)", err, attempts)
}

// once is one attempt; final says that another one would fail too.
func (p Push) once(ctx context.Context, client *http.Client, body []byte) (final bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, p.URL, bytes.NewReader(body))
	if err != nil {
		return true, errors.New("the URL cannot be asked")
	}
	req.Header.Set("Content-Type", ContentType)
	resp, err := client.Do(req)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok { // it holds the URL, and with that perhaps a token
			err = e.Err
		}
		return false, err
	}
	defer resp.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(resp.Body, 300))
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return resp.StatusCode < 500 && resp.StatusCode != http.StatusTooManyRequests, errors.New(strings.TrimSuffix(fmt.Sprintf("answer %d: %s", resp.StatusCode, strings.TrimSpace(string(said))), ": "))
	}
	return false, nil
}
