// The first file loaded by this suite's compiled server. The rest is bundled separately; see `ServerBinary.ts`.
import { dirname, join } from "node:path"
import { confineArgument, syncArgument } from "../../../src/BinaryArguments.ts"

const programs = new Map([
  [syncArgument, "runner/git/SyncMain.js"],
  [confineArgument, "runner/sandbox/confinement/ConfineMain.js"]
])
const program = programs.get(process.argv[2] ?? "") ?? "test/crash/service/Main.js"

void import(join(dirname(Bun.main), program))
