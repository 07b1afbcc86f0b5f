import { Effect } from "effect"
import { holds } from "../../crash/CrashClient.ts"
import { judged } from "../support/History.ts"
import { nextMigration, nextRelease } from "../support/NextRelease.ts"
import { anotherWorld } from "../support/NodesWorld.ts"
import { answered, appliesAgain, planned, succeeds } from "../support/Progress.ts"
import { writer } from "../support/Writer.ts"
import type { NodesCase } from "./NodesCase.ts"

/**
 * Shows that the servers of a release and of its next minor release work on one database at the same time: the next release migrates
 * the tables under the servers of the present one, people write and an agent applies meanwhile, a server of the present release dies
 * and starts again on the new tables, and an upgrade can be taken back server by server.
 *
 * Does not show that two real releases differ only in additions: the next release is a build of the present sources with the next
 * version and one more migration, which adds columns, an index and a table. `test/upgrade` compares the tables of real releases.
 */
const twoReleases: NodesCase = {
  name: "every node is upgraded to the next release while people write and an agent applies, and back",
  isShort: false,
  run: Effect.fnUntraced(function* (shared, label) {
    const next = yield* shared.options.next
    const world = yield* anotherWorld(shared, label)
    const [one, two, three] = world.nodes
    if (one === undefined || two === undefined || three === undefined) {
      return yield* Effect.die(new Error("There are too few nodes"))
    }
    const releases = Effect.map(
      world.query("SELECT release FROM nodes WHERE gone_at IS NULL ORDER BY incarnation"),
      (rows) => rows.map(({ release }) => release)
    )
    const [present] = yield* releases
    const writes = yield* writer(world)
    const { planRunId } = yield* planned(world, `${label}-a`)
    yield* world.hold(`${label}-a-b`)
    const applyId = yield* world.applied(planRunId)
    yield* world.held(`${label}-a-b`)
    writes.longestGap()
    yield* one.replaced(next)
    const [row] = yield* world.query("SELECT MAX(migration_id) AS newest FROM svc_migrations")
    yield* holds(row?.["newest"] === nextMigration, `The tables have version ${row?.["newest"]}`)
    const mixed = yield* releases
    yield* holds(
      String(mixed.toSorted()) === String([present, present, nextRelease].toSorted()),
      `The servers have the releases ${mixed.join(", ")}`
    )
    // A server of the present release restarts on the tables of the next one.
    yield* two.signal("SIGKILL")
    yield* planned(world, `${label}-b`)
    yield* two.serving
    yield* two.replaced(next)
    yield* appliesAgain(world, `${label}-c`)
    yield* three.replaced(next)
    yield* answered(writes)
    yield* world.letGo(`${label}-a-b`)
    yield* succeeds(world, applyId)
    yield* one.replaced(world.options.server)
    yield* appliesAgain(world, `${label}-d`)
    yield* answered(writes)
    yield* judged(world, [writes])
  })
}

export const upgradeCases: ReadonlyArray<NodesCase> = [twoReleases]
