// Package version says which build this is.
package version

import "runtime/debug"

// version is set by the linker (-X); without it the build information tells.
var version string

// String returns the version, such as "v0.1.0" or "devel (1a2b3c4d5e6f)".
func String() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel (" + s.Value[:12] + ")"
		}
	}
	return "devel"
}
