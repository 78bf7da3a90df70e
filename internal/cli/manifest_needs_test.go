package cli

import "testing"

// TestManifestNeeds: commands that read manifests and profiles know the needs of both, and mask
// their passwords.
func TestManifestNeeds(t *testing.T) {
	const profile = "contenders: [goes, node]\nservices: svc\nrequests: [{get: /}]\nsteps: [1]\n"
	own := "docker: {image: 'a:1'}\nneeds: {db: {image: 'postgres:17', command: [postgres, -c, fsync=off], per_service: true}}\n"
	dir := folderOf(t, map[string]string{"p.yaml": profile, "svc/goes/service.yaml": own, "svc/node/service.yaml": own,
		"other/goes/service.yaml": "docker: {image: 'a:1'}\nneeds: {db: {image: 'postgres:17', environment: {POSTGRES_PASSWORD: hunter22}, hostname: hunter22}}\n",
		"other/node/service.yaml": "docker: {image: 'a:1'}\nneeds: {db: {image: 'postgres:17', environment: {POSTGRES_PASSWORD: hunter33}, hostname: hunter22}}\n",
		"other/p.yaml":            "contenders: [goes]\nservices: .\nrequests: [{get: /}]\nsteps: [1]\n",
		"other/both.yaml":         "contenders: [goes, node]\nservices: .\nrequests: [{get: /}]\nsteps: [1]\n"})
	t.Chdir(dir)
	says(t, 0, `fsync=off…"manifest": true…fsync=off…"manifest": true`, "profiles", "show", "p.yaml", "--json")
	shown := says(t, 0, `"POSTGRES_PASSWORD": "***"`, "profiles", "show", "other/p.yaml", "--json")
	shown += says(t, 2, "need db of other/goes/service.yaml and that of other/node/service.yaml differ:…environment.POSTGRES_PASSWORD: ***",
		"profiles", "show", "other/both.yaml")
	shown += says(t, 2, "differ:…POSTGRES_PASSWORD: ***…per_service", "run", "--headless", "--profile", "other/both.yaml")
	shown += says(t, 0, "needs: {db…***", "services", "show", "goes", "--services", "other")
	lacks(t, "output", shown, "hunter")
}
