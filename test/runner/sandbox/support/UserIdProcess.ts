// Claims user ids in the given folder, prints the first id, and runs until it is killed.
import { Effect } from "effect"
import { takeUserIds } from "../../../../runner/sandbox/levels/UserIdRange.ts"
import { defaultSandboxSettings } from "../../../../runner/sandbox/SandboxSettings.ts"

await Effect.runPromise(
  takeUserIds(defaultSandboxSettings.userIds, process.argv[2]).pipe(
    Effect.andThen((range) => Effect.sync(() => process.stdout.write(`${range?.first}\n`))),
    Effect.andThen(Effect.never),
    Effect.scoped
  )
)
