package main

import (
	"bytes"
	"image/color"
	"os"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

const (
	panelWidth  = 5 * vg.Inch
	panelHeight = 4 * vg.Inch
)

// lineColors are told apart by most people who see colours differently, too.
var lineColors = map[string]color.Color{
	"floor":  color.RGBA{0x66, 0x66, 0x66, 0xff},
	"scan":   color.RGBA{0x00, 0x9e, 0x73, 0xff},
	"delete": color.RGBA{0x00, 0x72, 0xb2, 0xff},
	"held":   color.RGBA{0xe6, 0x9f, 0x00, 0xff},
	"plain":  color.RGBA{0xd5, 0x5e, 0x00, 0xff},
}

// writePlot draws how a delete grows with the size of the store, a panel for each schema, both axes logarithmic. It tells
// whether there was anything to draw: that takes two sizes.
func writePlot(path string, results []result) (made bool, err error) {
	var panels []*plot.Plot
	for _, schema := range []string{legacySchema, runtimeSchema} {
		var of []result
		for _, r := range results {
			if r.Mode == "delete" && r.Schema == schema {
				of = append(of, r)
			}
		}
		if len(of) < 2 {
			continue
		}
		panel, err := newPanel(schema, of)
		if err != nil {
			return false, err
		}
		panels = append(panels, panel)
	}
	if len(panels) == 0 {
		return false, nil
	}
	lowest, highest := panels[0].Y.Min, panels[0].Y.Max
	for _, panel := range panels {
		lowest, highest = min(lowest, panel.Y.Min), max(highest, panel.Y.Max)
	}
	for _, panel := range panels { // one look compares them
		panel.Y.Min, panel.Y.Max = lowest, highest
	}
	canvas := vgsvg.New(panelWidth*vg.Length(len(panels)), panelHeight)
	tiles := draw.Tiles{Rows: 1, Cols: len(panels), PadX: vg.Points(12), PadRight: vg.Points(12)}
	for i, drawing := range plot.Align([][]*plot.Plot{panels}, tiles, draw.New(canvas))[0] {
		panels[i].Draw(drawing)
	}
	var drawn bytes.Buffer
	if _, err := canvas.WriteTo(&drawn); err != nil {
		return false, err
	}
	// Where a reader lacks the font that the plot was laid out with, one without serifs shall stand in.
	text := bytes.ReplaceAll(drawn.Bytes(), []byte("font-family:Liberation Sans;"), []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;"))
	return true, os.WriteFile(path, text, 0o644) //nolint:gosec // a picture of the repository
}

func newPanel(schema string, of []result) (*plot.Plot, error) {
	slices.SortFunc(of, func(a, b result) int { return a.Sessions - b.Sessions })
	p := plot.New()
	p.Title.Text = "a family of two, " + schema
	p.X.Label.Text, p.Y.Label.Text = "sessions in the store", "milliseconds (median)"
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.LogTicks{Prec: -1}, plot.LogTicks{Prec: -1}
	p.Legend.Top, p.Legend.Left = true, true
	for _, style := range []*font.Font{
		&p.Title.TextStyle.Font, &p.X.Label.TextStyle.Font, &p.Y.Label.TextStyle.Font,
		&p.X.Tick.Label.Font, &p.Y.Tick.Label.Font, &p.Legend.TextStyle.Font,
	} {
		style.Variant = "Sans"
	}
	p.Add(plotter.NewGrid())
	for _, s := range of[0].Series {
		var points plotter.XYs
		for _, r := range of {
			if took := r.took(s.Name); len(took) > 0 {
				points = append(points, plotter.XY{X: float64(r.Sessions), Y: median(took).Seconds() * 1000})
			}
		}
		line, dots, err := plotter.NewLinePoints(points)
		if err != nil {
			return nil, err
		}
		line.Color, dots.Color, dots.Shape = lineColors[s.Name], lineColors[s.Name], draw.CircleGlyph{}
		line.Width = vg.Points(1.5)
		p.Add(line, dots)
		p.Legend.Add(s.Name, line, dots)
	}
	return p, nil
}
