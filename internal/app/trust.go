package app

import (
	"crypto/tls"
	"crypto/x509"
	"path/filepath"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
)

// trustOf returns the certificates that the options trust; nil for the system's.
func trustOf(o RunOptions, targets []bench.Target) (*bench.TLS, error) {
	given := map[bool]string{true: "--insecure", false: "--cacert"}[o.Insecure]
	switch {
	case o.CACert == "" && !o.Insecure:
		return nil, nil
	case o.CACert != "" && o.Insecure:
		return nil, console.Usagef(
			"use either --cacert or --insecure: with --insecure any certificate is accepted",
		)
	case !slices.ContainsFunc(targets, func(t bench.Target) bool { return strings.HasPrefix(t.URL, "https:") }):
		return nil, console.Usagef("%s needs --target https://…", given)
	case o.Insecure:
		return &bench.TLS{Insecure: true}, nil
	}
	file, err := filepath.Abs(o.CACert)
	if err != nil {
		return nil, err
	}
	trusts := &bench.TLS{CACert: file}
	_, err = tlsConfig(trusts)
	return trusts, err
}

const maxCACert = 16 << 20 // bytes; the bundle of a whole system has less than 1 MiB

// tlsConfig returns the TLS configuration of the client; nil for the defaults.
func tlsConfig(t *bench.TLS) (*tls.Config, error) {
	switch {
	case t == nil:
		return nil, nil
	case t.Insecure:
		return &tls.Config{InsecureSkipVerify: true}, nil
	}
	pem, err := safe.ReadFile(t.CACert, maxCACert)
	if err != nil {
		return nil, console.Usagef("--cacert: %v", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, console.Usagef("--cacert %s: no PEM certificate found (-----BEGIN CERTIFICATE-----)",
			t.CACert)
	}
	return &tls.Config{RootCAs: pool}, nil
}
