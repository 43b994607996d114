package statedb

import (
	"context"
	"fmt"
)

// CheckBuild tells in one clear line why this build may not serve at all: without FTS5 or the trigram tokenizer no
// index could be kept in step (contract 2). What is compiled in has both, or it would not have compiled.
func CheckBuild(ctx context.Context) error {
	if builtIn {
		return nil
	}
	return probe(ctx)
}

// probe asks SQLite itself.
func probe(ctx context.Context) error {
	c, err := openPrivate(ctx)
	if err != nil {
		return fmt.Errorf("this build has no SQLite: %w", err)
	}
	defer c.close()
	if _, err := c.ExecContext(ctx, `CREATE VIRTUAL TABLE probe USING fts5(content, tokenize = 'trigram')`); err != nil {
		return fmt.Errorf("this build's SQLite lacks FTS5 or its trigram tokenizer; build with -tags sqlite_fts5: %w", err)
	}
	return nil
}

// SQLiteVersion is the version of the SQLite that is built in.
func SQLiteVersion() string { return sqliteVersion() }
