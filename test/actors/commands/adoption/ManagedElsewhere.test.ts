import { afterAll, expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { ManagedElsewhere } from "../../../../actors/commands/adoption/ManagedElsewhere.ts"
import { readBacklog } from "../../../../actors/ledger/state/StateBacklog.ts"
import { suite } from "../../../support/Effect.ts"
import {
  committed,
  emptyCapsules,
  first,
  indexServices,
  resource,
  second,
  stateText,
  unread,
  workspaceId
} from "../../ledger/state/support/IndexedCapsule.ts"

const tests = suite(ManagedElsewhere.layer.pipe(Layer.provideMerge(indexServices)))
afterAll(tests.dispose)

const secret = "vpc-0123456789"
const object = (id: string) => ({ address: `aws_vpc.${id}`, id, type: "aws_vpc", provider: "hashicorp/aws" })
const asked = [object("vpc-new"), object(secret), object("vpc-gone"), { ...object(secret), type: "aws_subnet" }]

/** Maps each requested object to the Capsule that already manages it. */
const found = Effect.gen(function* () {
  const elsewhere = yield* ManagedElsewhere
  const twice = yield* elsewhere.find(workspaceId, asked, yield* elsewhere.unindexed(workspaceId))
  return twice?.map(({ address, capsule }) => [address, capsule.id])
})

/**
 * The first Capsule manages a resource whose id is a secret, and previously managed `vpc-gone`. The second Capsule manages
 * neither of these resources.
 */
const world = Effect.gen(function* () {
  yield* emptyCapsules
  yield* committed(1, stateText([resource("aws_vpc.old", { id: "vpc-gone" })]))
  yield* committed(2, stateText([resource("aws_vpc.a", { id: secret }, { sensitive: ["id"] })]))
  yield* committed(1, stateText([resource("aws_vpc.b", { id: "vpc-other" })]), { capsuleId: second })
})

tests.live("the index lists a Capsule's managed resources, so svc opens no state to find them", () =>
  Effect.gen(function* () {
    yield* world
    const sql = yield* SqlClient.SqlClient
    yield* sql`UPDATE state_versions SET state = 'damaged'`
    expect(yield* found).toEqual([[`aws_vpc.${secret}`, first]])
    yield* sql`UPDATE capsules SET status = 'destroyed' WHERE id = ${first}`
    expect(yield* found).toEqual([])
    yield* sql`UPDATE capsules SET status = 'active' WHERE id = ${first}`
  })
)

tests.live("states that are not yet indexed are opened to find their managed resources", () =>
  Effect.gen(function* () {
    yield* world
    yield* unread
    expect(yield* found).toEqual([[`aws_vpc.${secret}`, first]])
    yield* readBacklog
    expect(yield* found).toEqual([[`aws_vpc.${secret}`, first]])
  })
)
