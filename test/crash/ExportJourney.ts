import { gunzipSync } from "node:zlib"
import { Effect, Schema } from "effect"
import { Cookies, FetchHttpClient, HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { CapsuleExport } from "../../schema/records/CapsuleExport.ts"
import { demoAccount } from "../../src/cli/demo/DemoSession.ts"
import { Broken, holds } from "./CrashClient.ts"
import { canaries } from "./CrashWorld.ts"
import type { Traveller } from "./Traveller.ts"

const decodeGranted = Schema.decodeUnknownEffect(Schema.Struct({ export: CapsuleExport }))

type Response = HttpClientResponse.HttpClientResponse

/** Acts as a person in a browser, who signs in once and repeats every request that a crash interrupts. */
export const browser = Effect.fnUntraced(function* ({ client }: Traveller) {
  const http = yield* HttpClient.HttpClient
  let cookie = ""
  const send = <A, E>(
    method: "GET" | "POST",
    path: string,
    body: Schema.Json | undefined,
    read: (response: Response) => Effect.Effect<A, E>
  ) =>
    Effect.gen(function* () {
      const answer = yield* client.ask(({ url }) =>
        Effect.gen(function* () {
          const asked = HttpClientRequest.make(method)(`${url}${path}`).pipe(
            HttpClientRequest.setHeaders({ origin: url, ...(cookie === "" ? {} : { cookie }) })
          )
          const response = yield* http.execute(
            body === undefined ? asked : HttpClientRequest.bodyJsonUnsafe(asked, body)
          )
          return response.status < 300
            ? { received: yield* read(response) }
            : { refused: `${method} was answered ${response.status}: ${yield* response.text}` }
        })
      )
      return "received" in answer ? answer.received : yield* new Broken({ message: answer.refused })
    })
  cookie = yield* send("POST", "/auth/sign-in", demoAccount, ({ cookies }) =>
    Effect.succeed(Cookies.toCookieHeader(cookies))
  )
  return send
})

/** As an owner, exports the Capsule and downloads the archive. A crash may interrupt either step. */
export const exportJourney = Effect.fn("exportJourney")(function* (traveller: Traveller, capsuleId: string) {
  const { acknowledged, client } = traveller
  const { capsule } = yield* client.call(({ capsules }) => capsules.read({ params: { capsuleId } }))
  const send = yield* browser(traveller)
  const exported = Effect.gen(function* () {
    const granted = yield* send(
      "POST",
      `/api/v1/capsules/${capsuleId}/exports`,
      { confirm: capsule.name },
      ({ json }) => json
    )
    const { fileName, inputsToSupply, link } = (yield* decodeGranted(granted)).export
    acknowledged.exports.granted += 1
    yield* holds(inputsToSupply.join() === "secret", `The export leaves out ${inputsToSupply.join()}`)
    const archive = yield* send("GET", link, undefined, ({ arrayBuffer }) => arrayBuffer)
    acknowledged.exports.downloaded += 1
    return { archive, fileName }
  })
  // A download that a crash interrupted has consumed its link.
  const { archive, fileName } = yield* Effect.retry(exported, {
    times: 1,
    while: ({ message }) => message.includes("was answered 409")
  })
  const text = gunzipSync(archive).toString("latin1")
  for (const name of ["README.md", "module/main.tf", "module/terraform.tfstate", "module/terraform.tfvars.json"])
    yield* holds(text.includes(`${fileName.replace(".tar.gz", "")}/${name}`), `${name} is missing in ${fileName}`)
  yield* holds(!text.includes(canaries.credential), "A credential is in the export")
}, Effect.provide(FetchHttpClient.layer))
