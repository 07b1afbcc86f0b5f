// The first thing that the compiled server of this suite loads; the rest is bundled apart, see `ServerBinary.ts`.
import { dirname, join } from "node:path"
import { syncArgument } from "../../../src/BinaryArguments.ts"

const program = process.argv[2] === syncArgument ? "runner/git/SyncMain.js" : "test/crash/service/Main.js"

void import(join(dirname(Bun.main), program))
