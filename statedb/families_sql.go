package statedb

import "context"

// This file chooses whose rules say what a conversation is, and holds the SQL that only the canonical ones need.

// listedAs is the path whose rules say what a conversation is: the one that a delete would take. A store that nothing can be
// deleted from is listed by the older rules.
func listedAs(s *schema, agent Agent) Path {
	path, err := choosePath(s, agent)
	if err != nil || (path == PathCanonical && s.refuseOtherColumns() != nil) {
		return PathLegacy
	}
	return path
}

func (c *conn) families(ctx context.Context, path Path, all *graph) (*families, error) {
	if path != PathCanonical {
		return all.legacyFamilies(ctx)
	}
	locals, err := c.readLocals(ctx, all)
	if err != nil {
		return nil, err
	}
	return all.canonicalFamilies(ctx, locals)
}

// readLocals reads the local policies of the sessions that have children, and gives the conversations that they make of several
// sessions, by owner; an owner without a child stands alone, whatever its record says. A record that no delete accepts by itself makes
// none.
func (c *conn) readLocals(ctx context.Context, all *graph) (map[string]*local, error) {
	var keys []string
	for _, owner := range sortedKeys(all.children) {
		if all.rows[owner] != nil {
			keys = append(keys, localPolicyPrefix+owner)
		}
	}
	locals := map[string]*local{}
	err := inChunks(keys, func(list string, args []any) error {
		return c.each(ctx, func(scan scanFunc) error {
			var key, value string
			if err := scan(&key, &value); err != nil {
				return err
			}
			owner := key[len(localPolicyPrefix):]
			if p, ok := parsePolicy(value); ok && p.recordFault(owner) == "" {
				if l := all.newLocal(p.lineage); l != nil {
					locals[owner] = l
				}
			}
			return nil
		}, `SELECT key, value FROM state_meta WHERE key IN `+list+` AND typeof(key) = 'text' AND typeof(value) = 'text'`, args...)
	})
	return locals, classify("read the local policies", err)
}
