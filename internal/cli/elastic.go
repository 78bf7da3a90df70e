package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"locbench/internal/store"
)

// elasticCount is the number of documents in an index; index "" only asks whether the store answers. A missing index is
// errNoIndex.
func elasticCount(ctx context.Context, base, index string) (int64, error) {
	u := strings.TrimRight(base, "/") + "/"
	if index != "" {
		u += url.PathEscape(index) + "/_count"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u, nil)
	if err != nil {
		return 0, fmt.Errorf("ask %s: %w", store.Redact(base), err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) {
			err = ue.Err // the URL in its text may hold a password
		}
		return 0, fmt.Errorf("ask %s: %w", store.Redact(base), err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	switch {
	case err != nil:
		return 0, fmt.Errorf("ask %s: %w", store.Redact(base), err)
	case resp.StatusCode == http.StatusNotFound && index != "":
		return 0, errNoIndex
	case resp.StatusCode != http.StatusOK:
		return 0, fmt.Errorf("ask %s: status %s", store.Redact(base), resp.Status)
	case index == "":
		return 0, nil
	}
	var answer struct {
		Count int64 `json:"count"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return 0, fmt.Errorf("count %s at %s: %w", index, store.Redact(base), err)
	}
	return answer.Count, nil
}

var errNoIndex = errors.New("no such index")

// splitURL returns host and port of a URL, with the scheme's port where it names none.
func splitURL(text string) (host, port string, err error) {
	u, err := url.Parse(text)
	if err != nil {
		return "", "", fmt.Errorf("store address: %w", err)
	}
	port = u.Port()
	if port == "" {
		port = "80"
		if u.Scheme == "https" {
			port = "443"
		}
	}
	return u.Hostname(), port, nil
}
