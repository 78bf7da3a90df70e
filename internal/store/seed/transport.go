package seed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/text/contact"
)

// Limits for what a server sends.
const (
	readTimeout   = 10 * time.Second // for a request that only reads, up to the last byte of its response
	changeTimeout = 2 * time.Minute  // for a request that changes something, such as a bulk

	maxHeader   = 64 << 10
	maxResponse = 32 << 20 // enough for all aliases, a dump's largest mapping and the results of maxDocs documents
	maxError    = 1 << 20  // the rest of an error page is not read
)

// newHTTP returns a client that does not follow redirects.
func newHTTP(workers int, dial dialer) *http.Client {
	if dial == nil {
		dial = (&net.Dialer{Timeout: 10 * time.Second}).DialContext
	}
	return &http.Client{CheckRedirect: contact.StayHere, Transport: &http.Transport{
		DialContext:            dial,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxIdleConnsPerHost:    workers + 1,
		MaxResponseHeaderBytes: maxHeader,
		WriteBufferSize:        256 << 10, // bodies are many kB; 4 kB at a time would be many system calls
		DisableCompression:     true,      // responses are short
	}}
}

// doer limits responses in length and in time.
type doer struct{ client *http.Client }

// Do sends req and reads the response, both within the timeout.
func (d doer) Do(req *http.Request) (*http.Response, error) {
	within := changeTimeout
	if req.Method == http.MethodGet || strings.HasSuffix(req.URL.Path, "/_count") {
		within = readTimeout
	}
	if req.Body != nil && req.ContentLength == 0 { // the library sets the length only for strings
		whole, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(whole)), int64(len(whole))
	}
	ctx, cancel := context.WithTimeoutCause(req.Context(), within, silence(within))
	defer cancel()
	resp, err := d.client.Do(req.WithContext(ctx))
	var body []byte
	if err == nil {
		body, err = readResponse(resp)
	}
	if err != nil {
		if s, ok := errors.AsType[permanent](context.Cause(ctx)); ok { // the timeout of this call, or of the cleanUp around it
			err = s
		}
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// readResponse reads at most maxResponse bytes; more is an error. Of an error page it reads at most
// maxError bytes and ignores the rest.
func readResponse(resp *http.Response) ([]byte, error) {
	defer resp.Body.Close()
	if err := contact.Redirected(resp); err != nil {
		return nil, permanent{err}
	}
	if resp.StatusCode > 299 {
		body, err := io.ReadAll(io.LimitReader(resp.Body, maxError))
		if resp.Request.URL.Scheme == "http" && contact.WantsTLS.Match(body) && !json.Valid(body) {
			return nil, permanent{contact.OtherScheme(resp.Request.URL)}
		}
		return body, err
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse+1))
	if err == nil && len(body) > maxResponse {
		err = permanent{fmt.Errorf("response longer than %d bytes; is Elasticsearch running there?", maxResponse)}
	}
	return body, err
}

// silence is the error of a request without a response within this time.
func silence(within time.Duration) error {
	return permanent{fmt.Errorf("no response within %v", within)}
}
