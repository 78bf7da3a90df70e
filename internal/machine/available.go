package machine

// Available is the memory that processes could still get without swapping, in bytes; 0 if unknown.
func Available() int64 { return meminfo(files{}.read("proc/meminfo"), "MemAvailable:") }
