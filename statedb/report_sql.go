package statedb

import (
	"context"
	"database/sql"
	"errors"
)

// This file holds the SQL that a store's shape is told from.

// Features looks at a store's shape, from one snapshot (contract 5d, features); sizes are asked of the file system and nothing is opened
// for them. A store that no path fits is no error: the report says why.
func Features(ctx context.Context, path string, agent Agent) (*Report, error) {
	var report *Report
	err := read(ctx, path, "look at the store", func(c *conn) error {
		s, err := c.readSchema(ctx)
		if err != nil {
			return err
		}
		if report, err = c.shapeOf(ctx, s, agent); err != nil || !s.has("sessions") {
			return err
		}
		return c.QueryRowContext(ctx, "SELECT count(*) FROM sessions").Scan(&report.Sessions)
	})
	if err != nil {
		return nil, err
	}
	disk, err := DiskOf(path)
	if err != nil {
		return nil, err
	}
	report.Bytes, report.WALBytes = disk.Bytes, disk.WALBytes
	return report, nil
}

// shapeOf is all of a report but what is counted.
func (c *conn) shapeOf(ctx context.Context, s *schema, agent Agent) (*Report, error) {
	report := &Report{
		Tables:   s.namedTables(),
		Receipts: s.has(receiptsTable, receiptColumns...),
		Missing:  s.missing(),
	}
	report.Path, report.PathError = choosePath(s, agent)
	report.Guards = s.missingGuards() == ""
	report.Indexes = c.fullTextIndexes(ctx, s)
	if err := c.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&report.JournalMode); err != nil {
		return nil, err
	}
	return report, c.readVersion(ctx, s, report)
}

// readVersion reads what the store says of itself.
func (c *conn) readVersion(ctx context.Context, s *schema, report *Report) error {
	if !s.has("schema_version", "version") {
		return nil
	}
	// Several rows are a history; a version that is no whole number is none that we know.
	err := c.QueryRowContext(ctx, `SELECT +version FROM schema_version WHERE typeof(version) = 'integer'
		ORDER BY version DESC LIMIT 1`).Scan(&report.SchemaVersion)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}

// fullTextIndexes lists the indexes in the order of their names.
func (c *conn) fullTextIndexes(ctx context.Context, s *schema) []Index {
	var indexes []Index
	for _, name := range sortedKeys(s.virtual) {
		if tokenizer, ok := tokenizerOf(s.virtual[name]); ok {
			opens, err := c.opens(ctx, s, name)
			indexes = append(indexes, Index{name, tokenizer, err == nil && opens})
		}
	}
	return indexes
}
