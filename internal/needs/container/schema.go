package container

import "github.com/locbench/locbench/internal/text/strictyaml"

func schema(s *strictyaml.Schemas) strictyaml.Schema {
	return s.Keys(service{}, strictyaml.Keys{
		About: map[string]string{
			"image":             "Image to start. Its health checks are off in the run.",
			"dockerfile":        "Dockerfile of an image to build and start. Its folder is the context.",
			"external":          "Address, or URL, of one that runs already: HOST:PORT. locbench does not write to it unless `writable`.",
			"writable":          "Let `seed` write to an external one. It is never restored.",
			"like":              "Known service that an image of another name is like.",
			"entrypoint":        "Instead of the image's.",
			"command":           "Instead of the image's.",
			"environment":       "Its environment: a map, or a list of KEY=VALUE. ${NAME} is a variable of locbench.",
			"env_file":          "Files with lines KEY=VALUE.",
			"limits":            "Its limits. Missing keys: no limit.",
			"ports":             "Its port, or names of ports: {main: 9092, admin: 8080}.",
			"ready":             "When it is ready.",
			"seed":              "Files, which its image runs at the first start, and commands in its container.",
			"volumes":           "`./FILE:PATH:ro` mounts a file or folder of the profile's folder. PATH is restored with its state.",
			"tmpfs":             "Paths in memory, PATH or PATH:OPTIONS.",
			"shm_size":          "Size of /dev/shm.",
			"ulimits":           "Limits of processes, such as nofile.",
			"hostname":          "Its host name; the need's name unless given.",
			"aliases":           "More names by which contenders and other needs find it.",
			"user":              "User, and group, of its processes.",
			"init":              "Run an init process in its container.",
			"stop_signal":       "Instead of the image's.",
			"stop_grace_period": "How long it may take to stop, once, after seeding; 60s unless given.",
			"restore_timeout":   "How long it may take until its seeded state is copied and it is ready again; 3m unless given.",
			"after":             "Needs that must be ready and seeded before it starts.",
			"keep":              "Keep its state from one trial to the next. Each interleaved contender has its own.",
			"per_service":       "Each service has its own; a trial uses only that of its contender.",
		},
		Accept: map[string]strictyaml.Schema{"like": strictyaml.Enum(presetNames()...)},
		Rules:  strictyaml.Schema{"oneOf": strictyaml.HasEach("image", "dockerfile", "external")},
	})
}

// DescribeStrict adds descriptions of the keys.
func (serviceLimits) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	return s.Keys(serviceLimits{}, strictyaml.Keys{About: map[string]string{
		"cpus": "CPUs, such as 0.5.", "memory": "Memory, such as 512M.",
		"pids": "Processes and threads together.",
	}})
}

// DescribeStrict adds descriptions of the keys.
func (readyHTTP) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	return s.Keys(readyHTTP{}, strictyaml.Keys{About: map[string]string{
		"port": "Port; the main one unless given.", "path": "Path of the request.", "status": "Status of the response; 200 unless given.",
	}})
}

// DescribeStrict adds descriptions of the keys.
func (readyLog) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	return s.Keys(readyLog{}, strictyaml.Keys{About: map[string]string{
		"line": "Part of a line.", "times": "How often it must come; once unless given.",
	}})
}
