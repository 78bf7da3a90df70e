package contact

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/locbench/locbench/internal/text/safe"
)

// Hopeless returns what to do about an error that does not go away by waiting, or nil if it may. The caller says how to
// trust a certificate, and what accepts any (", or use --insecure"; "": nothing does).
func Hopeless(u *url.URL, err error, trust, insecure string) error {
	address := safe.Line(u.Scheme+"://"+u.Host, 200)
	var (
		unknown x509.UnknownAuthorityError
		name    x509.HostnameError
		invalid *tls.CertificateVerificationError
		dns     *net.DNSError
		record  tls.RecordHeaderError
	)
	switch {
	case errors.As(err, &unknown):
		return fmt.Errorf("certificate of %s not trusted (%w): %s%s", address, unknown, trust, insecure)
	case errors.As(err, &name):
		return fmt.Errorf("certificate of %s is for another name (%s): use that name%s", address,
			safe.Line(name.Error(), 300), insecure)
	case errors.As(err, &invalid):
		return fmt.Errorf("invalid certificate of %s (%s): renew it%s", address,
			safe.Line(invalid.Err.Error(), 300), insecure)
	case errors.As(err, &dns) && dns.IsNotFound:
		return fmt.Errorf("unknown host %q: %s", safe.Line(u.Hostname(), 200), safe.Line(dns.Error(), 200))
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &record):
		return OtherScheme(u)
	case u.Scheme == "http" && strings.Contains(err.Error(), tlsAlert):
		return OtherScheme(u)
	}
	return nil
}

// OtherScheme returns the error for a URL with http instead of https, or the reverse.
func OtherScheme(u *url.URL) error {
	right := map[string]string{"http": "https", "https": "http"}[u.Scheme]
	return fmt.Errorf("%s speaks %s, not %s: use %s", safe.Line(u.Host, 200), right, u.Scheme,
		safe.Line(right+"://"+u.Host, 200))
}

// A TLS server responds to a request without TLS with an alert or a 400. net/http has no type for
// the first, only these words with the alert's bytes; the second has only a text.
const tlsAlert = `malformed HTTP response "\x15\x03`

// WantsTLS matches the second.
var WantsTLS = regexp.MustCompile(`\b(HTTPS|SSL)\b`)
