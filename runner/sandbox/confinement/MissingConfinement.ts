// Runs instead of `ConfineMain` if Bun is not available, and reports that.
import { exit, stderr } from "node:process"
import { confinementFailed } from "./ConfinementSpec.ts"

stderr.write(
  "Without bubblewrap, programs of a Run are started through Bun: install the npm package 'bun' together with this package, or bubblewrap.\n"
)
exit(confinementFailed)
