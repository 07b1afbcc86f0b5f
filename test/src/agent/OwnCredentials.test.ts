import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect } from "bun:test"
import { ConfigProvider, Effect, Layer, Redacted } from "effect"
import { ProvidedCredentials } from "../../../runner/execution/ProvidedCredentials.ts"
import type { SandboxLevel } from "../../../schema/records/Run.ts"
import { ownCredentials } from "../../../src/agent/OwnCredentials.ts"
import { it } from "../../support/Effect.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import { sandboxAt } from "./support/SandboxAt.ts"

const secret = "own-credential-canary-77"

/** Reads an agent's credentials from this description; `secret` is the file `<folder>/secret`. */
const having = Effect.fnUntraced(function* (describe: (folder: string) => unknown, level: SandboxLevel = "landlock") {
  const folder = yield* temporaryFolder
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "secret"), `${secret}\n`)
  writeFileSync(join(folder, "empty"), "\n")
  const file = join(folder, "credentials.json")
  const text = describe(folder)
  writeFileSync(file, typeof text === "string" ? text : JSON.stringify(text))
  const own = ProvidedCredentials.pipe(
    Effect.provide(Layer.provide(ownCredentials(folder), sandboxAt(level))),
    Effect.provideService(
      ConfigProvider.ConfigProvider,
      ConfigProvider.fromEnv({ env: { SVC_AGENT_CREDENTIALS: file } })
    )
  )
  return { folder, own }
})

/** Writes the files that enrolment leaves in an agent's folder. */
const enrolIn = (folder: string, pool: string) => {
  const key = "k".repeat(43)
  const agentId = "agt_01000000000000000000000000"
  const identity = {
    version: 1,
    server: "https://svc.test",
    serverKeys: { sign: key, seal: key },
    installationId: "one"
  }
  writeFileSync(join(folder, "agent.json"), JSON.stringify({ ...identity, agentId, pool }))
}

