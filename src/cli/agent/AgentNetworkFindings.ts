import { existsSync } from "node:fs"
import { Config, Effect, Option, Schema } from "effect"
import { HttpClient } from "effect/http"
import { AgentId } from "../../../schema/records/Ids.ts"
import { agentCalls } from "../../agent/AgentSession.ts"
import type { AnyFinding } from "../doctor/DoctorReport.ts"

const variable = (...names: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    for (const name of names) {
      const value = yield* Config.option(Config.NonEmptyString(name)).pipe(Effect.orElseSucceed(() => Option.none()))
      if (Option.isSome(value)) return value.value
    }
    return undefined
  })

/** A proxy may be given with a password. */
const withoutCredentials = (text: string): string => {
  if (!URL.canParse(text)) return "a text that is not a URL"
  const { host, protocol } = new URL(text)
  return `${protocol}//${host}`
}

const proxyFinding = Effect.gen(function* () {
  const proxy = yield* variable("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy")
  const exceptions = yield* variable("NO_PROXY", "no_proxy")
  const finding: AnyFinding = {
    check: "proxy",
    status: "ok",
    message:
      proxy === undefined
        ? "None: the server is reached directly."
        : `${withoutCredentials(proxy)}${exceptions === undefined ? "" : `, except for ${exceptions}`}.`
  }
  return finding
})

const authorityFinding = Effect.gen(function* () {
  const file = yield* variable("NODE_EXTRA_CA_CERTS")
  const finding: AnyFinding =
    file === undefined
      ? { check: "ca", status: "ok", message: "Only public certificate authorities are trusted." }
      : existsSync(file)
        ? { check: "ca", status: "ok", message: `Those of ${file} are trusted too.` }
        : {
            check: "ca",
            status: "error",
            message: `NODE_EXTRA_CA_CERTS names ${file}, which is not there.`,
            remedy: "Correct the variable, or remove it."
          }
  return finding
})

const anyAgent = Schema.decodeUnknownSync(AgentId)("agt_00000000000000000000000000")
const longestAnswer = "10 seconds"

/** Whether the server answers as one with agents. Any refusal of its own is an answer. */
const addressFinding = (server: string) =>
  Effect.gen(function* () {
    const calls = yield* agentCalls(server, (request) => request)
    const problem = yield* Effect.flip(Effect.timeout(calls.Challenge({ agentId: anyAgent }), longestAnswer)).pipe(
      Effect.option
    )
    const isAnswer = Option.isNone(problem) || !["RpcClientError", "TimeoutError"].includes(problem.value._tag)
    const finding: AnyFinding = isAnswer
      ? { check: "address", status: "ok", message: `${server} answers to agents.` }
      : {
          check: "address",
          status: "error",
          message: `${server} does not answer to agents. ${Option.match(problem, { onNone: () => "", onSome: ({ message }) => message })}`,
          remedy: "Check the address, the proxy, and whether this release of the server has agents."
        }
    return finding
  }).pipe(Effect.scoped)

const millisecondsInSecond = 1000

/** For information: no wall clock of an agent decides anything. */
const clockFinding = (server: string) =>
  Effect.gen(function* () {
    const client = yield* HttpClient.HttpClient
    const response = yield* Effect.timeout(client.head(server), longestAnswer)
    const at = Date.parse(response.headers["date"] ?? "")
    const offset = Math.round((Date.now() - at) / millisecondsInSecond)
    const finding: AnyFinding = {
      check: "clock",
      status: "ok",
      message: Number.isNaN(at)
        ? "The server does not say its time."
        : `${Math.abs(offset)} s ${offset < 0 ? "behind" : "before"} the server; only what is shown depends on it.`
    }
    return finding
  }).pipe(
    Effect.orElseSucceed(
      (): AnyFinding => ({ check: "clock", status: "warning", message: "The server could not be asked for its time." })
    )
  )

export const networkFindings = Effect.fnUntraced(function* (server: string | undefined) {
  const here = [yield* proxyFinding, yield* authorityFinding]
  if (server === undefined) {
    const finding: AnyFinding = {
      check: "address",
      status: "error",
      message: "It is not said which server.",
      remedy: "Give --server https://svc.example.com, or SVC_AGENT_SERVER."
    }
    return [finding, ...here]
  }
  return [yield* addressFinding(server), ...here, yield* clockFinding(server)]
})
