// Tests of medians and ratios.

package main

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestSpread(t *testing.T) {
	tests := []struct {
		values []float64
		want   spread
	}{
		{[]float64{3}, spread{3, 3, 3}},
		{[]float64{9, 1}, spread{5, 1, 9}},
		{[]float64{5, 1, 100}, spread{5, 1, 100}},
		{[]float64{4, 1, 3, 2}, spread{2.5, 1, 4}},
	}
	for _, tt := range tests {
		if got := spreadOf(tt.values); got != tt.want {
			t.Errorf("spreadOf(%v) = %v, want %v", tt.values, got, tt.want)
		}
	}
	for _, values := range [][]float64{nil, {1, math.NaN()}} {
		if got := spreadOf(values); !math.IsNaN(got.median) || !math.IsNaN(got.min) || !math.IsNaN(got.max) {
			t.Errorf("spreadOf(%v) = %v, want NaN", values, got)
		}
	}
}

// Half of the values are on either side of the median, whatever their order.
func TestSpreadHalves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(0, 100), 1, 20).Draw(t, "values")
		s := spreadOf(values)
		below, above := 0, 0
		for _, v := range values {
			if v < s.median {
				below++
			}
			if v > s.median {
				above++
			}
			if v < s.min || v > s.max {
				t.Fatalf("%v outside %v", v, s)
			}
		}
		if 2*below > len(values) || 2*above > len(values) {
			t.Fatalf("%d below and %d above the median %v of %v", below, above, s.median, values)
		}
	})
}

// A round that was slow for both sides does not show in the ratios.
func TestRatiosAreOfOneRound(t *testing.T) {
	of := []sample{{seconds: 2}, {seconds: 20}, {seconds: 4}}
	by := []sample{{seconds: 1}, {seconds: 10}} // failed in the third round
	got := ratios(of, by, seconds)
	if len(got) != 2 || got[0] != 2 || got[1] != 2 {
		t.Errorf("ratios = %v, want 2 twice", got)
	}
}

func TestWireNotMeasured(t *testing.T) {
	if got := wireKB(sample{wireBytes: notMeasured}); !math.IsNaN(got) {
		t.Errorf("wire bytes that were not measured are %v, want NaN", got)
	}
	if got := wireKB(sample{wireBytes: 53_000}); got != 53 {
		t.Errorf("53000 wire bytes are %v kB, want 53", got)
	}
}
