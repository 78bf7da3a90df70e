package cli

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/locbench/locbench/internal/contender"
)

func newValidate(env Env) *cobra.Command {
	var allowed []string
	cmd := &cobra.Command{
		Use:   "validate FILE...",
		Short: "Check profiles and manifests: each mistake with its line and fix",
		Long: `Checks profiles and manifests. A manifest is a ` + contender.ManifestName + `, its folder, or a folder of such folders; any other file is a
profile. The same as 'locbench profiles validate' and 'locbench services validate'.

Exit codes: 0 all valid; 2 at least one is not.`,
		Example: `  locbench validate bench.yaml
  locbench validate bench.yaml ./my-contenders
  locbench validate orders/service.yaml`,
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, files []string) error {
			var named, folders []string
			for _, file := range files {
				info, err := os.Stat(file)
				switch {
				case err == nil && info.IsDir():
					folders = append(folders, file)
				case filepath.Base(file) == contender.ManifestName:
					folders = append(folders, filepath.Dir(file))
				default:
					named = append(named, file)
				}
			}
			return errors.Join(validateServices(env, folders), validateProfiles(env, named, allowed))
		},
	}
	bindAllowed(cmd, &allowed)
	return cmd
}
