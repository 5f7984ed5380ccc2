// Folds what `execctl run --json` prints, as a consumer in JavaScript would, and
// prints the view at the end and the result.
import { createInterface } from "node:readline";
import { apply, decoder } from "@earendil-works/chord/delta";

const dec = decoder();
let view;
let result;
let batches = 0;
for await (const line of createInterface({ input: process.stdin })) {
	const message = JSON.parse(line);
	if (message.type === "batch") {
		view = apply(view, dec.decode(message.ops));
		batches++;
	} else if (message.type === "result") {
		result = message;
	}
}
console.log(JSON.stringify({ view, result, batches }));
