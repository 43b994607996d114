package cleanup

import (
	"context"
	"errors"
	"io/fs"

	"session-sidecar/internal/rooted"
)

// Artifact is a file in sessions/ that would go.
type Artifact struct {
	Name  string
	Bytes int64
}

// Artifacts lists what Process would remove if the ids were gone, in the order of the names (contract 5d). live answers for
// the store as it is now.
func (f *Folder) Artifacts(ctx context.Context, ids []string, live LiveFunc) ([]Artifact, error) {
	if f.root == nil {
		return nil, nil
	}
	names, err := rooted.Names(f.root)
	if err != nil {
		return nil, err
	}
	gone := map[string]bool{}
	for _, id := range ids {
		gone[id] = true
	}
	owned, err := withoutRivals(ctx, claims(names, gone), func(ctx context.Context, asked []string) (map[string]bool, error) {
		alive, err := live(ctx, asked)
		for id := range gone {
			delete(alive, id)
		}
		return alive, err
	})
	if err != nil {
		return nil, err
	}
	return f.sizes(owned)
}

// sizes looks at the claimed files. What is no artifact by its kind is left out.
func (f *Folder) sizes(owned []claim) ([]Artifact, error) {
	var artifacts []Artifact
	for _, c := range owned {
		info, err := f.root.Lstat(c.name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it went since the folder was listed
		}
		if err != nil {
			return nil, err
		}
		repeated := len(artifacts) > 0 && artifacts[len(artifacts)-1].Name == c.name
		if removable(info.Mode()) && !repeated {
			artifacts = append(artifacts, Artifact{c.name, info.Size()})
		}
	}
	return artifacts, nil
}
