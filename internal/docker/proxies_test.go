package docker

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/testenv/fakedocker"
)

func TestReadProxies(t *testing.T) {
	const host = "tcp://10.0.0.5:2376"
	for name, c := range map[string]struct {
		config string // "": no file
		want   map[string]string
		fails  string
	}{
		"no file":  {"", nil, ""},
		"none":     {`{"currentContext":"x"}`, map[string]string{}, ""},
		"not JSON": {`{`, map[string]string{}, "config.json"},
		"default": {`{"proxies":{"default":{"httpProxy":"http://p:1","noProxy":"a,b","ftpProxy":"","other":"x","allProxy":7}}}`,
			map[string]string{"HTTP_PROXY": "http://p:1", "http_proxy": "http://p:1", "NO_PROXY": "a,b", "no_proxy": "a,b"}, ""},
		"of this engine": {`{"proxies":{"default":{"httpProxy":"http://p:1"},"` + host + `":{"httpsProxy":"http://q:1"}}}`,
			map[string]string{"HTTPS_PROXY": "http://q:1", "https_proxy": "http://q:1"}, ""},
	} {
		dir := t.TempDir()
		if c.config != "" {
			testenv.OK(t, os.WriteFile(filepath.Join(dir, "config.json"), []byte(c.config), 0o600))
		}
		ep, err := resolve(func(key string) string {
			return map[string]string{"DOCKER_CONFIG": dir, "DOCKER_HOST": host}[key]
		}, "")
		if c.fails != "" {
			testenv.Fails(t, err, c.fails)
			continue
		}
		testenv.Check(t, err == nil && maps.Equal(ep.proxies, c.want),
			"%s: %v, %v; want %v", name, ep.proxies, err, c.want)
	}
}

// TestBuildImage_Proxies: they are build arguments unless the manifest has its own, and their
// passwords are in no output and no error.
func TestBuildImage_Proxies(t *testing.T) {
	f := fakedocker.New()
	const address = "http://ann:s3cret-of-ann@p:1"
	f.Responses["POST /build"] = reply(200, `{"stream":"env: `+address+`\n"}`+"\n"+`{"error":"no way through s3cret-of-ann"}`)
	e := engineOf(t, f)
	e.proxies = map[string]string{"http_proxy": address, "no_proxy": "a"}
	var out bytes.Buffer
	_, err := e.BuildImage(t.Context(), strings.NewReader("tar"), BuildOptions{Args: map[string]string{"no_proxy": "b"}}, &out)
	testenv.Fails(t, err, "no way through ***")
	testenv.Equal(t, strings.Contains(out.String()+err.Error(), "s3cret"), false, out.String(), err)
	testenv.Equal(t, strings.Contains(out.String(), "@p:1"), true, out.String())
	testenv.Equal(t, f.Requests("POST /build")[0].Query.Get("buildargs"), `{"http_proxy":"`+address+`","no_proxy":"b"}`)
}
