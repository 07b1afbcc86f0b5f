import { afterAll, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { suite } from "../../support/Effect.ts"
import { type Route, routes } from "./support/RouteRequests.ts"
import { ownersCredential, servedWorld } from "./support/ServedWorld.ts"
import { decidedElsewhere, races } from "./CommandRaces.ts"
import { send } from "./support/TestApplication.ts"
import { world } from "./support/World.ts"

setDefaultTimeout(60_000)

const { interruptedRequest, served } = servedWorld()
const tests = suite(served)
afterAll(tests.dispose)

const ids: Readonly<Record<string, string>> = { ...world, workspaceId: world.workspaceA, subject: world.viewer }
const addressOf = ({ path }: Route) => path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? name)
const changes = routes.filter(({ method }) => method !== "GET")

const run = Effect.fnUntraced(function* (statements: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  for (const statement of statements) yield* sql.unsafe(statement)
}, Effect.orDie)

tests.live("every mutating route has a race test, or a reason for having no race test", () =>
  Effect.sync(() => {
    expect([...races.keys(), ...decidedElsewhere.keys()].toSorted()).toEqual(changes.map(({ name }) => name).toSorted())
  })
)

for (const route of changes) {
  const race = races.get(route.name)
  if (race === undefined) continue
  tests.live(`the command ${route.name} uses data committed just before its transaction`, () =>
    Effect.gen(function* () {
      const credential = (yield* ownersCredential)(route)
      yield* run(race.given)
      const guard = yield* Effect.flatMap(
        send(`/api/v1/capsules/${world.capsuleId}`, { headers: credential }),
        (response) => Effect.promise(() => response.text())
      )
      const body = race.body?.(/ag1\.[\w-]+/.exec(guard)?.[0] ?? "")
      const asked = send(addressOf(route), {
        method: route.method,
        headers: {
          ...credential,
          "idempotency-key": `command-races-${route.name}`,
          ...(body === undefined ? {} : { "content-type": "application/json" })
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
      const [response, happened] = yield* interruptedRequest(asked, run([race.change]))
      const text = yield* Effect.promise(() => response.text())
      yield* run(race.undo)
      expect([happened, response.status >= 400, text]).toEqual([true, true, expect.stringContaining(race.refusal)])
    })
  )
}
