package app

import (
	"crypto/tls"
	"crypto/x509"
	"path/filepath"
	"slices"
	"strings"

	"locbench/internal/bench"
	"locbench/internal/text/console"
	"locbench/internal/text/safe"
)

// trustOf returns whom the options say to trust; nil where they leave that to the system.
func trustOf(o RunOptions, targets []bench.Target) (*bench.TLS, error) {
	given := map[bool]string{true: "--insecure", false: "--cacert"}[o.Insecure]
	switch {
	case o.CACert == "" && !o.Insecure:
		return nil, nil
	case o.CACert != "" && o.Insecure:
		return nil, console.Usagef(
			"use either --cacert or --insecure: with --insecure any certificate is " +
				"accepted",
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

const maxCACert = 16 << 20 // bytes; a bundle of all that a system trusts has less than one MiB

// tlsConfig returns what the client is configured with; nil where nothing is said.
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
