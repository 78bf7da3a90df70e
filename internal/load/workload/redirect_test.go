package workload

import (
	"net/url"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// A link is followed as a browser would, to the contender only.
func TestLinks(t *testing.T) {
	for _, c := range []struct{ link, want, wrong string }{
		{"/orders/1", "/orders/1", ""}, {"http://127.0.0.1:8080/orders/1?view=full#top", "/orders/1?view=full", ""},
		{"http://127.0.0.1:8080//evil.test", "//evil.test", ""}, {"http://127.0.0.1:80801/a", "", "another host"}, {"http://127.0.0.1:8080.evil.test/a", "", "not a URL"},
		{"HTTP://127.0.0.1:8080", "/", ""}, {"http://127.0.0.1:8080", "/", ""}, {"//127.0.0.1:8080/a", "/a", ""}, {"?page=2", "/shop/list?page=2", ""},
		{"next", "/shop/next", ""}, {"../up", "/up", ""}, {"/a/../b", "/b", ""}, {"/a%2Fb%zz", "/a%2Fb%zz", ""},
		{" /with space/ž?q=\"x\" ", "/with%20space/%C5%BE?q=%22x%22", ""}, {"?q=a b", "/shop/list?q=a%20b", ""},
		{"http://user:pw@127.0.0.1:8080/a", "/a", ""}, {"http://shop.test/a", "/a", ""}, {"/?to=//evil.test/", "/?to=//evil.test/", ""},
		{"http://evil.test/a", "", "another host than http://127.0.0.1:8080"}, {"//evil.test/a", "", "another host"},
		{"https://127.0.0.1:8080/a", "", "another host"}, {"http://127.0.0.1:8081/a", "", "another host"},
		{"http://127.0.0.1/a", "", "another host"}, {"http://127.0.0.1:8080@evil.test/", "", "another host"},
		{"mailto:a@b", "", "another host"}, {"", "", "not a link"}, {"#top", "", "not a link"},
		{"/a\r\nX: 1", "", "control characters"}, {"http://[::1", "", "not a URL"}, {"/" + strings.Repeat("x", maxLink-1), "/" + strings.Repeat("x", maxLink-1), ""}, {"/" + strings.Repeat("x", maxLink), "", "not a link"},
	} {
		base, _ := url.Parse("http://127.0.0.1:8080/api")
		s := sent{[]byte("/shop/list?page=1"), newOrigin(base, "Shop.test")}
		got, err := s.resolve(nil, []byte(c.link))
		testenv.Check(t, (c.wrong != "" || (err == nil && string(got) == c.want)) && (c.wrong == "" || (err != nil && strings.Contains(err.Error(), c.wrong))),
			"%.100q: %q, %v", c.link, got, err)
	}
	s := sent{[]byte("/a"), newOrigin(&url.URL{Scheme: "https", Host: "[::1]:443"}, "")}
	got, err := s.resolve(nil, []byte("https://[::1]/b"))
	testenv.Check(t, string(got) == "/b" && err == nil, "%s, %v", got, err)
}

func FuzzLinks(f *testing.F) {
	for _, link := range []string{"/a", "http://h:1/a b", "//x", "?", "\\\\evil", "/%zz", "http:a", "HTTP://H:1?x"} {
		f.Add(link)
	}
	f.Fuzz(func(t *testing.T, link string) {
		s := sent{[]byte("/a/b?c"), newOrigin(&url.URL{Scheme: "http", Host: "h:1"}, "")}
		got, err := s.resolve(nil, []byte(link))
		testenv.Need(t, err != nil || (len(got) != 0 && got[0] == '/' && !strings.ContainsFunc(string(got), func(c rune) bool { return c <= ' ' || c >= 0x7f })),
			"%q: %q", link, got)
	})
}
