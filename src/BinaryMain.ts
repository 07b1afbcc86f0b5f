// The first module that a compiled binary loads. The other modules are bundled separately, at the paths given in
// `scripts/build.ts`, so that a process for a sync or a client command loads none of the server's code.
import { dirname, join } from "node:path"
import { confineArgument, guardArgument, syncArgument } from "./BinaryArguments.ts"
import { commandFirst, isAgentCommand, isClientCommand } from "./cli/ClientCommandNames.ts"

const isSync = process.argv[2] === syncArgument
const programs = new Map([
  [syncArgument, "runner/git/SyncMain.js"],
  [confineArgument, "runner/sandbox/confinement/ConfineMain.js"],
  [guardArgument, "runner/agent/guard/GuardMain.js"]
])
const args = commandFirst(process.argv.slice(2))
const ofCommand = isClientCommand(args)
  ? "src/ClientMain.js"
  : isAgentCommand(args)
    ? "src/AgentBinaryMain.js"
    : "dist/build/Service.js"
const program = programs.get(process.argv[2] ?? "") ?? ofCommand

// Turns off the lazy compilation that speeds up the startup of binaries (see `scripts/build.ts`), because a sync hashes and
// unpacks a lot of data and needs compiled code.
if (isSync) Bun.unsafe.setJITPolicy(1)

void import(join(dirname(Bun.main), program))
