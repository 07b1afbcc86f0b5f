// The first thing that a compiled binary loads. What it goes on with is bundled apart, at the paths that `scripts/build.ts`
// gives: the process of a sync then loads nothing of the service.
import { dirname, join } from "node:path"
import { syncArgument } from "./BinaryArguments.ts"

const program = process.argv[2] === syncArgument ? "runner/git/SyncMain.js" : "dist/build/Service.js"

void import(join(dirname(Bun.main), program))
