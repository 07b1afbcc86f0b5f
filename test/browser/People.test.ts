import { NodeServices } from "@effect/platform-node"
import { describe, expect } from "bun:test"
import { Clock, Effect } from "effect"
import { codeOf } from "../../actors/access/account/SecondFactors.ts"
import { it } from "../support/Effect.ts"
import { step } from "./support/KeyboardPerson.ts"
import { peopleAtOnce } from "./support/PeopleAtOnce.ts"

const stepMillis = 30_000

const asked = (origin: string, token: string) =>
  step(() => fetch(`${origin}/api/v1/workspaces`, { headers: { authorization: `Bearer ${token}` } })).pipe(
    Effect.map(({ status }) => status)
  )

describe.each([
  ["en", "ja"],
  ["ja", "en"]
] as const)("Two people at once, the first in %s and the second in %s", (first, second) => {
  it.live(
    "people decline, withdraw and accept invitations, hand over a Workspace, and leave it",
    () =>
      Effect.gen(function* () {
        const { confirmedLongAgo, faults, network, open, setupLink } = yield* peopleAtOnce()
        const [mina, ken] = yield* Effect.all([open(first), open(second)])
        const handle = yield* mina.setUp(setupLink)
        yield* ken.decline(yield* mina.invite(handle))
        yield* mina.seesDeclined(handle)
        const withdrawn = yield* mina.invite(handle)
        yield* mina.withdraw
        yield* ken.isRefused(withdrawn)
        yield* ken.join(yield* mina.invite(handle))

        yield* mina.addAutomation(handle, "deploys")
        const token = yield* mina.makeToken("deploys", "pipeline")
        expect(yield* asked(network.origin, token)).toBe(200)
        yield* mina.removeAutomation("deploys", "pipeline")
        expect(yield* asked(network.origin, token)).toBe(401)

        yield* ken.settings(handle)
        yield* mina.settings(handle)
        yield* mina.cannotLeave
        yield* confirmedLongAgo
        yield* mina.handOver("Ken")
        yield* ken.ownsAfterReload
        yield* mina.leave
        yield* ken.seesRemoved("Mina")
        expect(faults()).toEqual([[], []])
      }).pipe(Effect.provide(NodeServices.layer)),
    240_000
  )

  it.live(
    "people turn on a second factor, sign in with it elsewhere, and sign out their other devices",
    () =>
      Effect.gen(function* () {
        const { faults, open, setupLink } = yield* peopleAtOnce()
        const [here, there, elsewhere] = yield* Effect.all([open(first), open(second), open(second)])
        yield* here.setUp(setupLink)
        yield* here.rename("!")
        const present = Math.floor((yield* Clock.currentTimeMillis) / stepMillis)
        const { codes, key } = yield* here.turnOnFactor(present)
        const [recovery = ""] = codes
        // The code that activated the second factor cannot be used again. The server already accepts the next code.
        yield* there.signIn("mina@acme.example", codeOf(key, present + 1), codeOf(key, present))
        yield* elsewhere.signIn("mina@acme.example", recovery)
        yield* here.seesCodesLeft(codes.length - 1)
        yield* here.signOutOthers(2)
        yield* Effect.all([there.isSignedOut, elsewhere.isSignedOut])
        yield* elsewhere.signIn("mina@acme.example", codes[1] ?? "", recovery)
        expect(faults()).toEqual([[], [], []])
      }).pipe(Effect.provide(NodeServices.layer)),
    240_000
  )
})
