package properties

import (
	"slices"
	"strings"
)

// artifacts are the files that go with the ids (contract 6.1).
func (m *model) artifacts(files, ids []string) (names []string) {
	live := func(id string) bool { return m.sessions[id] != nil && !slices.Contains(ids, id) }
	for _, name := range files {
		goes := slices.ContainsFunc(ids, func(id string) bool {
			switch rest, dump := strings.CutPrefix(name, "request_dump_"+id+"_"); {
			case name == id+".json", name == id+".jsonl":
				return true
			case name == "session_"+id+".json":
				return !live("session_" + id)
			case dump && strings.HasSuffix(rest, ".json"):
				for longer := range m.sessions {
					if strings.HasPrefix(longer, id+"_") && live(longer) && strings.HasPrefix(name, "request_dump_"+longer+"_") {
						return false
					}
				}
				return true
			}
			return false
		})
		if goes {
			names = append(names, name)
		}
	}
	return names
}
