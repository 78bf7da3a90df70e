package contender

import (
	"fmt"

	"github.com/locbench/locbench/internal/bench"
)

// WithSettings returns a resolved contender with the settings of a profile applied.
func WithSettings(svc bench.Service, s bench.Settings) (bench.Service, error) {
	svc.Limits = s.Limits
	if s.Base != nil {
		built := svc.Variant
		svc.Variant, svc.BuiltAs = s.Variant, &built
	}
	svc.Env = merge(svc.Env, s.Env)
	if s.Image == "" {
		return svc, nil
	}
	if svc.Builtin {
		return svc, fmt.Errorf("contender %s runs inside locbench: remove `image` in the profile", s)
	}
	svc.Docker = applyDocker(svc.Docker, bench.Variant{Image: s.Image})
	svc.Process = nil // it is in the image only
	return svc, nil
}
