package statedb

import (
	"context"

	"session-sidecar/internal/sqlname"
)

// knownSchema is a shape with the number that SQLite counts up whenever it changes.
type knownSchema struct {
	version    int64
	schema     *schema
	references map[string][]reference // to each table that was asked for
	cascades   *[]cascadePath         // by which rows of tables that we know could go; nil where nobody has asked
}

// readSchema reads the shape in the transaction that will write, so that a store which another process migrates
// meanwhile is not misread.
func (c *conn) readSchema(ctx context.Context) (*schema, error) {
	var version int64
	if err := c.QueryRowContext(ctx, "PRAGMA schema_version").Scan(&version); err != nil {
		return nil, classify("read the schema", err)
	}
	if c.known != nil && c.known.version == version {
		return c.known.schema, nil
	}
	s, err := c.readSchemaAnew(ctx)
	if err == nil {
		c.known = &knownSchema{version: version, schema: s, references: map[string][]reference{}}
	}
	return s, err
}

func (c *conn) readSchemaAnew(ctx context.Context) (*schema, error) {
	s := &schema{
		columns: map[string]map[string]bool{}, numeric: map[string]map[string]bool{},
		virtual: map[string]string{}, create: map[string]string{}, chosen: map[Agent]choice{}, written: map[string]bool{},
	}
	err := c.each(ctx, func(scan scanFunc) error {
		var kind, name, table, text string
		if err := scan(&kind, &name, &table, &text); err != nil {
			return err
		}
		name = sqlname.Fold(name)
		switch {
		case kind == "trigger":
			s.triggers = append(s.triggers, trigger{name, sqlname.Fold(table), text})
		case isVirtual(text):
			s.virtual[name] = text
		default:
			s.columns[name], s.numeric[name] = map[string]bool{}, map[string]bool{}
			s.create[name] = text
		}
		return nil
	}, `SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema WHERE type IN ('table', 'trigger')`)
	if err != nil {
		return nil, classify("read the schema", err)
	}
	// Virtual tables are left out: asking one whose tokenizer is missing for its columns is an error.
	err = c.each(ctx, func(scan scanFunc) error {
		var table, column, declared string
		if err := scan(&table, &column, &declared); err != nil {
			return err
		}
		table, column = sqlname.Fold(table), sqlname.Fold(column)
		if columns, ok := s.columns[table]; ok {
			columns[column], s.numeric[table][column] = true, hasNumericAffinity(declared)
		}
		return nil
	}, `SELECT t.name, c.name, coalesce(c.type, '') FROM sqlite_schema t, pragma_table_xinfo(t.name) c
		WHERE t.type = 'table' AND t.sql NOT LIKE 'CREATE VIRTUAL%'`)
	if err != nil {
		return nil, classify("read the columns of the tables", err)
	}
	return s, nil
}

// orNull is an expression over a column of sessions that an old store may lack.
func orNull(s *schema, column, expression string) string {
	if s.has("sessions", column) {
		return expression
	}
	return "NULL"
}