describe("Agent credentials", () => {
  it.live(
    "an agent rereads its credentials for each Run, strips a trailing newline, and announces only complete sets",
    () =>
      Effect.gen(function* () {
        const { folder, own } = yield* having((at) => ({
          cloud: {
            env: { DEMO_TOKEN: { file: join(at, "secret") }, DEMO_HOME: { variable: "HOME" } },
            files: [{ name: "key.json", path: join(at, "secret"), envName: "DEMO_KEY_FILE" }],
            publicNames: ["DEMO_HOME"]
          },
          absent: { env: { DEMO_TOKEN: { file: join(at, "not-there") } } },
          blank: { env: { DEMO_TOKEN: { file: join(at, "empty") } } },
          unset: { env: { DEMO_TOKEN: { variable: "THERE_IS_NO_SUCH_VARIABLE" } } }
        }))
        const credentials = yield* own
        expect(yield* credentials.names).toEqual(["cloud"])
        const { files, publicNames, values } = yield* credentials.read("cloud")
        expect(publicNames).toEqual(["DEMO_HOME"])
        const token = values["DEMO_TOKEN"]
        expect(token === undefined ? undefined : Redacted.value(token)).toBe(secret)
        expect(files).toMatchObject([{ name: "key.json", envName: "DEMO_KEY_FILE" }])
        for (const [name, why] of [
          ["absent", "cannot be read"],
          ["blank", "is empty"],
          ["unset", "is empty"],
          ["other", "has no credentials other"]
        ] as const) {
          expect((yield* Effect.flip(credentials.read(name))).message).toContain(why)
        }
        writeFileSync(join(folder, "secret"), "replaced-credential")
        const replaced = (yield* credentials.read("cloud")).values["DEMO_TOKEN"]
        expect(replaced === undefined ? undefined : Redacted.value(replaced)).toBe("replaced-credential")
      })
  )

  it.live("the mark of an enrolled agent's credentials depends on their values and labels", () =>
    Effect.gen(function* () {
      const { folder, own } = yield* having((at) => {
        const env = { DEMO_TOKEN: { file: join(at, "secret") } }
        return { cloud: { env }, other: { env }, labelled: { env, label: "blue" } }
      })
      const credentials = yield* own
      expect(yield* credentials.marks).toEqual([])
      enrolIn(folder, "far")
      const marks = Effect.map(credentials.marks, (all) =>
        Object.fromEntries(all.map(({ mark, name }) => [name, mark]))
      )
      const first = yield* marks
      expect(Object.keys(first)).toEqual(["cloud", "other", "labelled"])
      // The same values under a different name get a different mark.
      expect(new Set(Object.values(first)).size).toBe(3)
      expect((yield* credentials.read("cloud")).mark).toBe(first["cloud"])
      writeFileSync(join(folder, "secret"), "replaced-credential")
      const second = yield* marks
      expect(second["cloud"]).not.toBe(first["cloud"])
      expect(second["labelled"]).toBe(first["labelled"])
      // The mark does not change while the file is being replaced.
      writeFileSync(join(folder, "secret"), "")
      expect(yield* marks).toEqual(second)
      writeFileSync(join(folder, "secret"), `${secret}\n`)
      expect(yield* marks).toEqual(first)
      // The same values in another pool get a different mark.
      enrolIn(folder, "near")
      expect((yield* marks)["cloud"]).not.toBe(first["cloud"])
    })
  )

  it.live("an agent passes its credentials to an unisolated Run only if its operator allows it", () =>
    Effect.gen(function* () {
      const { own } = yield* having((folder) => {
        const env = { DEMO_TOKEN: { file: join(folder, "secret") }, DEMO_HOME: { variable: "HOME" } }
        return { cloud: { env }, trusted: { env, withoutIsolation: true }, not: { env, withoutIsolation: false } }
      }, "process")
      const credentials = yield* own
      expect(yield* credentials.described).toEqual(["cloud", "trusted", "not"])
      expect(yield* credentials.names).toEqual(["trusted"])
      expect(Object.keys((yield* credentials.read("trusted")).values)).toEqual(["DEMO_TOKEN", "DEMO_HOME"])
      const refused = yield* Effect.flip(credentials.read("cloud"))
      expect(refused.message).toContain("without isolation")
      expect(refused.message).not.toContain(secret)
    })
  )

  it.live(
    "an agent refuses to start if its credentials could enter the plan file or if their description is invalid",
    () =>
      Effect.gen(function* () {
        for (const [described, why] of [
          [{ cloud: { env: { TF_VAR_token: { file: "/x" } } } }, "is an input of the module"],
          [{ cloud: { env: { PATH: { file: "/x" } } } }, "reserved"],
          [{ cloud: { env: { A_B: { file: "secret" } } } }, "absolute"],
          [{ cloud: { env: { A_B: { value: secret } } } }, "holds no values itself"],
          [{ cloud: { env: { A_B: secret } } }, "holds no values itself"],
          [{ cloud: { files: [{ name: "../x", path: "/x" }] } }, "file name"],
          [{ cloud: { files: [{ name: "x", path: "x" }] } }, "absolute"],
          [{ cloud: { env: { A_B: { file: "/x" } }, files: [{ name: "x", path: "/x", envName: "A_B" }] } }, "twice"],
          [{ cloud: { env: { A_B: { file: "/x" } }, label: "two words" } }, "not valid"],
          [{ cloud: { env: { A_B: { file: "/x" } }, label: "x".repeat(33) } }, "not valid"],
          [{ cloud: {} }, "contains no variable"],
          [{ Cloud: { env: { A_B: { file: "/x" } } } }, "not valid"],
          ["{", "not valid"]
        ] as const) {
          const { own } = yield* having(() => described)
          const refused = yield* Effect.flip(own)
          expect(refused.message).toContain(why)
          expect(refused.message).not.toContain(secret)
        }
      })
  )
})
