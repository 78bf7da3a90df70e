package locations

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	storeTimeout = 10 * time.Second
	maxAnswer    = 16 << 20 // bytes of one answer of the store
	// maxIdle is how many connections to the store are kept. The default of 2 would open and close one for nearly every
	// request under load.
	maxIdle = 4096
	// sourceQuery leaves out what the service never needs; geometry is most of a document.
	sourceQuery = "_source_excludes=geometry,population"
)

// errNoDocument says that the store has no document of that id.
var errNoDocument = errors.New("no such document")

// store asks Elasticsearch.
type store struct {
	base   *url.URL
	client *http.Client
	bufs   sync.Pool // of *bytes.Buffer
}

func newStore(base *url.URL) *store {
	b := *base
	b.Path, b.RawQuery, b.Fragment = strings.TrimRight(b.Path, "/"), "", ""
	transport := &http.Transport{
		DialContext:         (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		MaxIdleConnsPerHost: maxIdle,
		IdleConnTimeout:     90 * time.Second,
		DisableCompression:  true, // it would cost both sides more than the bytes
	}
	return &store{
		base:   &b,
		client: &http.Client{Transport: transport},
		bufs:   sync.Pool{New: func() any { return new(bytes.Buffer) }},
	}
}

func (s *store) close() { s.client.CloseIdleConnections() }

// ping makes one round trip.
func (s *store) ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startWithin, fmt.Errorf("no answer within %s", startWithin))
	defer cancel()
	err := s.call(ctx, http.MethodGet, "/", "", nil, nil)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// source reads the document of that id into dst.
func (s *store) source(ctx context.Context, index string, id int64, dst any) error {
	return s.call(ctx, http.MethodGet, "/"+index+"/_source/"+strconv.FormatInt(id, 10), sourceQuery, nil, dst)
}

// search asks for cities. The hits come in the order of the store.
func (s *store) search(ctx context.Context, body any) ([]city, error) {
	b, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("search city: %w", err)
	}
	var found struct {
		Hits struct {
			Hits []struct {
				Source city `json:"_source"`
			} `json:"hits"`
		} `json:"hits"`
	}
	if err := s.call(ctx, http.MethodPost, "/city/_search", sourceQuery, b, &found); err != nil {
		return nil, err
	}
	cities := make([]city, len(found.Hits.Hits))
	for i := range found.Hits.Hits {
		cities[i] = found.Hits.Hits[i].Source
	}
	return cities, nil
}

// call makes one round trip. body and dst may be nil.
func (s *store) call(ctx context.Context, method, path, query string, body []byte, dst any) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	resp, err := s.client.Do(s.request(method, path, query, body).WithContext(ctx))
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // without the URL, which may hold a password
		}
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer resp.Body.Close()
	buf := s.bufs.Get().(*bytes.Buffer)
	defer s.bufs.Put(buf)
	buf.Reset()
	// Read to the end, so that the connection can be used again.
	n, err := buf.ReadFrom(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return fmt.Errorf("%s %s: read answer: %w", method, path, err)
	case n > maxAnswer:
		return fmt.Errorf("%s %s: the answer is longer than %d bytes", method, path, maxAnswer)
	case resp.StatusCode == http.StatusNotFound && method == http.MethodGet:
		return fmt.Errorf("%s %s: %w", method, path, errNoDocument)
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("%s %s: status %d: %q", method, path, resp.StatusCode, buf.Bytes()[:min(buf.Len(), 300)])
	}
	if dst == nil {
		return nil
	}
	if err := json.Unmarshal(buf.Bytes(), dst); err != nil {
		return fmt.Errorf("%s %s: read answer: %w", method, path, err)
	}
	return nil
}

// request is what http.NewRequest makes, without parsing the same URL again for every call.
func (s *store) request(method, path, query string, body []byte) *http.Request {
	u := *s.base
	u.Path += path
	u.RawQuery = query
	r := &http.Request{
		Method: method, URL: &u, Host: u.Host,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{},
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
		// A search changes nothing, so it may be sent again if a kept connection turns out to be closed. The key with
		// no value says so to the transport and is not sent.
		r.Header["X-Idempotency-Key"] = nil
		r.ContentLength = int64(len(body))
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		r.Body, _ = r.GetBody()
	}
	return r
}
