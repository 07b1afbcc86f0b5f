import { Context, Effect, Layer, Schema } from "effect"
import { OperatorConfigs, type OperatorConfigsShape } from "../../../actors/ledger/configuration/OperatorConfigs.ts"
import { ExecutionProfiles } from "../../../schema/policy/ExecutionProfile.ts"
import { OperatorBaseConfig } from "../../../schema/policy/OperatorBaseConfig.ts"
import { TestPlane, testPlane, type TestPlaneOptions } from "../../support/TestPlane.ts"

/** The service's policy, which tests may change at any time, and a web server whose responses the tests choose. */
export class Operator extends Context.Service<
  Operator,
  {
    readonly set: (policy: {
      readonly profiles?: Readonly<Record<string, unknown>>
      readonly baseConfigs?: ReadonlyArray<Readonly<Record<string, unknown>>>
    }) => Effect.Effect<void>
    /** Scheme, host and port of the service's Git server. */
    readonly gitOrigin: string
    readonly site: string
    readonly answers: {
      status: number
      body: string
      location?: string
      asked: Array<{ readonly path: string; readonly headers: ReadonlyArray<string> }>
    }
  }
>()("test/actors/support/Operator") {}

const decodeProfiles = Schema.decodeUnknownEffect(ExecutionProfiles)
const decodeBases = Schema.decodeUnknownEffect(Schema.Array(OperatorBaseConfig))

const answering = Effect.acquireRelease(
  Effect.sync(() => {
    const answers: Operator["Service"]["answers"] = { status: 200, body: "ready", asked: [] }
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: (request) => {
        answers.asked.push({ path: new URL(request.url).pathname, headers: Array.from(request.headers.keys()) })
        const headers = answers.location === undefined ? {} : { location: answers.location }
        return new Response(answers.body, { status: answers.status, headers })
      }
    })
    return { answers, server }
  }),
  ({ server }) => Effect.promise(() => server.stop(true))
)

/** The actors with the real tool, a changeable operator policy, and a site that post-apply checks may call. */
export const operatorPlaneWith = (options: TestPlaneOptions) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { answers, server } = yield* answering
      const site = `http://127.0.0.1:${server.port}`
      const inForce: { -readonly [Field in keyof OperatorConfigsShape]: OperatorConfigsShape[Field] } = {
        profiles: {},
        baseConfigs: [],
        loadedAt: "2026-01-01T00:00:00.000Z"
      }
      const operator = Layer.effect(
        Operator,
        Effect.map(TestPlane, ({ url }) => ({
          answers,
          site,
          gitOrigin: new URL(url).origin,
          set: ({ baseConfigs = [], profiles = {} }) =>
            Effect.gen(function* () {
              const next = {
                profiles: yield* decodeProfiles(profiles),
                baseConfigs: yield* decodeBases(baseConfigs)
              }
              Object.assign(inForce, next)
            }).pipe(Effect.orDie)
        }))
      )
      return operator.pipe(
        Layer.provideMerge(testPlane({ ...options, gitOrigins: [site] })),
        Layer.provide(Layer.succeed(OperatorConfigs, inForce))
      )
    })
  )

export const operatorPlane = operatorPlaneWith({})
