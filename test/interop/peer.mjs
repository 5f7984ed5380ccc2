// The JavaScript side of the tests: answers one line of JSON on stdin with one on
// stdout. Requests name a function of `answers` and carry its argument.
import { createInterface } from "node:readline";
import { apply, applyImmutable, decoder, encoder, track } from "@earendil-works/chord/delta";
import { produce } from "./produce.mjs";

const answers = {
	// Folds a stream of batches, given as text, the mutable way and the other, and
	// encodes each again with an encoder of its own.
	fold({ wires }) {
		const dec = decoder();
		const enc = encoder();
		let value;
		let frozen;
		const values = [];
		const encoded = [];
		for (const wire of wires) {
			const ops = dec.decode(JSON.parse(wire));
			encoded.push(JSON.stringify(enc.encode(ops)));
			frozen = applyImmutable(frozen, structuredClone(ops));
			value = apply(value, ops);
			if (JSON.stringify(value) !== JSON.stringify(frozen)) throw new Error("apply and applyImmutable differ");
			values.push(JSON.stringify(value));
		}
		return { values, encoded };
	},

	// Folds the events of a harness, a line each, as a consumer would: the output of each call, by
	// its ID.
	lane({ lines }) {
		const calls = {};
		for (const line of lines) {
			const event = JSON.parse(line);
			if (event.type === "tool_start") calls[event.toolCallId] = { decoder: decoder() };
			if (event.type !== "tool_update") continue;
			const call = calls[event.toolCallId];
			call.output = apply(call.output, call.decoder.decode(event.ops));
		}
		return { outputs: Object.fromEntries(Object.entries(calls).map(([id, call]) => [id, JSON.stringify(call.output)])) };
	},

	// Says what becomes of a document when batches arrive, the last of which may be
	// refused.
	refuse({ doc, wires }) {
		const dec = decoder();
		let value = doc;
		try {
			for (const wire of wires) value = apply(value, dec.decode(JSON.parse(wire)));
		} catch (error) {
			return { error: `${error.name}: ${error.message}` };
		}
		return { value: value === undefined ? null : value };
	},

	// A stream of a text that loses half of a surrogate pair.
	splitPair() {
		const tracker = track({ text: "😀 and more than a few characters" });
		const enc = encoder();
		const flush = () => JSON.stringify(enc.encode(tracker.flush()));
		const wires = [flush()];
		tracker.state.text = tracker.state.text.slice(1);
		tracker.rebase();
		wires.push(flush());
		return { wires };
	},

	produce,
};

for await (const line of createInterface({ input: process.stdin })) {
	const { ask, ...argument } = JSON.parse(line);
	let answer;
	try {
		answer = answers[ask](argument);
	} catch (error) {
		answer = { failure: `${error.stack}` };
	}
	process.stdout.write(`${JSON.stringify(answer)}\n`);
}
