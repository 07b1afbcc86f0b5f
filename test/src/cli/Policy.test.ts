import { describe, expect } from "bun:test"
import { Effect, FileSystem, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { OperatorConfigs } from "../../../actors/ledger/configuration/OperatorConfigs.ts"
import { operatorPolicy, PolicyInForce } from "../../../src/composition/OperatorPolicy.ts"
import { loadSettings } from "../../../src/settings/Settings.ts"
import { serve } from "../operator/support/Server.ts"
import { folder, live, svc } from "./support/CommandLine.ts"

const policy = (region: string) =>
  JSON.stringify({
    profiles: { strict: { isolation: "landlock" } },
    baseConfigs: [{ origin: "https://git.example.com", profile: "strict", variables: { region } }]
  })

describe("Policy commands", () => {
  live(
    "svc policy check validates the whole file, reports the location of each fault, and exits with 1 if the file is invalid",
    () =>
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        const at = yield* folder
        yield* files.writeFileString(`${at}/good.json`, policy("eu-1"))
        const bad = {
          profiles: { "opentofu-default": {} },
          baseConfigs: [{ origin: "https://git.example.com", profile: "absent" }]
        }
        yield* files.writeFileString(`${at}/bad.json`, JSON.stringify(bad))
        const [good, plain, refused, told, none, help] = yield* Effect.all([
          svc(["policy", "check", `${at}/good.json`, "--json"]),
          svc(["policy", "check", `${at}/good.json`]),
          svc(["policy", "check", `${at}/bad.json`, "--json"]),
          svc(["policy", "check", `${at}/bad.json`]),
          svc(["policy", "check", `${at}/none.json`]),
          svc(["policy", "check", "--help"])
        ])
        expect(good.code).toBe(0)
        expect(JSON.parse(good.out)).toEqual({
          status: "valid",
          profiles: ["strict"],
          baseConfigs: 1,
          endpoints: 0,
          prices: 0
        })
        expect(plain.out).toContain("1 profile (strict), 1 base configuration, 0 endpoints")
        expect(refused.code).toBe(1)
        expect(JSON.parse(refused.out).faults.map(({ path }: { path: string }) => path)).toEqual([
          "/profiles/opentofu-default",
          "/baseConfigs/0/profile"
        ])
        expect(told.out).toContain("/baseConfigs/0/profile: The file defines no profile absent")
        expect([none.code, none.out]).toEqual([2, ""])
        expect(help.out).toContain("svc policy check /etc/svc/policy.json")
      })
  )

  live("a policy file rejects a number that would be rounded, and reports its position, but accepts a string", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const at = yield* folder
      const check = Effect.fnUntraced(function* (limit: string) {
        const whole = policy("eu-1").replace('"eu-1"', limit)
        yield* files.writeFileString(`${at}/policy.json`, whole)
        const { code, out } = yield* svc(["policy", "check", `${at}/policy.json`, "--json"])
        return [code, out.includes("Line 1, column"), out.includes(limit)]
      })
      for (const limit of ["9007199254740993", "12345678901234.123456", "1e-400", '[0,{"a":-9223372036854775807}]']) {
        expect([limit, ...(yield* check(limit))]).toEqual([limit, 1, true, false])
      }
      for (const limit of ['"9007199254740993"', "9007199254740991", "0.1", "1e2"]) {
        expect([limit, ...(yield* check(limit))]).toEqual([limit, 0, false, false])
      }
    })
  )

  live("the policy file shown in the documentation is valid", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const at = yield* folder
      const page = yield* files.readFileString(new URL("../../../docs/operations/policy.md", import.meta.url).pathname)
      const [, example = ""] = /# The policy file[^]*?```json\n([^]*?)```/.exec(page) ?? []
      yield* files.writeFileString(`${at}/policy.json`, example)
      const { code, out } = yield* svc(["policy", "check", `${at}/policy.json`])
      expect([code, out.includes("1 profile (untrusted), 1 base configuration")]).toEqual([0, true])
    })
  )

  live("the running server reloads either the whole policy file or nothing, and records the reload", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const at = yield* folder
      const policyFile = `${at}/policy.json`
      const dataDir = `${at}/data`
      yield* files.writeFileString(policyFile, policy("eu-1"))
      const reload = svc(["admin", "reload", "--data-dir", dataDir, "--json"])
      const nobody = yield* reload
      expect([nobody.code, nobody.error.includes("No server has the data folder")]).toEqual([1, true])

      const server = yield* serve(dataDir, new Map([["policyFile", policyFile]]))
      const sql = Effect.provide(SqlClient.SqlClient, server.services)
      const same = yield* reload
      expect([same.error, JSON.parse(same.out).changed]).toEqual(["", []])
      yield* files.writeFileString(policyFile, policy("eu-2"))
      const done = JSON.parse((yield* reload).out)
      expect(done).toMatchObject({ changed: ["baseConfigs"], supersededPlans: 0 })
      yield* files.writeFileString(policyFile, "{}}")
      const refused = yield* reload
      expect([refused.code, refused.out]).toEqual([6, ""])
      expect(refused.error).toContain("is not valid")
      const events = yield* Effect.flatMap(
        sql,
        (query) => query<{ target_id: string; data: string }>`SELECT target_id, data FROM audit_events
          WHERE action = 'operator.command' ORDER BY rowid`
      )
      expect(events.map(({ data }) => JSON.parse(data).changed)).toEqual([[], ["baseConfigs"]])
      expect(events[1]?.target_id).toBe(done.digest)
      expect(JSON.stringify(events)).not.toContain("eu-2")
    })
  )

  live("a policy file takes effect only after a reload", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const policyFile = `${yield* folder}/policy.json`
      yield* files.writeFileString(policyFile, policy("eu-1"))
      const settings = yield* loadSettings(new Map([["policyFile", policyFile]]), Option.none())
      yield* Effect.gen(function* () {
        // Obtains the service once, like a long-lived layer, to test that a reload reaches an existing service.
        const configs = yield* OperatorConfigs
        const region = () => configs.baseConfigs[0]?.variables?.["region"]
        yield* files.writeFileString(policyFile, policy("eu-2"))
        const { apply, undo } = (yield* (yield* PolicyInForce).reload) ?? (yield* Effect.die("no policy file"))
        expect(region()).toBe("eu-1")
        yield* apply
        expect(region()).toBe("eu-2")
        yield* undo
        expect(region()).toBe("eu-1")
      }).pipe(Effect.provide(Layer.fresh(operatorPolicy(settings))))
    })
  )
})
