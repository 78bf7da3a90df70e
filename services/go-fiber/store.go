package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/valyala/fasthttp"
)

const (
	storeTimeout = 10 * time.Second
	maxAnswer    = 16 << 20 // bytes of one answer of the store
	maxConns     = 1024     // to the store; a request beyond them waits
)

// errNoDocument says that the store has no document of that id.
var errNoDocument = errors.New("no such document")

// store asks Elasticsearch through fasthttp's pooled client, the one that Fiber's own is made of.
type store struct {
	base   string
	client *fasthttp.Client
}

func newStore(base *url.URL) *store {
	u := *base
	u.RawQuery, u.Fragment = "", ""
	return &store{strings.TrimRight(u.String(), "/"), &fasthttp.Client{
		MaxConnsPerHost:     maxConns,
		MaxConnWaitTimeout:  storeTimeout,
		MaxIdleConnDuration: 30 * time.Second,
		MaxResponseBodySize: maxAnswer,
	}}
}

// ping makes one round trip.
func (s *store) ping(within time.Duration) error { return s.get("/", within, nil) }

// source reads the document of that id into dst. geometry, most of a document, is left out.
func (s *store) source(index string, id int64, dst any) error {
	return s.get(fmt.Sprintf("/%s/_source/%d?_source_excludes=geometry,population", index, id), storeTimeout, dst)
}

func (s *store) get(path string, within time.Duration, dst any) error {
	req, resp := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(resp)
	req.SetRequestURI(s.base + path)
	if err := s.client.DoTimeout(req, resp, within); err != nil {
		return fmt.Errorf("GET %s: %w", path, err)
	}
	switch status := resp.StatusCode(); {
	case status == fasthttp.StatusNotFound:
		return fmt.Errorf("GET %s: %w", path, errNoDocument)
	case status != fasthttp.StatusOK:
		return fmt.Errorf("GET %s: status %d: %.300q", path, status, resp.Body())
	case dst == nil:
		return nil
	}
	if err := json.Unmarshal(resp.Body(), dst); err != nil {
		return fmt.Errorf("GET %s: read answer: %w", path, err)
	}
	return nil
}
