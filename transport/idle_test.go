// This file holds the test of what a connection costs on which nothing happens.

package transport

import (
	"testing"
	"time"
)

// TestIdleMinute counts the bytes of many keepalives, of both sides, and scales them to a minute
// at the usual interval. A loaded machine has fewer of them in the time, never more.
func TestIdleMinute(t *testing.T) {
	const interval = 5 * time.Millisecond
	times := clocks{keepAlive: interval, write: time.Minute, close: time.Minute}
	client, _ := connectUnix(t, Options{clocks: times}, Options{clocks: times})
	begun, before := time.Now(), client.BytesRead()+client.BytesWritten()
	for client.BytesRead()+client.BytesWritten() < before+2000 {
		time.Sleep(interval) // there is nothing to wait for but bytes
	}
	bytes := client.BytesRead() + client.BytesWritten() - before
	intervals := float64(time.Since(begun)) / float64(interval)
	minute := float64(bytes) / intervals * float64(time.Minute/defaultClocks.keepAlive)
	t.Logf("%.0f bytes in an idle minute", minute)
	if minute > 1000 {
		t.Errorf("%.0f bytes in an idle minute, want at most 1000", minute)
	}
}
