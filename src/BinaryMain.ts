// The first thing that a compiled binary loads. The rest is bundled separately, at the paths in `scripts/build.ts`, so that the
// process of a sync or of a client loads nothing of the service.
import { dirname, join } from "node:path"
import { confineArgument, syncArgument } from "./BinaryArguments.ts"
import { isClientCommand } from "./cli/ClientCommandNames.ts"

const isSync = process.argv[2] === syncArgument
const programs = new Map([
  [syncArgument, "runner/git/SyncMain.js"],
  [confineArgument, "runner/sandbox/confinement/ConfineMain.js"]
])
const program =
  programs.get(process.argv[2] ?? "") ??
  (isClientCommand(process.argv.slice(2)) ? "src/ClientMain.js" : "dist/build/Service.js")

// Binaries start with lazy compilation, see `scripts/build.ts`. A sync unpacks and hashes from its first moment.
if (isSync) Bun.unsafe.setJITPolicy(1)

void import(join(dirname(Bun.main), program))
