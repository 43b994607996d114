// Package platforms holds the table of the npm packages to what this program knows of systems and processors, and runs what was
// built for other systems under a stand-in for them.
package platforms

import (
	"encoding/json"
	"os"
)

// Platform is a row of npm/platforms.json.
type Platform struct {
	Name   string   `json:"name"` // of the package
	OS     string   `json:"os"`   // as npm and Node call it
	CPU    string   `json:"cpu"`
	GOOS   string   `json:"goos"`
	GOARCH string   `json:"goarch"`
	Binary string   `json:"binary"` // inside the package
	Static bool     `json:"static"`
	Here   string   `json:"here"`   // Debian's compiler for it; none where only a runner of that system can build it
	Tried  []string `json:"tried"`  // what runs the program here, before its own path; nil where nothing does
	Runner string   `json:"runner"` // builds it for a release
	CC     string   `json:"cc"`     // the compiler there
}

// readTable reads the table.
func readTable(path string) (platforms []Platform, err error) {
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &platforms)
	}
	return platforms, err
}
