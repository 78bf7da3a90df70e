package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	storeTimeout = 10 * time.Second
	maxAnswer    = 16 << 20 // bytes of one answer of the store
	maxIdle      = 1024     // connections to the store that are kept; the default of 2 would open one for nearly every request
)

// errNoDocument says that the store has no document of that id.
var errNoDocument = errors.New("no such document")

// store asks Elasticsearch.
type store struct {
	base   string
	client *http.Client
}

func newStore(base *url.URL) *store {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = maxIdle, maxIdle
	transport.DisableCompression = true // it would cost both sides more than the bytes
	u := *base
	u.RawQuery, u.Fragment = "", ""
	return &store{strings.TrimRight(u.String(), "/"), &http.Client{Transport: transport, Timeout: storeTimeout}}
}

// ping makes one round trip.
func (s *store) ping(ctx context.Context) error { return s.get(ctx, "/", nil) }

// source reads the document of that id into dst. geometry, most of a document, is left out.
func (s *store) source(ctx context.Context, index string, id int64, dst any) error {
	return s.get(ctx, fmt.Sprintf("/%s/_source/%d?_source_excludes=geometry,population", index, id), dst)
}

func (s *store) get(ctx context.Context, path string, dst any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+path, nil)
	if err != nil {
		return fmt.Errorf("GET %s: %w", path, err)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // without the URL, which may hold a password
		}
		return fmt.Errorf("GET %s: %w", path, err)
	}
	defer resp.Body.Close()
	// Read to the end, so that the connection can be used again.
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	switch {
	case err != nil:
		return fmt.Errorf("GET %s: read answer: %w", path, err)
	case resp.StatusCode == http.StatusNotFound:
		return fmt.Errorf("GET %s: %w", path, errNoDocument)
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("GET %s: status %d: %.300q", path, resp.StatusCode, body)
	case dst == nil:
		return nil
	}
	if err := json.Unmarshal(body, dst); err != nil {
		return fmt.Errorf("GET %s: read answer: %w", path, err)
	}
	return nil
}
