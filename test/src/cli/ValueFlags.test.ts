import { describe, expect } from "bun:test"
import { ConfigProvider, Effect } from "effect"
import { live, svc } from "./support/CommandLine.ts"

/** An unreachable server. If a command did not check a value before the request, it would fail with a different error. */
const nobody = ConfigProvider.layer(
  ConfigProvider.fromEnvRecord({ HOME: "/nonexistent", SVC_TOKEN: "svcp_nobody", SVC_URL: "http://127.0.0.1:1" })
)

const bad = [
  ["run list --limit 0", 'Invalid value for flag --limit: "0". Expected: a whole number from 1 on'],
  ["logs network --after -1", "--after"],
  ["rollback network --generation 0", "--generation"],
  ["activity list --limit -3", "--limit"],
  ["activity list --since yesterday", "--since"],
  ["activity list --since 2027-02-30", "--since"],
  ["token create ci --expires-at 30", "--expires-at"],
  ["token create ci --expires-at 2020-01-31", "a time to come"],
  ["connection create a --provider hashicorp/aws --expires-at 2027-13-01", "--expires-at"],
  ["connection create a --provider bad\u00a0provider", "--provider"],
  ["connection create a --provider a/b/c/d", "--provider"],
  ["plan network --wait-timeout 5x", "--wait-timeout"],
  ["plan network --wait-timeout 0m", "--wait-timeout"]
] as const

const good = [
  "run list --limit 1",
  "activity list --since 7d --until 2027-01-31",
  "token create ci --expires-at 30d",
  "token create ci --expires-at 2999-01-31",
  "token create ci --expires-at 2999-01-31T09:30:00+02:00",
  "connection create a --provider hashicorp/aws --expires-at 2w",
  "connection create a --provider registry.example.com:8443/acme/demo",
  "connection create a --provider git.example.com",
  "plan network --wait-timeout 1d"
]

describe("a value", () => {
  live(
    "the command line rejects an invalid flag value with exit code 2 before sending anything, and names the flag in the error",
    () =>
      Effect.gen(function* () {
        for (const [line, flag] of bad) {
          const { code, error } = yield* svc(line.split(" "))
          expect([line, code, error]).toEqual([line, 2, expect.stringContaining(flag)])
        }
      }).pipe(Effect.provide(nobody))
  )

  live("a flag value may be a duration, a date or a time", () =>
    Effect.gen(function* () {
      const ended = yield* Effect.forEach(
        good,
        (line) => Effect.map(svc(line.split(" ")), ({ code }) => [line, code]),
        {
          concurrency: "unbounded"
        }
      )
      expect(ended).toEqual(good.map((line) => [line, 7]))
    }).pipe(Effect.provide(nobody))
  )

  live("if a file is missing, a command reports the file and the flag or argument that refers to it", () =>
    Effect.gen(function* () {
      for (const line of [
        "api POST workspaces --input /nowhere/x.json",
        "install https://git.example.com/a.git --name a --var-file /nowhere/x.json",
        "connection create a --provider hashicorp/aws --values /nowhere/x.json",
        "adopt /nowhere/x.json --source https://git.example.com/a.git --name a",
        "invite accept --link-file /nowhere/x.json"
      ]) {
        const { code, error } = yield* svc(line.split(" "))
        expect([line, code, error]).toEqual([line, 2, expect.stringContaining("There is no file")])
      }
    }).pipe(Effect.provide(nobody))
  )
})
