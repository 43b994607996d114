package statedb

import (
	"io/fs"
	"os"
	"slices"
	"strings"
)

// Path is one of the two ways to delete (contract 3).
type Path string

// The two paths.
const (
	PathCanonical Path = "canonical" // retirement, as the newest Agent does it
	PathLegacy    Path = "legacy"    // plain row deletes, kept off a newer Agent's history by a fence
)

// retirementModule is the file that an Agent able to retire conversations has in its folder (contract 3.4).
const retirementModule = "hermes_state_mutation_retirement.py"

// Agent is what is known of the installed Agent's folder.
type Agent struct {
	Known     bool // the host named a folder
	CanRetire bool // the folder holds the retirement module
}

// LookAtAgent lists the Agent's folder. A folder that cannot be listed is an error and never an old Agent (contract 2).
// An empty dir is an Agent that nobody named.
func LookAtAgent(dir string) (Agent, error) {
	if dir == "" {
		return Agent{}, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return Agent{}, &Error{Kind: ErrAgentUnreadable, Cause: err}
	}
	found := slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == retirementModule })
	return Agent{Known: true, CanRetire: found}, nil
}

// choice is an answer of choosePath.
type choice struct {
	path    Path
	refusal error
}

// choosePath is contract 3, rules 2 to 7: the first that applies.
func choosePath(s *schema, agent Agent) (Path, error) {
	chosen, known := s.chosen[agent]
	if !known {
		chosen.path, chosen.refusal = s.choosePath(agent)
		if s.chosen != nil {
			s.chosen[agent] = chosen
		}
	}
	return chosen.path, chosen.refusal
}

func (s *schema) choosePath(agent Agent) (Path, error) {
	switch {
	case !s.has("sessions", sessionColumns...):
		return "", unsupported("the store has no table sessions with id and parent_session_id")
	case !s.has("messages", messageColumns...):
		return "", unsupported("the store has no table messages with session_id")
	}
	if table := s.missingGuards(); table != "" {
		return "", &Error{Kind: ErrGuardsUnavailable, Detail: table + " is not all there, so a running turn could not be seen"}
	}
	if s.numeric["sessions"]["id"] {
		return "", unsupported("the store's session ids are no text")
	}
	if err := s.refuseLooseIDs(idColumns); err != nil {
		return "", err
	}
	if agent.Known && !agent.CanRetire {
		return PathLegacy, nil
	}
	missing := s.missingRuntime()
	switch {
	case len(missing) == 0:
		return s.canonical()
	case s.hasPartOfLedger():
		return "", unsupported("the store has part of the runtime ledger; missing: %s", strings.Join(missing, ", "))
	}
	return PathLegacy, nil
}

// listedAs is the path whose rules say what a conversation is: the one that a delete would take. A store that nothing can be
// deleted from is listed by the older rules.
func listedAs(s *schema, agent Agent) Path {
	path, err := choosePath(s, agent)
	if err != nil || (path == PathCanonical && s.refuseOtherColumns() != nil) {
		return PathLegacy
	}
	return path
}
