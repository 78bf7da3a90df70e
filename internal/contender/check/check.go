// Package check compares a contender's responses and behavior with what is expected: HTTP checks,
// which are data (suites in YAML), and the lifecycle checks of a constrained microservice.
//
// A failed check is a result. Errors are for an unreadable suite and for a context that ended.
package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/contact"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
	"github.com/locbench/locbench/internal/text/unpack"
)

const (
	// DefaultTimeout is the time that one HTTP check may take.
	DefaultTimeout = 5 * time.Second
	maxBody        = 4 << 20 // bytes that are looked at of one body, packed or unpacked
	maxDetail      = 1000    // the most bytes of CheckResult.Detail
	maxSilent      = 3       // checks in a row without any response before the others are skipped
)

// Options say which checks HTTP runs against which service.
type Options struct {
	BaseURL   string // the service's URL
	Suite     *Suite
	Endpoints []string                // groups that the service has; HTTP skips the others. nil: all
	Way       contact.Way             // how requests reach the service
	Timeout   time.Duration           // of a check without its own; 0: DefaultTimeout
	OnResult  func(bench.CheckResult) // called after each check; may be nil
}

// HTTP runs the checks of the suite one after the other, in the order of the file. An error says
// why they could not run at all, or why ctx ended; the results until then are returned with it.
func HTTP(ctx context.Context, opt Options) (results []bench.CheckResult, err error) {
	if opt.Suite == nil {
		return nil, errors.New("check: no suite")
	}
	base, err := secret.ParseURL(opt.BaseURL)
	if err != nil || !secret.IsHTTP(base) {
		return nil, fmt.Errorf("check %s: not an http(s) URL", secret.Address(opt.BaseURL))
	}
	r := httpRun{client: opt.Way.Client(), base: strings.TrimRight(opt.BaseURL, "/"), timeout: opt.Timeout}
	defer r.client.CloseIdleConnections()
	if r.timeout <= 0 {
		r.timeout = DefaultTimeout
	}
	for _, g := range opt.Suite.Groups {
		for _, c := range g.Checks {
			res := bench.CheckResult{Group: g.Name, Name: c.Name, Suite: opt.Suite.Name}
			res.Request = safe.Line(c.Request.String(), 300)
			switch {
			case ctx.Err() != nil:
			case opt.Endpoints != nil && !slices.Contains(opt.Endpoints, g.Name):
				skip(&res, "not in the manifest's `endpoints`")
			case r.silent >= maxSilent:
				skip(&res, fmt.Sprintf("%d checks before it got no response", r.silent))
			default:
				r.one(ctx, c, &res)
			}
			if ctx.Err() != nil {
				return results, fmt.Errorf("checks of suite %s: %w", opt.Suite.Name, context.Cause(ctx))
			}
			results = append(results, res)
			if opt.OnResult != nil {
				opt.OnResult(res)
			}
		}
	}
	return results, nil
}

type httpRun struct {
	client  *http.Client
	base    string
	timeout time.Duration
	silent  int // checks in a row without any response
}

func (r *httpRun) one(ctx context.Context, c Check, res *bench.CheckResult) {
	start := time.Now()
	a, err := fetch(ctx, r.client, cmp.Or(c.Timeout, r.timeout), func(ctx context.Context) (*http.Request, error) {
		return c.Request.build(ctx, r.base)
	})
	res.Took = time.Since(start)
	if err != nil && a != nil {
		err = fmt.Errorf("response %d broke off after %d bytes: %w", a.status, len(a.body), err)
	}
	if err != nil {
		r.silent++
		fail(res, "%v", err)
		return
	}
	r.silent = 0
	res.Status, res.Value = bench.CheckPassed, strconv.Itoa(a.status)
	wrong, unread := c.Expect.judge(a)
	if len(wrong) > 0 {
		fail(res, "%s", strings.Join(wrong, "; "))
	} else if unread != nil {
		skip(res, "the body was not looked at: "+unread.Error())
	}
}

// fetch sends a request and reads the response within timeout, in part if there is an error.
func fetch(
	ctx context.Context, client *http.Client, timeout time.Duration, build func(context.Context) (*http.Request, error),
) (*response, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("no response within %s", timeout))
	defer cancel()
	req, err := build(ctx)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	resp, err := client.Do(req)
	if err != nil {
		return nil, reason(ctx, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err != nil {
		err = reason(ctx, err)
	}
	a := &response{status: resp.StatusCode, header: func() http.Header { return resp.Header }, body: body, took: time.Since(start)}
	encodings := strings.Join(resp.Header.Values("Content-Encoding"), ",")
	if len(body) > maxBody {
		a.unread = unpack.TooLong(maxBody)
	} else if encodings != "" && err == nil {
		a.body, a.unread = unpack.New(maxBody).Body([]byte(encodings), body)
	}
	return a, err
}

// reason returns the cause of the context's end, if it ended, or err without its URL.
func reason(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}
