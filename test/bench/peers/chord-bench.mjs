// Times the published JavaScript Chord on a rolling text window, for comparison in one run.
// Usage, in a folder where `npm ci --ignore-scripts` was run, as test/interop is:
//   node ../bench/peers/chord-bench.mjs      (one line per case; microseconds per flush)
import { pathToFileURL } from "node:url";
import { join } from "node:path";

const chord = join(process.cwd(), "node_modules/@earendil-works/chord/dist/delta/index.js");
const { track, encoder, decoder, apply } = await import(pathToFileURL(chord));

// Reads the text, as whoever just got it from a command has: it is in the processor's cache then.
let seen = 0;
function touch(text) {
	for (let i = 0; i < text.length; i += 64) seen ^= text.charCodeAt(i);
}

function bench(windowUnits, chunkUnits, rounds) {
	const tracker = track({
		content: [{ type: "text", text: "" }],
		details: {},
		terminate: false,
		truncation: { totalBytes: 0 },
	});
	const enc = encoder();
	const dec = decoder();
	let sequence = 0;
	const chunk = () => {
		let s = "";
		while (s.length < chunkUnits) s += `line ${sequence++} some build output here\n`;
		return s.slice(0, chunkUnits);
	};
	let text = "";
	while (text.length < windowUnits) text += chunk();
	text = text.slice(-windowUnits);
	tracker.state.content[0].text = text;
	let replica = apply(undefined, dec.decode(enc.encode(tracker.flush())));
	const chunks = Array.from({ length: rounds }, chunk);
	let flush = 0n;
	let encode = 0n;
	let fold = 0n;
	let wireBytes = 0;
	for (const next of chunks) {
		touch(next);
		const t0 = process.hrtime.bigint();
		text = (text + next).slice(-windowUnits);
		tracker.state.content[0].text = text;
		const ops = tracker.flush();
		const t1 = process.hrtime.bigint();
		const wire = JSON.stringify(enc.encode(ops));
		const t2 = process.hrtime.bigint();
		replica = apply(replica, dec.decode(JSON.parse(wire)));
		const t3 = process.hrtime.bigint();
		flush += t1 - t0;
		encode += t2 - t1;
		fold += t3 - t2;
		wireBytes += wire.length;
	}
	if (replica.content[0].text !== text) throw new Error("replica diverged");
	const us = (ns) => Number((Number(ns) / rounds / 1000).toFixed(2));
	console.log(
		JSON.stringify({
			windowUnits,
			chunkUnits,
			rounds,
			flushMicros: us(flush),
			encodeMicros: us(encode),
			foldMicros: us(fold),
			wireBytesPerFlush: Math.round(wireBytes / rounds),
		}),
	);
}

bench(51200, 100, 20000);
bench(51200, 4096, 5000);
bench(51200, 25000, 2000);
