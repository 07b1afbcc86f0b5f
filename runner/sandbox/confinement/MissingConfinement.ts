// Started in place of `ConfineMain` when Bun isn't available.
import { exit, stderr } from "node:process"
import { confinementFailed } from "./ConfinementSpec.ts"

stderr.write(
  "Without bubblewrap, programs of a Run are started through Bun: install the npm package 'bun' beside this one, or bubblewrap.\n"
)
exit(confinementFailed)
