// Figures of several rounds: medians, extremes, ratios within a round.

package main

import (
	"math"
	"slices"
)

// A spread is what several rounds say of one figure.
type spread struct{ median, min, max float64 }

// spreadOf returns the spread of values; all NaN if there are none or one is not measured.
func spreadOf(values []float64) spread {
	if len(values) == 0 || slices.ContainsFunc(values, math.IsNaN) {
		return spread{math.NaN(), math.NaN(), math.NaN()}
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	median := sorted[middle]
	if len(sorted)%2 == 0 {
		median = (sorted[middle-1] + median) / 2
	}
	return spread{median, sorted[0], sorted[len(sorted)-1]}
}

// A figure is one of the things a sample says; NaN if it does not.
type figure func(sample) float64

func seconds(s sample) float64 { return s.seconds }

func cpuSeconds(s sample) float64 { return s.cpu }

func peakMiB(s sample) float64 { return float64(s.peakKiB) / 1024 }

func wireKB(s sample) float64 {
	if s.wireBytes == notMeasured {
		return math.NaN()
	}
	return float64(s.wireBytes) / 1000
}

// values returns a figure of every round.
func values(samples []sample, f figure) []float64 {
	list := make([]float64, len(samples))
	for i, s := range samples {
		list[i] = f(s)
	}
	return list
}

// ratios returns a figure of one side over that of another, round by round. Two rounds are
// never mixed: the machine may have been another one.
func ratios(of, by []sample, f figure) []float64 {
	list := make([]float64, min(len(of), len(by)))
	for i := range list {
		list[i] = f(of[i]) / f(by[i])
	}
	return list
}
