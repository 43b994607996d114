package statedb

import (
	"context"
	"strings"
)

// This file chooses whose rules say what a conversation is, and holds the SQL that only the canonical ones need.

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
	err := c.eachUnderKeys(ctx, keys, func(key, value string) {
		owner := strings.TrimPrefix(key, localPolicyPrefix)
		if p, ok := parsePolicy(value); ok && p.recordFault(owner) == "" {
			if l := all.newLocal(p.lineage); l != nil {
				locals[owner] = l
			}
		}
	})
	return locals, classify("read the local policies", err)
}
