import { setDefaultTimeout } from "bun:test"
import { configureGlobal } from "fast-check"

setDefaultTimeout(120_000)

// A change is always judged by the same examples, so that red means the change. `SVC_TEST_SEED=random` searches for new
// ones, and a failure is reproduced with the seed it printed.
const seed = process.env["SVC_TEST_SEED"] ?? "20261121"
configureGlobal(seed === "random" ? {} : { seed: Number(seed) })
