package needs

import (
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

func TestURL(t *testing.T) {
	env := map[string]string{"ES_USER": "reader", "ES_PASSWORD": "p@ss:w/rd ?#%", "ES_HOST": "10.0.0.5:9200", "ES_URL": "http://me:x@h:1/"}
	for text, want := range map[string]string{
		"http://127.0.0.1:9200/":                         "http://127.0.0.1:9200",
		"http://me:pw@h:1":                               "http://me:pw@h:1",
		"http://${ES_USER}:${ES_PASSWORD}@10.0.0.5:9200": "http://reader:p%40ss%3Aw%2Frd%20%3F%23%25@10.0.0.5:9200",
		"https://me:${ES_PASSWORD}@${ES_HOST}/x":         "https://me:p%40ss%3Aw%2Frd%20%3F%23%25@10.0.0.5:9200/x",
		"http://${ES_HOST}":                              "http://10.0.0.5:9200",
		"${ES_URL}":                                      "http://me:x@h:1",
	} {
		if got, err := URL("elastic", text, func(name string) string { return env[name] }); got != want || err != nil {
			t.Errorf("%s: %s, %v; want %s", text, got, err, want)
		}
	}
	env["ES_URL"] = "no://secret"
	for text, want := range map[string]string{
		"http://${ES_USER}:${ES_PASS}@h:1": "environment variable ES_PASS is not set or empty",
		"${ES_URL}":                        `"${ES_URL}": expected a URL`,
		"h:1":                              `"h:1": expected a URL`,
	} {
		_, err := URL("elastic", text, func(name string) string { return env[name] })
		testenv.Check(t, err != nil && strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), "secret"),
			"%s: %v, want %q", text, err, want)
	}
}
