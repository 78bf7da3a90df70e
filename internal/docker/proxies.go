package docker

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/secret"
)

// readProxies returns the build arguments that "docker build" adds for an engine: those of `proxies`
// in config.json, for its host or by default.
func readProxies(dir, host string) (map[string]string, error) {
	var config struct{ Proxies map[string]map[string]any }
	err := readJSON(filepath.Join(dir, "config.json"), &config)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil, nil
	}
	of, ok := config.Proxies[host]
	if !ok {
		of = config.Proxies["default"]
	}
	args := map[string]string{}
	for key, value := range of {
		name := map[string]string{
			"httpProxy": "HTTP_PROXY", "httpsProxy": "HTTPS_PROXY", "noProxy": "NO_PROXY", "ftpProxy": "FTP_PROXY", "allProxy": "ALL_PROXY",
		}[key]
		if text, isText := value.(string); isText && name != "" && text != "" {
			args[name], args[strings.ToLower(name)] = text, text
		}
	}
	return args, err
}

// passwords masks those of proxies.
func passwords(proxies map[string]string) secret.Masker {
	return secret.New(secret.Of(bench.Run{}, []bench.Service{{Env: proxies}})...)
}
