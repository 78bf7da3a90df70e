//go:build acceptance && store

package check

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/store/dataset"
	"github.com/locbench/locbench/internal/testenv"
)

func TestLocationsOnElasticsearch(t *testing.T) {
	elastic := testenv.Elasticsearch(t)
	prefix := fmt.Sprintf("locbench-check-%d-", os.Getpid())
	fill(t, elastic, prefix)
	allGreen(t, serve(t, renaming(t, elastic, prefix)))
}

// TestLocationsOnStores: each of these servers is seeded by the command, found unchanged, and gives all responses of the
// locations API. One that lacks a module says so, and which requests need it; seeded without that, it gives the same.
func TestLocationsOnStores(t *testing.T) {
	for _, s := range []struct{ variable, version, lacks string }{
		{"LOCBENCH_TEST_OPENSEARCH_2", "opensearch 2.19.1", ""},
		{"LOCBENCH_TEST_OPENSEARCH_3", "opensearch 3.8.0", ""},
		{"LOCBENCH_TEST_ELASTICSEARCH_8", "8.5.0", "search_as_you_type"},
	} {
		t.Run(s.version, func(t *testing.T) {
			elastic := testenv.Named(t, "elasticsearch", s.variable, s.version+" (.ci/elasticsearch start)")
			args := []string{"--quiet"}
			if s.lacks != "" {
				says(t, 1, "the server has no field type "+s.lacks+" (module mapper-extras), which GET /city/v1/search needs",
					"seed", "--force", "--elastic", elastic)
				args = append(args, "--from", plain(t, s.lacks))
			}
			args = append(args, "--elastic", elastic)
			says(t, 0, "14,945 documents counted", append([]string{"seed", "--force"}, args...)...)
			says(t, 0, "14,945 documents, unchanged", append([]string{"seed"}, args...)...)
			says(t, -1, "version "+s.version, "doctor", "--elastic", elastic)
			allGreen(t, serve(t, renaming(t, elastic, "")))
		})
	}
}

// TestStoreWithTLS: an Elasticsearch 8 is installed with TLS, its own CA, and users.
func TestStoreWithTLS(t *testing.T) {
	elastic := testenv.Named(t, "elasticsearch", "LOCBENCH_TEST_ELASTICSEARCH_8", "Elasticsearch 8 (.ci/elasticsearch start)")
	u := testenv.Must(url.Parse(elastic))(t)
	says(t, 1, "if the server has TLS, as Elasticsearch from 8 on by default, write https://", "seed", "--elastic", "http://"+u.Host)
	says(t, 1, "add user and password to the URL", "seed", "--elastic", "https://"+u.Host)
	says(t, 1, "unable to authenticate user [locbench]", "seed", "--elastic", "https://locbench:wrong@"+u.Host)
	t.Setenv(authority, os.DevNull)
	says(t, 1, "certificate of https://"+u.Host+" not trusted (x509: certificate signed by unknown authority): add its CA",
		"seed", "--elastic", elastic)
}

// authority names the file with the CA of the Elasticsearch 8.
const authority = "LOCBENCH_TEST_ELASTICSEARCH_8_CA"

// says starts the command, with the CA of the Elasticsearch 8, and looks for a text in what it says; code -1: any.
func says(t *testing.T, code int, want string, args ...string) {
	t.Helper()
	cmd := exec.Command(testenv.Locbench(t), args...)
	cmd.Env = append(os.Environ(), "SSL_CERT_FILE="+os.Getenv(authority))
	out, _ := cmd.CombinedOutput()
	got := cmd.ProcessState.ExitCode()
	testenv.Check(t, (code < 0 || got == code) && strings.Contains(strings.Join(strings.Fields(string(out)), " "), want),
		"%v: exit code %d, want %d with %q:\n%s", args, got, code, want, out)
}

// plain returns the folder of a dump of the bundled data whose mapping has text in place of a type.
func plain(t *testing.T, instead string) string {
	t.Helper()
	set, files := testenv.Must(dataset.Bundled())(t), map[string]string{}
	for _, index := range set.Indices() {
		files[index.Name+".mapping.json"] = strings.ReplaceAll(string(index.Mapping), `"`+instead+`"`, `"text"`)
		var docs strings.Builder
		for doc, err := range set.Documents(index.Name) {
			testenv.OK(t, err)
			fmt.Fprintf(&docs, "{\"index\":{\"_id\":%q}}\n%s\n", doc.ID, doc.Source)
		}
		files[index.Name+".ndjson"] = docs.String()
	}
	return testenv.Folder(t, files)
}

// TestLocationsOnEmbeddedWhole is TestLocationsOnEmbedded with all of the data.
func TestLocationsOnEmbeddedWhole(t *testing.T) {
	set := testenv.Must(dataset.Bundled())(t)
	allGreen(t, serve(t, embeddedStore(t, set)))
}

// renaming is a proxy of a shared Elasticsearch: requests of the contender for the indices city and
// region go to those of this test.
func renaming(t *testing.T, elastic, prefix string) string {
	t.Helper()
	target := testenv.Must(url.Parse(elastic))(t)
	password, _ := target.User.Password()
	// The command has verified the certificate.
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, MaxIdleConnsPerHost: 10}
	t.Cleanup(transport.CloseIdleConnections)
	proxy := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.SetBasicAuth(target.User.Username(), password)
		if r.In.URL.Path != "/" {
			r.Out.URL.Path = "/" + prefix + strings.TrimPrefix(r.In.URL.Path, "/")
		}
		r.SetURL(target)
	}}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return server.URL
}

// fill loads the bundled documents into new indices, which are removed when the test ends.
func fill(t *testing.T, elastic, prefix string) {
	t.Helper()
	set := testenv.Must(dataset.Bundled())(t)
	for _, index := range set.Indices() {
		name := elastic + "/" + prefix + index.Name
		t.Cleanup(func() { send(t, http.MethodDelete, name, nil) })
		send(t, http.MethodPut, name, index.Mapping)
		var bulk bytes.Buffer
		flush := func() {
			if bulk.Len() == 0 {
				return
			}
			response := send(t, http.MethodPost, name+"/_bulk?filter_path=errors", bulk.Bytes())
			testenv.Need(t, strings.Contains(response, `"errors":false`), "bulk into %s: %s", name, response)
			bulk.Reset()
		}
		for doc, err := range set.Documents(index.Name) {
			testenv.OK(t, err)
			fmt.Fprintf(&bulk, "{\"index\":{\"_id\":%q}}\n%s\n", doc.ID, doc.Source)
			if bulk.Len() > 4<<20 {
				flush()
			}
		}
		flush()
		send(t, http.MethodPost, name+"/_refresh", nil)
	}
}

func send(t *testing.T, method, url string, body []byte) string {
	t.Helper()
	req := testenv.Must(http.NewRequest(method, url, bytes.NewReader(body)))(t)
	req.Header.Set("Content-Type", "application/json")
	resp := testenv.Must(http.DefaultClient.Do(req))(t)
	defer resp.Body.Close()
	response, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	testenv.Need(t, resp.StatusCode == http.StatusOK, "%s %s: %s %s", method, url, resp.Status, response)
	return string(response)
}
