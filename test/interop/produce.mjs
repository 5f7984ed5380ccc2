// Random streams from the package's own producer: a tracker whose state is changed
// in the ways JavaScript programmers change objects.
import { isDeepStrictEqual } from "node:util";
import { apply, decoder, encoder, track } from "@earendil-works/chord/delta";

// mulberry32: 32 bits of state are enough to print and replay.
function random(seed) {
	let state = seed >>> 0;
	return (below) => {
		state = (state + 0x6d2b79f5) >>> 0;
		let t = Math.imul(state ^ (state >>> 15), state | 1);
		t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
		return ((t ^ (t >>> 14)) >>> 0) % below;
	};
}

const keys = ["a", "b", "text", "items", "0", "1", "", "length", "odd key", "ключ", "😀"];
const runes = [..."aab \n\t\"\\\u001b\u007fé€\u2028\uFFFD😀𝄞"];

export function produce({ seed, batches }) {
	const below = random(seed);
	const pick = (from) => from[below(from.length)];
	const text = (max) => Array.from({ length: below(max + 1) }, () => pick(runes)).join("");
	const value = (depth) => {
		switch (below(depth > 0 ? 8 : 6)) {
			case 0:
				return null;
			case 1:
				return below(2) === 0;
			case 2:
				return below(1000) - 500;
			case 3:
				return (below(1e9) / 1e9) * 10 ** (below(60) - 30);
			case 4:
			case 5:
				return text(12);
			case 6:
				return Array.from({ length: below(5) }, () => value(depth - 1));
			default:
				return object(depth);
		}
	};
	const object = (depth) => Object.fromEntries(Array.from({ length: below(5) }, () => [pick(keys), value(depth - 1)]));

	// Changes something inside container, or descends.
	function mutate(container) {
		const inside = Array.isArray(container) ? [...container.keys()] : Object.keys(container);
		const at = inside.length > 0 ? pick(inside) : undefined;
		if (at !== undefined && below(4) > 0 && typeof container[at] === "object" && container[at] !== null) {
			return mutate(container[at]);
		}
		if (at !== undefined && typeof container[at] === "string" && below(4) > 0) {
			return edit(container, at);
		}
		if (Array.isArray(container)) return mutateArray(container);
		const key = pick(keys);
		if (below(3) === 0) delete container[key];
		else container[key] = value(3);
	}

	function edit(container, at) {
		const characters = [...container[at]];
		const rest = characters.slice(below(characters.length + 1)).join("");
		if (below(2) === 0) container[at] += text(8);
		else container[at] = rest + text(8);
	}

	function mutateArray(array) {
		switch (below(12)) {
			case 0:
				return array.push(value(2), value(1));
			case 1:
				return array.pop();
			case 2:
				return array.shift();
			case 3:
				return array.unshift(value(2));
			case 4:
				return array.splice(below(array.length + 1), below(3), value(2));
			case 5:
				return array.splice(-1, 1);
			case 6:
				return array.reverse();
			case 7:
				return array.sort();
			case 8:
				array.length = below(array.length + 3);
				return;
			case 9:
				return array.fill(value(0), below(array.length + 1));
			case 10:
				// Only of scalars: this and fill() would put one object at several
				// indices, and the tracker loses sight of such objects.
				if (array.some((v) => typeof v === "object")) return;
				return array.copyWithin(0, below(array.length + 1));
			default:
				array[below(array.length + 1)] = value(2);
		}
	}

	const tracker = track({ text: text(30), items: [value(2), value(2)], a: value(3), b: { text: text(9) } });
	const enc = encoder();
	const dec = decoder();
	let replica;
	const wires = [];
	const values = [];
	for (let i = 0; i < batches; i++) {
		for (let n = below(6); n > 0; n--) mutate(tracker.state);
		if (below(12) === 0) tracker.rebase();
		if (below(40) === 0) tracker.state = { text: text(30), items: [value(2)] };
		wires.push(JSON.stringify(enc.encode(tracker.flush())));
		// A stream is of use only if the package itself can follow it.
		replica = apply(replica, dec.decode(JSON.parse(wires.at(-1))));
		if (!isDeepStrictEqual(replica, tracker.target)) throw new Error(`seed ${seed}: replica and tracker differ`);
		values.push(JSON.stringify(replica));
	}
	return { wires, values };
}
