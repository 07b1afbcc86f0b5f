import { readFileSync } from "node:fs"
import { describe, expect } from "bun:test"
import { DateTime, Effect, Redacted } from "effect"
import { AccessTokens } from "../../actors/access/account/AccessTokens.ts"
import { serviceContext } from "../../schema/commands/Command.ts"
import { platform } from "../../src/composition/Platform.ts"
import { it } from "../support/Effect.ts"
import { servedPerson } from "../src/support/ServedPerson.ts"

// Documents that consist of consecutive requests to one server, each with its response.
const documents = ["automation-members", "approvals", "invitations"] as const

const requestsOf = (document: string): ReadonlyArray<string> => {
  const text = readFileSync(new URL(`../../docs/${document}.md`, import.meta.url), "utf8")
  return [...text.matchAll(/^```sh\n(.*?)^```$/gms)]
    .flatMap(([, block = ""]) => block.split(/\n(?=curl )/))
    .filter((command) => command.startsWith("curl "))
}

const needed = ["bash", "curl"].filter((program) => Bun.which(program) === null)

const run = (command: string, env: Readonly<Record<string, string>>) =>
  Effect.promise(async () => {
    const { exited, stdout } = Bun.spawn(["bash", "-c", command], {
      env: { PATH: process.env["PATH"], ...env },
      stderr: "inherit"
    })
    const text = await new Response(stdout).text()
    return { code: await exited, answer: JSON.parse(text) }
  })

describe.skipIf(needed.length > 0 && process.env["SVC_TEST_REQUIRE_ALL"] !== "1").each([...documents])(
  "Requests of docs/%s.md",
  (document) => {
    it.live(
      "the curl examples receive the documented responses",
      () =>
        Effect.gen(function* () {
          const { cookie, services, subject, url } = yield* servedPerson
          const { secret } = yield* (yield* Effect.provide(AccessTokens, services)).create(serviceContext, subject, {
            name: "documents",
            scopes: ["read", "write"]
          })
          const token = Redacted.value(secret)
          const { workspace } = yield* Effect.promise(() =>
            fetch(`${url}/api/v1/workspaces`, {
              method: "POST",
              headers: {
                authorization: `Bearer ${token}`,
                "content-type": "application/json",
                "idempotency-key": "one"
              },
              body: JSON.stringify({ handle: "acme", displayName: "Acme" })
            }).then((response) => response.json())
          )
          const env: Record<string, string> = {
            SVC: url,
            TOKEN: token,
            SESSION: cookie.replace("svc_session=", ""),
            WORKSPACE: workspace.id,
            RUN: "run_aaaaaaaaaaaaaaaaaaaaaaaa"
          }
          const inAMonth = DateTime.formatIso(DateTime.add(yield* DateTime.now, { days: 30 }))
          const requests = requestsOf(document)
          expect(requests.length).toBeGreaterThan(0)
          for (const request of requests) {
            const { answer, code } = yield* run(
              request.replaceAll("usr_...", subject).replace(/(?<="expiresAt": ")[^"]+/, inAMonth),
              env
            )
            // No Run exists here, so well-formed requests for a Run get a not-found response.
            const expected = request.includes("$RUN") ? "not_found" : undefined
            expect([request, code, answer.error?.code]).toEqual([request, 0, expected])
            env["SUBJECT"] = answer.member?.subject ?? env["SUBJECT"] ?? ""
          }
        }).pipe(Effect.scoped, Effect.provide(platform)),
      60_000
    )
  }
)
