package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/contact"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
)

const probeTimeout = 10 * time.Second

func (s *Store) openExternal(ctx context.Context, spec Spec, _ Options) error {
	clean, err := checkURL(spec.URL)
	if err != nil {
		return fmt.Errorf("open external store: %w", err)
	}
	s.url = clean
	body, err := s.probe(ctx)
	if err != nil {
		return fmt.Errorf("open external store %s: %w", secret.WithoutUser(clean), err)
	}
	s.identity = string(body)
	return nil
}

// checkURL returns raw without a trailing slash, or an error if it cannot be the URL of a store.
func checkURL(raw string) (string, error) {
	if raw == "" {
		return "", errors.New("no URL given: expected one such as http://127.0.0.1:9200")
	}
	u, err := secret.ParseURL(raw)
	if err != nil {
		return "", errors.New("malformed URL") // the cause would repeat the URL, with its password
	}
	if !secret.IsHTTP(u) {
		return "", fmt.Errorf("%q: expected a URL such as http://127.0.0.1:9200", secret.Address(raw))
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("%s: remove the query or fragment from the URL", secret.Address(raw))
	}
	u.Path = strings.TrimRight(u.Path, "/")
	return u.String(), nil
}

// direct returns the URL at which contenders reach a store on this machine that listens on loopback
// and also on the host of addr. It returns "" if the store does not listen there, or if another
// server does.
func (s *Store) direct(ctx context.Context, addr, target string) string {
	host, _, errHost := net.SplitHostPort(addr)
	_, port, errPort := net.SplitHostPort(target)
	if errHost != nil || errPort != nil || s.identity == "" {
		return ""
	}
	base := withHost(s.url, net.JoinHostPort(host, port))
	// The response to GET / names the node and, by its UUID, the cluster.
	if body, err := identity(ctx, base); err != nil || string(body) != s.identity {
		return ""
	}
	return base
}

// identity returns the store's response to GET /: its name, its cluster, its version.
func identity(ctx context.Context, base string) ([]byte, error) {
	status, body, err := ask(ctx, base+"/")
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("GET / returned %d %s", status, safe.Line(string(body), 200))
	}
	return body, err
}

// ask sends one GET; see call.
func ask(ctx context.Context, url string) (status int, body []byte, err error) {
	return call(ctx, http.MethodGet, url, "")
}

// call sends one request, with json as its body unless that is "", and reads the whole response
// within probeTimeout. The error does not contain the URL.
func call(ctx context.Context, method, url, json string) (status int, body []byte, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, probeTimeout, fmt.Errorf("no response within %v", probeTimeout))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(json))
	if err != nil {
		return 0, nil, errors.New("malformed URL")
	}
	if json != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	transport := &http.Transport{DisableKeepAlives: true} // without a proxy, as contenders reach it
	resp, err := (&http.Client{Transport: transport, CheckRedirect: contact.StayHere}).Do(req)
	if err != nil {
		return 0, nil, reason(ctx, err)
	}
	defer resp.Body.Close()
	if err := contact.Redirected(resp); err != nil {
		return 0, nil, err
	}
	if body, err = io.ReadAll(io.LimitReader(resp.Body, 64<<10)); err != nil {
		return 0, nil, fmt.Errorf("read response: %w", reason(ctx, err))
	}
	return resp.StatusCode, body, nil
}

// ErrNoIndex is returned by Count for an index that the store does not have.
var ErrNoIndex = errors.New("no such index")

// Count returns the number of documents in an index. It includes the latest changes if the user of
// the URL may refresh the index.
func (s *Store) Count(ctx context.Context, index string) (int64, error) {
	at := s.url + "/" + url.PathEscape(index)
	_, _, _ = call(ctx, http.MethodPost, at+"/_refresh", "") // a user who may only read can still count
	status, body, err := ask(ctx, at+"/_count")
	var response struct {
		Count int64 `json:"count"`
	}
	switch {
	case err != nil:
	case status == http.StatusNotFound:
		return 0, ErrNoIndex
	case status != http.StatusOK:
		err = fmt.Errorf("the store returned %d %s", status, safe.Line(string(body), 200))
	default:
		err = json.Unmarshal(body, &response)
	}
	if err != nil {
		return 0, fmt.Errorf("count documents of %s at %s: %w", index, secret.WithoutUser(s.url), err)
	}
	return response.Count, nil
}

// Alive returns nil if the store responds.
func (s *Store) Alive(ctx context.Context) error {
	if s.url == "" {
		return nil
	}
	if _, err := identity(ctx, s.url); err != nil {
		return fmt.Errorf("reach %s: %w", secret.WithoutUser(s.url), err)
	}
	return nil
}

// probe requests the store's version and returns the whole response. Another version than 7 is a
// warning, since contenders may still work with it.
func (s *Store) probe(ctx context.Context) ([]byte, error) {
	body, err := identity(ctx, s.url)
	if err != nil {
		return nil, err
	}
	var info struct {
		Version struct{ Number, Distribution string }
	}
	if err := json.Unmarshal(body, &info); err != nil || info.Version.Number == "" {
		return nil, fmt.Errorf("not Elasticsearch: GET / returned %s", safe.Line(string(body), 200))
	}
	s.version = safe.Line(info.Version.Number, 50)
	if d := info.Version.Distribution; d != "" {
		s.version = safe.Line(d, 50) + " " + s.version
	}
	if !strings.HasPrefix(s.version, "7.") {
		text := fmt.Sprintf("the store is %s, not Elasticsearch 7: responses may differ", s.version)
		s.warnings.Add(bench.Warning{Text: text})
	}
	return body, nil
}

// reason returns why the context ended if that caused err, and otherwise err of net/http without
// the URL, which may hold a password.
func reason(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// hostPort returns the host and port of a URL that checkURL has accepted.
func hostPort(raw string) string {
	u, _ := secret.ParseURL(raw)
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	return net.JoinHostPort(u.Hostname(), port)
}

// withHost returns a URL that checkURL has accepted, with another host.
func withHost(raw, host string) string {
	u, _ := secret.ParseURL(raw)
	u.Host = host
	return u.String()
}
