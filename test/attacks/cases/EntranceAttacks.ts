import { Effect, Schema } from "effect"
import { mostDeliveryBytes } from "../../../src/http/SourceHooks.ts"
import { holds } from "../../crash/CrashClient.ts"
import type { Attack } from "../Attack.ts"
import { flood, fromAnywhere, sent, signatureOf, trickled } from "../Sent.ts"
import type { Target } from "../Target.ts"

const Operation = Schema.Struct({
  security: Schema.optionalKey(Schema.Array(Schema.Record(Schema.String, Schema.Json))),
  requestBody: Schema.optionalKey(Schema.Struct({ content: Schema.Record(Schema.String, Schema.Json) }))
})
const Described = Schema.fromJsonString(
  Schema.Struct({ paths: Schema.Record(Schema.String, Schema.Record(Schema.String, Operation)) })
)

const hookPath = "/hooks/sources/{sourceId}"

/** Returns the routes that read a body without authentication, according to the API description. */
const entrances = ({ url }: Target) =>
  Effect.promise(async () => (await fetch(`${url}/openapi.json`)).text()).pipe(
    Effect.flatMap(Schema.decodeEffect(Described)),
    Effect.map(({ paths }) =>
      Object.entries(paths).flatMap(([path, { post }]) => {
        const type = Object.keys(post?.requestBody?.content ?? {})[0]
        const isOpen = (post?.security ?? []).every((scheme) => Object.keys(scheme).length === 0)
        return post === undefined || type === undefined || !isOpen || path === hookPath ? [] : [{ path, type }]
      })
    )
  )

const mebibyte = 1024 * 1024
const bodies = [
  "[".repeat(mebibyte),
  `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`,
  `[${"1,".repeat(mebibyte / 2 - 2)}1]`,
  `{${Array.from({ length: 60_000 }, (_, index) => `"k${index}":1`).join(",")}}`,
  `{"email":"${"\\u0061".repeat(100_000)}"}`,
  "a=%41&".repeat(mebibyte / 6),
  "[".repeat(64_000),
  `{"email":"${"a".repeat(60_000)}"}`
]

const atEach = (target: Target, one: (entrance: { readonly path: string; readonly type: string }) => RequestInit) =>
  Effect.map(entrances(target), (all) =>
    all.map((entrance) => () => {
      const { headers, ...rest } = one(entrance)
      return sent(`${target.url}${entrance.path}`, {
        method: "POST",
        headers: { "content-type": entrance.type, origin: target.url, ...headers },
        ...rest
      })
    })
  )

const entranceFloods: ReadonlyArray<Attack> = [
  {
    name: "entrances: deep, wide and long bodies",
    run: Effect.fnUntraced(function* (target, isShort) {
      const rounds = isShort ? 1 : 10
      let attempts = 0
      for (let round = 0; round < rounds; round += 1) {
        for (const body of bodies) {
          const requests = yield* atEach(target, () => ({ body }))
          const answers = yield* flood(requests.length, 10, (index) => requests[index]?.() ?? Effect.succeed(0))
          yield* holds(!answers.has(500), "A request failed unexpectedly")
          attempts += requests.length
        }
      }
      return attempts
    })
  },
  {
    name: "entrances: 1,000 small bodies at once",
    run: Effect.fnUntraced(function* (target, isShort) {
      const requests = yield* atEach(target, ({ type }) => ({ body: type === "application/json" ? "{}" : "a=b" }))
      const times = isShort ? 1000 : 20_000
      yield* flood(times, 1000, (index) => requests[index % requests.length]?.() ?? Effect.succeed(0))
      return times
    })
  },
  {
    name: "entrances: bodies that trickle",
    run: Effect.fnUntraced(function* (target, isShort) {
      const all = yield* entrances(target)
      const each = Math.ceil((isShort ? 200 : 1000) / all.length)
      const counts = yield* Effect.forEach(
        all,
        ({ path, type }) =>
          trickled({
            url: target.url,
            path,
            headers: { "content-type": type, origin: target.url },
            count: each,
            seconds: isShort ? 1 : 40
          }),
        { concurrency: "unbounded" }
      )
      return counts.reduce((sum, count) => sum + count, 0)
    })
  },
  {
    name: "sign-in: wrong passwords from many addresses",
    run: Effect.fnUntraced(function* (target, isShort) {
      const times = isShort ? 60 : 1000
      const answers = yield* flood(times, 50, (index) =>
        sent(`${target.url}/auth/sign-in`, {
          method: "POST",
          headers: { "content-type": "application/json", origin: target.url },
          body: JSON.stringify({ email: `person${index % 97}@example.com`, password: `wrong-${index}` })
        })
      )
      yield* holds(!answers.has(200), "Somebody was signed in")
      return times
    })
  }
]

const hookUrl = ({ attacked, url }: Target) => `${url}/hooks/sources/${attacked.id}`
const json = { "content-type": "application/json" }

const deliveryFloods: ReadonlyArray<Attack> = [
  {
    name: "webhooks: forged deliveries of 25 MiB",
    run: Effect.fnUntraced(function* (target, isShort) {
      const body = "[".repeat(mostDeliveryBytes)
      const times = isShort ? 16 : 160
      const answers = yield* flood(times, 16, () =>
        sent(hookUrl(target), {
          method: "POST",
          body,
          headers: { ...json, "x-hub-signature-256": `sha256=${"0".repeat(64)}` }
        })
      )
      yield* holds(!answers.has(202) && !answers.has(200), "A forged delivery was accepted")
      return times
    })
  },
  {
    name: "webhooks: 1,000 forged deliveries at once",
    run: Effect.fnUntraced(function* (target, isShort) {
      const times = isShort ? 1000 : 20_000
      const answers = yield* flood(times, 1000, (index) =>
        sent(hookUrl(target), {
          method: "POST",
          body: "{}",
          headers: { ...json, "x-hub-signature-256": signatureOf(`guess-${index}`, "{}") }
        })
      )
      yield* holds(!answers.has(202) && !answers.has(200), "A forged delivery was accepted")
      return times
    })
  },
  {
    name: "webhooks: a true delivery, replayed",
    run: Effect.fnUntraced(function* (target, isShort) {
      const times = isShort ? 300 : 5000
      const headers = {
        ...json,
        "x-hub-signature-256": signatureOf(target.attacked.secret, "{}"),
        "x-github-delivery": "replayed"
      }
      yield* flood(times, 50, () => sent(hookUrl(target), { method: "POST", body: "{}", headers }))
      return times
    })
  },
  {
    name: "webhooks: deliveries that trickle",
    run: (target, isShort) =>
      trickled({
        url: target.url,
        path: `/hooks/sources/${target.attacked.id}`,
        headers: { ...json, ...fromAnywhere() },
        count: isShort ? 100 : 500,
        seconds: isShort ? 1 : 40
      })
  }
]

export const entranceAttacks: ReadonlyArray<Attack> = [...entranceFloods, ...deliveryFloods]
