// Command skipcheck reads what `go test -json` wrote and fails if a test was skipped that the list does not name, with its
// reason. It also fails if no test ran.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// event is one line of `go test -json`.
type event struct {
	Action, Package, Test string
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: skipcheck LIST TEST-JSON")
		os.Exit(2)
	}
	if err := check(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "skipcheck:", err)
		os.Exit(1)
	}
}

func check(listPath, eventsPath string) error {
	allowed, err := readList(listPath)
	if err != nil {
		return err
	}
	file, err := os.Open(eventsPath)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	passed, skipped, err := count(file)
	if err != nil {
		return err
	}
	if passed == 0 {
		return fmt.Errorf("no test passed in %s", eventsPath)
	}
	for _, name := range skipped {
		if !slices.Contains(allowed, name) {
			return fmt.Errorf("%s was skipped and is not in %s", name, listPath)
		}
	}
	return nil
}

// readList reads one test a line, "package.Test<TAB>reason"; a line that starts with # is a comment.
func readList(path string) ([]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var names []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, reason, ok := strings.Cut(line, "\t")
		if !ok || strings.TrimSpace(reason) == "" {
			return nil, fmt.Errorf("%s: %q has no reason", path, line)
		}
		names = append(names, name)
	}
	return names, nil
}

func count(events io.Reader) (passed int, skipped []string, err error) {
	lines := bufio.NewScanner(events)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return 0, nil, err
		}
		if e.Test == "" {
			continue
		}
		switch e.Action {
		case "pass":
			passed++
		case "skip":
			skipped = append(skipped, e.Package+"."+e.Test)
		}
	}
	return passed, skipped, lines.Err()
}
