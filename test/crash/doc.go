// Package crash kills a harness in the middle of its work and looks at what is left. It consists
// of tests only.
package crash
