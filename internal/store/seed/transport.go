package seed

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"locbench/internal/text/contact"
	"locbench/internal/text/secret"
)

// Bounds of what a server may do to us.
const (
	askTimeout    = 10 * time.Second // for a question, from its first byte to the last one of its response
	changeTimeout = 2 * time.Minute  // for what changes something, such as a bulk request, likewise

	maxHeader   = 64 << 10
	maxResponse = 32 << 20 // all aliases, a mapping as large as a dump's may be, what became of maxDocs documents
	maxError    = 1 << 20  // what is read of the page of an error
)

// newHTTP does not follow redirects.
func newHTTP(workers int, dial dialer) *http.Client {
	if dial == nil {
		dial = (&net.Dialer{Timeout: 10 * time.Second}).DialContext
	}
	return &http.Client{CheckRedirect: contact.StayHere, Transport: &http.Transport{
		Proxy:                  secret.Proxy,
		DialContext:            dial,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxIdleConnsPerHost:    workers + 1,
		MaxResponseHeaderBytes: maxHeader,
		WriteBufferSize:        256 << 10, // bodies are many kB; 4 kB at a time would be many system calls
		DisableCompression:     true,      // answers are short
	}}
}

// doer bounds answers, in length and in time.
type doer struct{ client *http.Client }

// Do sends req and reads the response, both within the time.
func (d doer) Do(req *http.Request) (*http.Response, error) {
	within := silence(changeTimeout)
	if req.Method == http.MethodGet || strings.HasSuffix(req.URL.Path, "/_count") {
		within = silence(askTimeout)
	}
	if req.Body != nil && req.ContentLength == 0 { // the library sets the length of texts only
		whole, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(whole)), int64(len(whole))
	}
	ctx, cancel := context.WithTimeoutCause(req.Context(), time.Duration(within), within)
	defer cancel()
	resp, err := d.client.Do(req.WithContext(ctx))
	var body []byte
	if err == nil {
		body, err = readResponse(resp)
	}
	if err != nil {
		if s, ok := context.Cause(ctx).(silence); ok { // of this call, or of the clean-up that it belongs to
			err = s
		}
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// readResponse reads maxResponse bytes at the most. More is an error where they were to be understood;
// the rest of an error's page is left.
func readResponse(resp *http.Response) ([]byte, error) {
	defer resp.Body.Close()
	if err := contact.Redirected(resp); err != nil {
		return nil, err
	}
	if resp.StatusCode > 299 {
		return io.ReadAll(io.LimitReader(resp.Body, maxError))
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse+1))
	if err == nil && len(body) > maxResponse {
		err = longError(maxResponse)
	}
	return body, err
}

// longError is the error of a response that is longer than any sensible one.
type longError int64

func (e longError) Error() string {
	return fmt.Sprintf("the response is longer than %d bytes; is it Elasticsearch that responses there?", int64(e))
}

// silence is the error of a request that was not answered within that time.
type silence time.Duration

func (s silence) Error() string { return fmt.Sprintf("no response within %v", time.Duration(s)) }
