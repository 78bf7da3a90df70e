package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestSecrets_Addresses uses passwords with characters that end an address.
func TestSecrets_Addresses(t *testing.T) {
	results := t.TempDir()
	for _, special := range []string{"#", "/", "?", " ", "%", "@", ":", "\\", "[", "\x7f"} {
		address := "http://elastic:hun" + special + "ter2word@10.0.0.5:9200"
		profile := fileOf(t, "p.yaml", fmt.Sprintf("requests: [{path: /}]\nneeds: {elasticsearch: {from: external, url: %q}}\nsteps: [{connections: 1, duration: 1s}]\n", address))
		for _, args := range [][]string{
			{"run", "--headless", "--target", address, "--out", filepath.Join(results, "x"), "--threshold", "fast"},
			{"run", "--headless", "--target", "a=" + address, "--target", "b=ftp://x"},
			{"run", "--headless", "--target", address + "#f", "--target", "b=ftp://x"},
			{"run", "--headless", "--elastic", address, "--profile", "nowhere"}, {"run", "--headless", "--elastic", address + "?q", "--cpus", "no"},
			{"run", "--headless", address},
			{"run", "--headless", "--profile", profile, "--cpus", "-1"}, {"profiles", "validate", profile}, {"profiles", "show", profile},
			{"services", "show", address}, {"services", "build", address}, {"check", address, "--suite", "nowhere.yaml"},
			{"seed", "--elastic", strings.Replace(address, "http", "ftp", 1)}, {"compare", address}, {address},
		} {
			lacks(t, strings.Join(args, " "), saying(t, args...), "ter2word", "hun"+special)
		}
	}
}

const secretManifest = `language: Go
framework: net/http with --token framework-secret
version: "1"
tags: [a]
env:
  DB_PASSWORD: env-secret-value
  DB_PW: pw-secret-value
  SETTINGS: '{"password":"json-secret-value"}'
  PEM: |
    bGluZS1vbmUtb2YtYS1rZXk
    bGluZS10d28tb2YtYS1rZXk
docker:
  dockerfile: Dockerfile
  args: {NPM_TOKEN: arg-secret-value, OPTIONS: "-Dpassword=option-secret-value"}
  command: [serve, --db-password, docker-secret-value]
process:
  build: [[sh, -c, "echo build with --api-key build-secret-value"]]
  command: [serve, --db-password, command-secret-value, -u, "me:user-secret-value", "Authorization: Bearer header-secret-value"]
variants:
  - {name: a, title: shows env-secret-value and command-secret-value, command: [serve, "--token=variant-secret-value"]}
`

// No command shows the secrets of a manifest, valid or not.
func TestSecrets_Manifest(t *testing.T) {
	dir := folderOf(t, map[string]string{"mine/service.yaml": secretManifest, "mine/Dockerfile": "FROM scratch\n"})
	broken := folderOf(t,
		map[string]string{"broken/service.yaml": "language: Go\nenv: {DB_PASSWORD: \"{{.Nothing}}broken-secret-value\", " +
			"PIN: [1]}\nport: x\nvariants: [{name: a, env: {A_TOKEN: \"{{broken-secret-value\"}}]\n"})
	shown := saying(t, "services", "show", "mine", "--services", dir)
	has(t, "show", shown, "DB_PASSWORD:…dockerfile: …framework: net/http…***")
	for name, text := range map[string]string{
		"show": shown, "list": saying(t, "services", "list", "--services", dir), "validate": saying(t, "services", "validate", dir),
		"complete":         saying(t, "__complete", "services", "show", "--services", dir, "mi"),
		"validate, broken": saying(t, "services", "validate", broken),
	} {
		lacks(t, name, text, "-secret", "bGluZS")
	}
}
