import { stdin, stdout } from "node:process"
import { createInterface } from "node:readline"
import { Effect, Option, Schema } from "effect"
import { killProcessesOfRun } from "../../execution/OrphanedProcesses.ts"
import { bootSeconds } from "../BootClock.ts"
import { GuardLineText } from "./GuardProtocol.ts"

// The process that enforces an agent's leases: it kills a tool before its lease ends, even if the agent is dead or
// suspended. It receives run folders and deadlines, and has no connection to a server. The agent sends new deadlines through
// a pipe, which closes when the agent exits.

const betweenLooks = "100 millis"

const decode = Schema.decodeUnknownOption(GuardLineText)

const program = Effect.gen(function* () {
  const deadlines = new Map<string, number>()
  let isOver = false
  const lines = createInterface({ input: stdin })
  lines.on("line", (text) => {
    const line = Option.getOrUndefined(decode(text))
    if (line === undefined) return
    if (line.say === "release") deadlines.delete(line.folder)
    else deadlines.set(line.folder, line.killAtBoot)
    // Confirm the deadline to the agent, which waits for the confirmation before it starts the tool.
    stdout.write(`${line.say} ${line.folder}\n`)
  })
  lines.on("close", () => {
    isOver = true
  })
  // Ignore signals to the process group. Only the agent handles them, because it may have to stop an apply first.
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => undefined)
  stdout.on("error", () => undefined)

  for (;;) {
    const now = bootSeconds()
    const due = [...deadlines].filter(([, killAtBoot]) => isOver || now >= killAtBoot)
    // Keep a killed folder in the list, so that the next round kills any process that was just starting.
    yield* Effect.forEach(due, ([folder]) => killProcessesOfRun(folder), { concurrency: "unbounded", discard: true })
    if (isOver) return
    yield* Effect.sleep(betweenLooks)
  }
})

void Effect.runPromise(program).then(() => process.exit(0))
