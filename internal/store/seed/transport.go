package seed

import (
	"bytes"
	"context"
	"errors"
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
	askTimeout    = 10 * time.Second // for a question, from its first byte to the last one of its answer
	changeTimeout = 2 * time.Minute  // for what changes something, such as a bulk request, likewise

	maxHeader = 64 << 10
	maxAsked  = 16 << 20 // of an answer to a question: all aliases, or a mapping as large as a dump's may be
	maxOther  = 1 << 20  // of any other answer, and of every page of an error
	maxItem   = 2 << 10  // of what a bulk's answer says about a document, besides what it may repeat of it
)

// minDocument is the least size of a document in a bulk: both lines with an id of one letter.
const minDocument = len(`{"create":{"_id":"1"}}` + "\n{}\n")

// maxBulkAnswer bounds the answer to a bulk of so many bytes: room for each document that may be
// in it, and to repeat the body, escaped. An error may quote a document.
func maxBulkAnswer(sent int64) int64 {
	docs := min(sent/int64(minDocument)+1, maxDocs)
	return maxHeader + maxItem*docs + 2*sent
}

// transports are those for bulks and for all other calls.
func transports(workers int, dial dialer) (bulks, others *http.Transport) {
	if dial == nil {
		dial = (&net.Dialer{Timeout: 10 * time.Second}).DialContext
	}
	others = &http.Transport{
		Proxy:                  secret.Proxy,
		DialContext:            dial,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxIdleConnsPerHost:    workers + 1,
		MaxResponseHeaderBytes: maxHeader,
		WriteBufferSize:        256 << 10, // bodies are megabytes; 4 kB at a time would be many system calls
		DisableCompression:     true,      // answers are short
	}
	bulks = others.Clone()
	bulks.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return bulkConn{c}, nil
	}
	return bulks, others
}

// bulkConn leaves it to the reader to find out that the other side has closed the connection. One
// that refuses a body by its length may do so while it is still being sent: its answer can be read
// then, but the error of the next write would come before it.
type bulkConn struct{ net.Conn }

func (c bulkConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	timeout, ok := errors.AsType[net.Error](err)
	if err == nil || errors.Is(err, net.ErrClosed) || ok && timeout.Timeout() {
		return n, err
	}
	return len(p), nil
}

// doer bounds answers, in length and in time, and does not follow redirects.
type doer struct{ bulks, others *http.Client }

func newDoer(bulks, others *http.Transport) doer {
	return doer{
		bulks:  &http.Client{Transport: bulks, CheckRedirect: contact.StayHere},
		others: &http.Client{Transport: others, CheckRedirect: contact.StayHere},
	}
}

// Do sends req and reads the answer, both within the time.
func (d doer) Do(req *http.Request) (*http.Response, error) {
	client, within, most := d.others, silence(changeTimeout), int64(maxOther)
	switch {
	case req.Method == http.MethodGet:
		within, most = silence(askTimeout), maxAsked
	case strings.HasSuffix(req.URL.Path, "/_count"):
		within = silence(askTimeout)
	case strings.HasSuffix(req.URL.Path, "/_bulk"):
		client, most = d.bulks, maxBulkAnswer(req.ContentLength)
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
	resp, err := client.Do(req.WithContext(ctx))
	var body []byte
	if err == nil {
		body, err = readAnswer(resp, most)
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

// readAnswer reads most bytes at the most. More is an error where they were to be understood; the
// rest of an error's page is left.
func readAnswer(resp *http.Response, most int64) ([]byte, error) {
	defer resp.Body.Close()
	if err := contact.Redirected(resp); err != nil {
		return nil, err
	}
	if resp.StatusCode > 299 {
		return io.ReadAll(io.LimitReader(resp.Body, min(most, maxOther)))
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	if err == nil && int64(len(body)) > most {
		err = longError(most)
	}
	return body, err
}

// longError is the error of an answer that is longer than any sensible one.
type longError int64

func (e longError) Error() string {
	return fmt.Sprintf("the answer is longer than %d bytes; is it Elasticsearch that answers there?", int64(e))
}

// silence is the error of a request that was not answered within that time.
type silence time.Duration

func (s silence) Error() string { return fmt.Sprintf("no answer within %v", time.Duration(s)) }

func isSilence(err error) bool {
	_, ok := errors.AsType[silence](err)
	return ok
}
