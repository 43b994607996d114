package documents

import (
	"encoding/json"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Repository is what documents may speak of.
type Repository struct {
	// Files are the texts of all files that git knows, by their paths with slashes.
	Files map[string]string
	// Program asks the built sidecar, and gives all that it prints.
	Program func(args ...string) string
	// Fine are spans that look like something else, or like a mistake, and are none: by the span, why.
	Fine map[string]string

	subcommands map[string][]string // what Program has said
	flags       map[string]bool
	used        map[string]bool // of Fine
}

// NewRepository is that of some files.
func NewRepository(files map[string]string, program func(args ...string) string, fine map[string]string) *Repository {
	return &Repository{
		Files: files, Program: program, Fine: fine,
		subcommands: map[string][]string{}, flags: map[string]bool{}, used: map[string]bool{},
	}
}

// Unused lists what is called fine and stands nowhere.
func (r *Repository) Unused() []string {
	return slices.Sorted(maps.Keys(without(r.Fine, r.used)))
}

func without(all map[string]string, some map[string]bool) map[string]string {
	rest := maps.Clone(all)
	maps.DeleteFunc(rest, func(key, _ string) bool { return some[key] })
	return rest
}

func (r *Repository) isFine(span string) bool {
	_, fine := r.Fine[span]
	r.used[span] = r.used[span] || fine
	return fine
}

// has tells whether a file or a folder is there. A star stands for any part of a name.
func (r *Repository) has(name string) bool {
	name = strings.TrimSuffix(name, "/")
	if name == "." || r.Files[name] != "" {
		return true
	}
	for file := range r.Files {
		if strings.HasPrefix(file, name+"/") {
			return true
		}
		if matches, err := path.Match(name, file); err == nil && matches {
			return true
		}
	}
	return false
}

// hasSomewhere tells whether a file or folder ends so: documents shorten what stands beside another.
func (r *Repository) hasSomewhere(name string) bool {
	name = strings.TrimSuffix(name, "/")
	depth := 1 + strings.Count(name, "/")
	for file := range r.Files {
		parts := strings.Split(file, "/")
		for end := depth; end <= len(parts); end++ {
			if matches, err := path.Match(name, strings.Join(parts[end-depth:end], "/")); err == nil && matches {
				return true
			}
		}
	}
	return false
}

var makeTarget = regexp.MustCompile(`(?m)^([a-z][a-z-]*):(?:[^=]|$)`)

func (r *Repository) hasTarget(name string) bool {
	for _, m := range makeTarget.FindAllStringSubmatch(r.Files["Makefile"], -1) {
		if m[1] == name {
			return true
		}
	}
	return false
}

// hasScript tells whether a package.json has a script, in the folder of a document or above it, or in any package where it has none.
func (r *Repository) hasScript(document, name string) bool {
	var near, all []string
	for file := range r.Files {
		if path.Base(file) == "package.json" {
			all = append(all, file)
			if path.Dir(file) == path.Dir(document) {
				near = append(near, file)
			}
		}
	}
	if len(near) == 0 {
		near = all
	}
	return slices.ContainsFunc(near, func(file string) bool {
		var described struct{ Scripts map[string]string }
		return json.Unmarshal([]byte(r.Files[file]), &described) == nil && described.Scripts[name] != ""
	})
}

// isRead tells whether a program or a test of ours knows a variable of the environment.
func (r *Repository) isRead(name string) bool {
	for file, source := range r.Files {
		if !strings.HasSuffix(file, ".md") && strings.Contains(source, name) {
			return true
		}
	}
	return false
}

var testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark|Example)\w*)\(`)

// hasTest tells whether a test matches, below a folder.
func (r *Repository) hasTest(folder string, matches func(name string) bool) bool {
	for file, source := range r.Files {
		if !strings.HasSuffix(file, "_test.go") || folder != "." && !strings.HasPrefix(file, folder+"/") {
			continue
		}
		for _, m := range testFunction.FindAllStringSubmatch(source, -1) {
			if matches(m[1]) {
				return true
			}
		}
	}
	return false
}

// hasGoFlag tells whether a program or test of ours has a flag.
func (r *Repository) hasGoFlag(name string) bool {
	for file, source := range r.Files {
		if strings.HasSuffix(file, ".go") && (strings.Contains(source, `("`+name+`", `) || strings.Contains(source, `, "`+name+`", `)) && strings.Contains(source, "lag.") {
			return true
		}
	}
	return false
}

// ranByCI are the commands that .ci/run comes to run, at any depth.
func (r *Repository) ranByCI() map[string]bool {
	ran := map[string]bool{}
	var follow func(line string)
	follow = func(line string) {
		line = plainCommand(line)
		if line == "" || ran[line] {
			return
		}
		ran[line] = true
		for part := range strings.SplitSeq(line, " && ") {
			ran[part] = true
			words := strings.Fields(part)
			switch {
			case len(words) > 1 && words[0] == "make":
				for _, target := range words[1:] {
					for _, step := range r.recipe(target) {
						follow(step)
					}
				}
			case len(words) > 0 && strings.HasPrefix(words[0], ".ci/"):
				for inside := range strings.Lines(r.Files[words[0]]) {
					ran[plainCommand(inside)] = true
				}
			}
		}
	}
	for line := range strings.Lines(r.Files[".ci/run"]) {
		follow(line)
	}
	return ran
}

// recipe gives what make does for a target, as far as it stands in the Makefile: its prerequisites, then its lines.
func (r *Repository) recipe(target string) []string {
	var steps []string
	inside := false
	for line := range strings.Lines(r.Files["Makefile"]) {
		switch name, needs, isRule := strings.Cut(line, ":"); {
		case strings.HasPrefix(line, "\t"):
			if inside {
				steps = append(steps, line)
			}
		case isRule:
			if inside = name == target; inside {
				for need := range strings.FieldsSeq(needs) {
					steps = append(steps, "make "+need)
				}
			}
		}
	}
	return steps
}

var (
	quiet   = regexp.MustCompile(` --silent\b`)
	toPlace = regexp.MustCompile(`^cd \S+ && `)
)

// plainCommand spells a command as documents do.
func plainCommand(line string) string {
	line = strings.TrimLeft(strings.TrimSpace(line), "@-")
	line = strings.ReplaceAll(line, "$(MAKE)", "make")
	line = strings.Join(strings.Fields(quiet.ReplaceAllString(line, "")), " ")
	return toPlace.ReplaceAllString(line, "")
}
