package workload

import (
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

func sentCookies(j *Jar, address, given string) string {
	u, _ := url.Parse(address)
	return string(j.append(nil, "", []byte(u.RequestURI()), []byte(given), newOrigin(u, "")))
}

func keepCookies(j *Jar, address string, set ...string) {
	u, _ := url.Parse(address)
	head := ""
	for _, one := range set {
		head += "Set-Cookie: " + one + "\r\n"
	}
	j.keep([]byte(head), []byte(u.RequestURI()), newOrigin(u, ""))
}

// A user keeps the cookies that a browser keeps, and sends those that it sends.
func TestCookies(t *testing.T) {
	const at = "http://shop.test:8080"
	for _, c := range []struct {
		name string
		set  []string
		to   string
		want string
	}{
		{"one", []string{"sid=1; Path=/; HttpOnly; SameSite=Lax"}, "/x", "sid=1"},
		{"the later one", []string{"sid=1; Path=/", "sid=2; Path=/"}, "/", "sid=2"},
		{"removed, then set", []string{"sid=; Path=/; Max-Age=0", "sid=abc123; Path=/", "lang=en; Path=/"}, "/", "sid=abc123; lang=en"},
		{"set, then removed", []string{"sid=1; Path=/", "sid=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT"}, "/", ""},
		{"another path removed", []string{"sid=1; Path=/", "sid=; Path=/old; Max-Age=0"}, "/old", "sid=1"},
		{"Max-Age over Expires", []string{"a=1; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT"}, "/app/x", "a=1"},
		{"years to come", []string{"a=1; Path=/; expires=Wed, 09 Jun 2060 10:18:14 GMT"}, "/", "a=1"},
		{"the path of the request", []string{"a=1"}, "/app/y?q=/", "a=1"},
		{"outside its path", []string{"a=1"}, "/apple", ""},
		{"a longer path first", []string{"a=1; Path=/", "b=2; Path=/app", "c=3; Path=/"}, "/app/y", "b=2; a=1; c=3"},
		{"more than a prefix", []string{"a=1; Path=/app"}, "/application", ""},
		{"its domain", []string{"a=1; Path=/; Domain=.Shop.test", "b=2; Path=/; Domain=test"}, "/", "a=1; b=2"},
		{"another domain", []string{"a=1; Path=/; Domain=evil.test", "b=1; Path=/; Domain=p.test"}, "/", ""},
		{"not over clear", []string{"a=1; Path=/; Secure"}, "/", ""},
	} {
		var j Jar
		keepCookies(&j, at+"/app/login", c.set...)
		testenv.Equal(t, sentCookies(&j, at+c.to, ""), c.want, c.name)
	}
	var j Jar
	keepCookies(&j, "https://shop.test/", "a=1; Secure", "sid=2")
	testenv.Equal(t, sentCookies(&j, "https://shop.test/", " sid=mine; x=y"), "a=1")
	keepCookies(&j, "http://127.0.0.1:1/", "ip=1; Domain=0.0.1")
	testenv.Equal(t, sentCookies(&j, "http://127.0.0.1:1/", ""), "")
}

// A cookie ends when its time is over, also in the copy that a session starts with.
func TestCookiesExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j, copied Jar
		keepCookies(&j, "http://h/", "a=1; Max-Age=2", "b=1; Expires="+time.Now().Add(3*time.Second).UTC().Format(http.TimeFormat))
		copied.copy(&j)
		for i, want := range []string{"a=1; b=1", "a=1; b=1", "b=1", ""} {
			testenv.Equal(t, sentCookies(&copied, "http://h/", ""), want, i)
			time.Sleep(time.Second)
		}
	})
}

// A jar sends what net/http's jar sends, whatever is set, replaced and removed in which order.
func TestCookiesAreThoseOfNetHTTP(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	any := func(of ...string) string { return of[rng.IntN(len(of))] }
	for range 1000 {
		theirs, _ := cookiejar.New(nil)
		var ours Jar
		var log []string
		paths := []string{"/", "/a", "/a/", "/a/b", "/ab", "/a/b/c"}
		for range rng.IntN(12) {
			address := any("http", "https") + "://" + any("shop.test", "a.shop.test") + any(paths...)
			set := any("a", "b", "sid") + "=" + any("0", "1", "2") + any("", "", "; Path="+any(paths...), "; path=x") +
				any("", "", "; Domain="+any("shop.test", ".a.shop.test", "test.shop", "op.test")) + any("", "; Secure") +
				any("", "; Max-Age="+any("0", "-5", "100", "x"), "; Expires="+any("Thu, 01 Jan 1970 00:00:00 GMT", "Wed, 09-Jun-2060 10:18:14 GMT"))
			log = append(log, address+" "+set)
			u, _ := url.Parse(address)
			theirs.SetCookies(u, (&http.Response{Header: http.Header{"Set-Cookie": {set}}}).Cookies())
			keepCookies(&ours, address, set)
		}
		address := any("http", "https") + "://" + any("shop.test", "a.shop.test") + any(paths...)
		u, _ := url.Parse(address)
		req := &http.Request{Header: http.Header{}}
		for _, c := range theirs.Cookies(u) {
			req.AddCookie(c)
		}
		if got, want := sentCookies(&ours, address, ""), req.Header.Get("Cookie"); got != want {
			t.Fatalf("to %s: %q, net/http sends %q, after\n%s", address, got, want, strings.Join(log, "\n"))
		}
	}
}

// A session costs no allocation for its cookies once its buffers are large enough.
func TestCookiesAreKeptWithoutAllocation(t *testing.T) {
	u, _ := url.Parse("http://127.0.0.1:8080/login")
	to := newOrigin(u, "")
	head := []byte("Date: x\r\nSet-Cookie: sid=abc123; Path=/; HttpOnly; Expires=Wed, 09 Jun 2060 10:18:14 GMT\r\nSet-Cookie: lang=en; Path=/; Max-Age=60\r\n")
	var setup, user Jar
	keepCookies(&setup, "http://127.0.0.1:8080/", "tenant=1", "old=2")
	dst := make([]byte, 0, 1000)
	if n := testing.AllocsPerRun(1000, func() {
		user.copy(&setup)
		user.keep(head, []byte("/login"), to)
		dst = user.append(dst[:0], "\r\nCookie: ", []byte("/private"), nil, to)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
	testenv.Check(t, string(dst) == "\r\nCookie: tenant=1; old=2; sid=abc123; lang=en", "%s", dst)
}

func FuzzSetCookie(f *testing.F) {
	for _, text := range []string{"a=1; Path=/; Expires=Wed, 09 Jun 2060 10:18:14 GMT", "=;;;=", "a=;max-age=99999999999999999999", "a=1;domain=;path=", "a=1; expires=::::1 jan"} {
		f.Add(text, "/x?y")
	}
	f.Fuzz(func(t *testing.T, text, target string) {
		var j Jar
		u := &url.URL{Scheme: "http", Host: "h.test:1"}
		j.keep([]byte("Set-Cookie: "+text+"\r\nSet-Cookie: b=1\r\n"), []byte(target), newOrigin(u, ""))
		got := j.append(nil, "", []byte(target), nil, newOrigin(u, ""))
		testenv.Need(t, !strings.ContainsAny(string(got), "\r\n") || strings.ContainsAny(text, "\r\n"), "%q", got)
		testenv.Need(t, j.size >= 0 && j.size <= maxCookiesSize && len(j.cookies) <= 2,
			"%d cookies, %d bytes", len(j.cookies), j.size)
	})
}
