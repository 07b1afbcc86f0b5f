import { Clock, Effect, Layer } from "effect"
import { AccessTokens } from "../../actors/access/account/AccessTokens.ts"
import { Accounts } from "../../actors/access/account/Accounts.ts"
import { Users } from "../../actors/access/account/Users.ts"
import { serviceContext } from "../../schema/commands/Command.ts"
import { testAccounts } from "../support/Accounts.ts"
import { type Figure, median, processorMillis } from "./support/Figures.ts"

const rounds = 9
const perRound = 2000
const millisPerNano = 1e-6

/**
 * Measures what a personal token costs per request: the checks of its form and digest, one read, and the recording of its
 * use.
 */
export const tokenCheck = Effect.gen(function* () {
  const users = yield* Users
  const tokens = yield* AccessTokens
  const accounts = yield* Accounts
  const { subject } = yield* users.create(serviceContext, { email: "bench@example.com", isOperator: false })
  const { secret } = yield* tokens.create(serviceContext, subject, { name: "bench", scopes: ["read"] })
  const round = Effect.gen(function* () {
    const started = yield* Clock.currentTimeNanos
    for (let n = 0; n < perRound; n++) yield* accounts.authenticateBearer(secret)
    return (Number((yield* Clock.currentTimeNanos) - started) * millisPerNano) / perRound
  })
  // Warm-up rounds are not measured. Afterwards all code is compiled and cached.
  yield* round
  const millis: Array<number> = []
  const before = yield* processorMillis
  for (let n = 0; n < rounds; n++) millis.push(yield* round)
  const processor = ((yield* processorMillis) - before) / (rounds * perRound)
  const figure: Figure = {
    name: "check of a personal token, per request",
    figure: median(millis),
    unit: "ms",
    target: { atMost: 0.06 },
    detail: `${(median(millis) * 1000).toFixed(0)} µs, processor time ${(processor * 1000).toFixed(0)} µs`
  }
  return [figure]
}).pipe(Effect.provide(Layer.fresh(testAccounts)), Effect.scoped)
