package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

type versionCmd struct{}

// Run runs the command.
func (*versionCmd) Run(c *cli) error {
	if c.JSON {
		c.printJSON(map[string]string{"version": version(), "go": runtime.Version()})
		return nil
	}
	fmt.Fprintf(c.io.out, "wipagent %s (%s)\n", version(), runtime.Version())
	return nil
}

// version returns the module's version as the build recorded it, or "devel".
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}
