package cli

import (
	"strings"
	"testing"
)

// TestValidate: one command checks profiles and manifests, with what each has of the other.
func TestValidate(t *testing.T) {
	const profile = "contenders: [goes]\nservices: svc\nrequests: [{get: /}]\nsteps: [1]\n"
	t.Chdir(folderOf(t, map[string]string{
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
