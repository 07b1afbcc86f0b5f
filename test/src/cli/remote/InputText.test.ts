import { expect } from "bun:test"
import { ConfigProvider, Effect, FileSystem, Option } from "effect"
import { installRequest } from "../../../../src/cli/install/InstallRequest.ts"
import { folder, live, svc } from "../support/CommandLine.ts"

const rounded = ["9007199254740993", "12345678901234.123456", "-9223372036854775807", "1e-400"]
const exact = ['"9007199254740993"', "9007199254740991", "0.1", "1e2"]
const within = (value: string) => `{"a":[{"b":"9223372036854775807"},${value}]}`

/** No server is configured, so a request that the program does not refuse beforehand fails with another error. */
const nobody = ConfigProvider.layer(ConfigProvider.fromEnvRecord({ HOME: "/nowhere", SVC_TOKEN: "given" }))

live("`svc api --input` rejects a file with a number that would be rounded, and sends nothing", () =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const file = `${yield* folder}/input.json`
    const sent = Effect.fnUntraced(function* (value: string) {
      yield* files.writeFileString(file, within(value))
      const args = ["api", "POST", "workspaces", "--server", "http://127.0.0.1:1", "--input"]
      const ended = [yield* svc([...args, file]), yield* svc([...args, "-"], within(value))]
      return ended.map(({ code, error }) => [code, error.includes("string of its digits"), error.includes(value)])
    }, Effect.provide(nobody))
    for (const value of rounded) {
      const refused = [2, true, false]
      expect([value, yield* sent(value)]).toEqual([value, [refused, refused]])
    }
    for (const value of exact) {
      expect([value, (yield* sent(value)).map(([, isRefused]) => isRefused)]).toEqual([value, [false, false]])
    }
  })
)

live("`svc install --var-file` rejects a file with a number that would be rounded, and sends exact values", () =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const file = `${yield* folder}/values.json`
    const request = Effect.fnUntraced(function* (value: string) {
      yield* files.writeFileString(file, within(value))
      return yield* installRequest("https://git.example.com/infra.git", {
        ref: "HEAD",
        module: ".",
        name: "network",
        environment: "production",
        variables: Option.some(file),
        connections: []
      })
    })
    for (const value of rounded) {
      const { message } = yield* Effect.flip(request(value))
      expect([value, message]).toEqual([value, expect.stringContaining("string of its digits")])
      expect(message).not.toContain(value)
    }
    for (const value of exact) {
      expect<unknown>((yield* request(value)).variables).toEqual(JSON.parse(within(value)))
    }
  })
)
