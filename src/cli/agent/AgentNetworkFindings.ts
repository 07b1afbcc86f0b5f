import { Config, Effect, FileSystem, Option, Schema } from "effect"
import { HttpClient } from "effect/http"
import { agentRpcPath } from "../../../schema/agent/Blob.ts"
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

/** Returns the address of a proxy without the password, or `undefined` if the text is not an address. */
const proxyAddress = (text: string): string | undefined => {
  if (!URL.canParse(text)) return undefined
  const { host, protocol } = new URL(text)
  return /^https?:$/.test(protocol) && host !== "" ? `${protocol}//${host}` : undefined
}

const proxyFinding = Effect.gen(function* () {
  const proxy = yield* variable("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy")
  const exceptions = yield* variable("NO_PROXY", "no_proxy")
  const address = proxy === undefined ? undefined : proxyAddress(proxy)
  if (proxy !== undefined && address === undefined) {
    const broken: AnyFinding = {
      check: "proxy",
      status: "error",
      message: "The proxy variable does not contain a proxy address.",
      remedy: "Set HTTPS_PROXY to an address such as http://proxy.example.com:3128, or remove it."
    }
    return broken
  }
  const finding: AnyFinding = {
    check: "proxy",
    status: "ok",
    message:
      address === undefined
        ? "None: the server is reached directly."
        : `${address}${exceptions === undefined ? "" : `, except for ${exceptions}`}.`
  }
  return finding
})

const authorityFinding = Effect.gen(function* () {
  const file = yield* variable("NODE_EXTRA_CA_CERTS")
  if (file === undefined) {
    const finding: AnyFinding = {
      check: "ca",
      status: "ok",
      message: "Only public certificate authorities are trusted."
    }
    return finding
  }
  const files = yield* FileSystem.FileSystem
  const content = yield* Effect.option(files.readFileString(file))
  const wrong = Option.match(content, {
    onNone: () => "which cannot be read",
    onSome: (text) =>
      text.includes("-----BEGIN CERTIFICATE-----") ? undefined : "which contains no certificate in PEM format"
  })
  const finding: AnyFinding =
    wrong === undefined
      ? { check: "ca", status: "ok", message: `Those of ${file} are trusted too.` }
      : {
          check: "ca",
          status: "error",
          message: `NODE_EXTRA_CA_CERTS names ${file}, ${wrong}.`,
          remedy: "Correct the variable, or remove it."
        }
  return finding
})

const anyAgent = Schema.decodeUnknownSync(AgentId)("agt_00000000000000000000000000")
const longestAnswer = "10 seconds"

const notFound = 404

/** Returns the HTTP status of the server's response to an agent message. */
const statusOf = Effect.fnUntraced(function* (server: string) {
  const client = yield* HttpClient.HttpClient
  const { status } = yield* Effect.timeout(client.post(`${server}${agentRpcPath}`), longestAnswer)
  return status
})

/** Checks whether the server responds like a server that supports agents. A refusal is accepted as a response. */
const addressFinding = (server: string) =>
  Effect.gen(function* () {
    const calls = yield* agentCalls(server, (request) => request)
    const problem = yield* Effect.flip(Effect.timeout(calls.Challenge({ agentId: anyAgent }), longestAnswer)).pipe(
      Effect.option
    )
    if (Option.isNone(problem) || !["RpcClientError", "TimeoutError"].includes(problem.value._tag)) {
      const finding: AnyFinding = { check: "address", status: "ok", message: `${server} responds to agents.` }
      return finding
    }
    // Query the status separately: the RPC client cannot read a response that does not follow the protocol, and its error
    // message does not include the status.
    const status = problem.value._tag === "RpcClientError" ? yield* Effect.option(statusOf(server)) : Option.none()
    const finding: AnyFinding = Option.contains(status, notFound)
      ? {
          check: "address",
          status: "error",
          message: `${server} responds, but has no agents: if it is svc, it has no pool yet, or is of a release without agents.`,
          remedy: "Check the address and the proxy, and create a pool on the control plane: svc admin pool create NAME."
        }
      : {
          check: "address",
          status: "error",
          message: `${server} does not answer to agents. ${problem.value.message}`,
          remedy: "Check the address, the proxy, and whether this release of the server has agents."
        }
    return finding
  }).pipe(Effect.scoped)

const millisecondsInSecond = 1000
/**
 * Largest clock difference, in seconds, that does no harm. Cloud APIs refuse requests if the time in their signature is
 * minutes in the past or in the future.
 */
const harmlessOffset = 60

/**
 * Compares the agent's clock with the server's. svc does not depend on the agent's clock, but the tools in its Runs call other
 * services.
 */
const clockFinding = (server: string) =>
  Effect.gen(function* () {
    const client = yield* HttpClient.HttpClient
    const response = yield* Effect.timeout(client.head(server), longestAnswer)
    const at = Date.parse(response.headers["date"] ?? "")
    const offset = Math.round((Date.now() - at) / millisecondsInSecond)
    if (Number.isNaN(at)) {
      const finding: AnyFinding = { check: "clock", status: "ok", message: "The server does not say its time." }
      return finding
    }
    const message = `${Math.abs(offset)} s ${offset < 0 ? "behind" : "ahead of"} the server.`
    const finding: AnyFinding =
      Math.abs(offset) <= harmlessOffset
        ? { check: "clock", status: "ok", message }
        : {
            check: "clock",
            status: "warning",
            message: `${message} Leases do not depend on it, but cloud APIs refuse requests that are signed with such a time.`,
            remedy: "Set the clock by NTP."
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
