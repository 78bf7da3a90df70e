package cli

import (
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// TestValidate: one command checks profiles and manifests, with what each has of the other.
func TestValidate(t *testing.T) {
	const profile = "contenders: [goes]\nservices: svc\nrequests: [{get: /}]\nsteps: [1]\n"
	t.Chdir(testenv.Folder(t, map[string]string{
		"p.yaml":                  profile,
		"svc/goes/service.yaml":   "docker: {image: 'a:1'}\nneeds: {db: {image: 'b:1', environment: {PASSWORD: '${PGPASSWORD}'}}}\n",
		"typo.yaml":               strings.Replace(profile, "steps", "stpes", 1),
		"unknown.yaml":            strings.Replace(profile, "goes", "node", 1),
		"missing.yaml":            strings.Replace(profile, "svc", "other", 1),
		"named.yaml":              "needs: {postgres: {image: 'b:1'}}\n" + strings.Replace(profile, "svc", "named", 1),
		"named/goes/service.yaml": "docker: {image: 'a:1'}\nenv: {URL: '{{.Needs.db.URL}}'}\n",
		"broken/service.yaml":     "name: x\nport: none\n",
		"compose.yaml":            "services: {db: {image: 'b:1'}}\nrequests: [{get: /}]\nsteps: [1]\n",
	}))
	says(t, 0, "p.yaml: ok: goes; rounds: 1;…sent from the environment: PGPASSWORD…svc/goes: ok: goes", "validate", "p.yaml", "svc")
	says(t, 0, "ok: goes", "validate", "svc/goes/service.yaml")
	for file, want := range map[string]string{
		"typo.yaml":           "typo.yaml:4: unknown key `stpes`",
		"unknown.yaml":        `/svc, and not bundled`,
		"missing.yaml":        "/other with contenders",
		"named.yaml":          `uses {{.Needs.db.URL}}, but the profile has no need "db"; its needs: postgres`,
		"broken":              "broken/service.yaml:2: ",
		"broken/service.yaml": "broken/service.yaml:2: ",
		"compose.yaml":        "compose.yaml:1: `services` is a map; write the folder with the contenders; services that they need, such as a database, are in `needs`",
		"none.yaml":           "unknown profile: no file none.yaml",
		"p":                   `unknown profile "p"; did you mean the file p.yaml?`,
	} {
		says(t, 2, want, "validate", file)
	}
	says(t, 2, "typo.yaml:4: …broken/service.yaml:2: ", "validate", "typo.yaml", "broken")
}

// TestManifestNeeds: commands that read manifests and profiles know the needs of both, and mask
// their passwords.
func TestManifestNeeds(t *testing.T) {
	const profile = "contenders: [goes, node]\nservices: svc\nrequests: [{get: /}]\nsteps: [1]\n"
	own := "docker: {image: 'a:1'}\nneeds: {db: {image: 'postgres:17', command: [postgres, -c, fsync=off]}}\n"
	dir := testenv.Folder(t, map[string]string{"p.yaml": profile, "svc/goes/service.yaml": own, "svc/node/service.yaml": own,
		"other/goes/service.yaml": "docker: {image: 'a:1'}\nneeds: {db: {image: 'postgres:17', environment: {POSTGRES_PASSWORD: hunter22}, hostname: hunter22}}\n",
		"other/node/service.yaml": "docker: {image: 'a:1'}\nneeds: {db: {image: 'postgres:17', environment: {POSTGRES_PASSWORD: hunter33}, hostname: hunter22}}\n",
		"other/p.yaml":            "contenders: [goes]\nservices: .\nrequests: [{get: /}]\nsteps: [1]\n",
		"other/both.yaml":         "contenders: [goes, node]\nservices: .\nrequests: [{get: /}]\nsteps: [1]\n"})
	t.Chdir(dir)
	says(t, 0, `fsync=off…"manifest": true…fsync=off…"manifest": true`, "profiles", "show", "p.yaml", "--json")
	shown := says(t, 0, `"POSTGRES_PASSWORD": "***"`, "profiles", "show", "other/p.yaml", "--json")
	shown += says(t, 0, `"POSTGRES_PASSWORD": "***"…"POSTGRES_PASSWORD": "***"`, "profiles", "show", "other/both.yaml", "--json")
	shown += says(t, 0, "needs: {db…***", "services", "show", "goes", "--services", "other")
	lacks(t, "output", shown, "hunter")
}
