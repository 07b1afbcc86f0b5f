import { join } from "node:path"
import { Effect, Stream } from "effect"
import type { Level, LevelHost } from "../levels/Level.ts"
import { probeConditions } from "../RunConditions.ts"
import { systemPath } from "../SandboxView.ts"
import { probeFolder } from "../ProbeFolder.ts"
import type { NetworkEntry } from "./NetworkNamespace.ts"

/** Starts a program at a level in a private network. Returns the problem, if any. */
export const probeNetwork = (host: LevelHost, level: Level) =>
  Effect.fnUntraced(
    function* (entry: NetworkEntry) {
      const folder = yield* probeFolder(host.ownFolder, "network")
      const box = yield* level.open(
        { root: join(folder, "root"), readOnly: [] },
        { ...probeConditions(host.limits), network: Effect.succeed(entry) }
      )
      const child = yield* box.spawn({ argv: ["true"], cwd: ".", environment: { PATH: systemPath }, network: true })
      const [said] = yield* Effect.all(
        [Stream.mkString(Stream.decodeText(child.stderr)), Stream.runDrain(child.stdout)],
        { concurrency: 2 }
      )
      const end = yield* child.end
      if (end._tag === "exited" && end.code === 0) return undefined
      return said.trim().split("\n").at(-1) || "a program in it did not end as it should"
    },
    Effect.scoped,
    Effect.timeout("10 seconds"),
    Effect.catch((error) => Effect.succeed(error._tag === "TimeoutError" ? "it did not answer" : error.message))
  )
